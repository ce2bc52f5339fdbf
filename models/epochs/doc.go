// Package epochs keeps the software under which runs were measured: scores of different epochs are not compared.
//
// Of finds the epoch of a machine record, in the transaction of the run that carries it. Note remembers which a device
// has had, from heartbeats, and tells when one is new. Package boards orders entries by their epochs, the newest first.
//
// It promises that equal software is one epoch, and that an epoch which was seen later has a larger number.
//
// What may go wrong: which epoch is newest is told by when the site first heard of it, not by version numbers. Software that
// comes back after another is the old epoch. Workers of one device with different software share its boards, and what the
// older one measures stands below.
package epochs
