// Package events has contests: several tasks with one start, one end, and standings over all their boards.
//
//	event.go      Event; its list
//	save.go       an organizer makes or changes one; the deadline of its tasks is its end
//	gate.go       whether a task takes a submission now, and whether it is frozen
//	points.go     how a place on a board becomes points
//	standings.go  the standings of the boards' entries
//
// Package submissions asks Gate before it takes a submission. Package models computes the standings from the boards, and
// reveals what is frozen.
//
// While an event is frozen, a new submission to its tasks carries the event's id (submissions.frozen_event): others do not
// see it, and its valid runs are held back (runs.held_why). So boards, feeds, records, and standings stay as they were until
// the organizer reveals the results. Nothing else has to know of the freeze.
//
// It promises that all times are compared with the database's clock, which is the server's: a submission at the last
// microsecond before the end is taken, one at the end is not.
//
// What may go wrong: standings show the boards as they are. Entries from before an event count in it, and a task that is used
// again changes the standings of its earlier event. Organizers use new tasks, and export the standings.
package events
