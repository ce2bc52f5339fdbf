// Package review stores the reasons to review a run (review.go: reports of people, and findings of the site), and the
// answers of tasks' validation scripts about entries (validations.go: whether a kernel applies in an application).
// Package models has the reports, the review queue, the decisions, and the runs of scripts; package submissions raises
// flags for the text of a source.
//
// A flag changes nothing about its run, and of each kind and reporter there is one open flag of a run (a unique index),
// so that raising it twice is harmless. The exception is KindHeld: its run does not count while it is open
// (holdReasonSQL in package models). KindUnconfirmed requests the review of a run whose source is held back.
//
// What may go wrong: most flagged runs are honest. So a flag of KindSource is only listed while its run is on a board,
// and only people take runs off. A validation changes no rank and no score.
package review
