// Package epochs stores the software under which runs were measured: scores of different epochs are not compared.
//
// FindOrCreateID returns the epoch of a machine record, in the transaction of its run. RecordSoftware stores the
// software of a device from heartbeats, and reports new software. Package boards orders entries by their epochs, the
// newest first.
//
// Equal software is one epoch, and an epoch that was first seen later has a larger number.
//
// Traps: the newest epoch is the one that the site first saw most recently, not the one with the highest version
// numbers. Software that returns after another is the old epoch. Workers of one device with different software share
// its boards, and the scores of the older one are listed below.
package epochs
