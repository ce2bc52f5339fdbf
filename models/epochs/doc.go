// Package epochs keeps the software under which runs were measured: scores of different epochs are not compared.
//
// IDOf finds the epoch of a machine record, in the transaction of the run that carries it. Note stores which software a
// device has had, from heartbeats, and reports new software. Package boards orders entries by their epochs, the newest
// first.
//
// It promises that equal software is one epoch, and that an epoch which was first seen later has a larger number.
//
// What may go wrong: the newest epoch is the one that the site saw first most recently, not the one with the highest
// version numbers. Software that returns after another is the old epoch. Workers of one device with different software
// share its boards, and the scores of the older one are listed below.
package epochs
