// Package events has contests: several tasks with one start, one end, and standings over all their boards.
//
//	event.go      Event; its list
//	save.go       an organizer makes or changes one; the deadline of its tasks is its end
//	gate.go       whether a task accepts a submission now, and whether it is frozen
//	points.go     points for a rank on a board
//	standings.go  the standings of the boards' entries
//
// Package submissions calls CheckEventOpen before it accepts a submission. Package models computes the standings from
// the boards, and reveals the frozen results.
//
// While an event is frozen, a new submission to its tasks has the event's id (submissions.frozen_event): others do not
// see it, and its valid runs are held back (runs.held_why). So boards, feeds, records, and standings do not change
// until the organizer reveals the results. No other package needs to handle the freeze.
//
// All times are compared with the database's clock, which is the server's: a submission at the last microsecond before
// the end is accepted, one at the end is not.
//
// Traps: standings show the boards as they are. Entries from before an event count in it, and a task that is used again
// changes the standings of its earlier event. Organizers should use new tasks, and export the standings.
package events
