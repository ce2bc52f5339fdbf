// Package leases says which of several site processes on one database does what only one may do at a time.
//
// The dispatcher asks for the devices whose work it sends out. A lease is for a few seconds and by the database's own
// clock: the clocks of machines differ. It keeps work from being sent twice as much as slots can take; that no result
// counts twice does not depend on it (see work.StartAttempt), so a process that was frozen beyond its lease harms
// nothing when it goes on.
package leases
