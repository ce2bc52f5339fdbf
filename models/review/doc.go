// Package review stores the reasons to review a run: reports of people, and findings of the site. Package models has
// the reports, the review queue and the decisions; package submissions raises flags for the text of a source.
//
// A flag changes nothing about its run, and of each kind and reporter there is one open flag of a run (a unique index),
// so that raising it twice is harmless. The exception is Held: its run does not count while it is open (heldWhy in package
// models). Unconfirmed requests the review of a run whose source is held back.
//
// What may go wrong: most flagged runs are honest. So a flag of kind Source is only listed while its run is on a board,
// and only people take runs off.
package review
