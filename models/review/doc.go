// Package review stores the reasons to review a run (review.go: reports of people, and findings of the site), and the
// answers of tasks' validation scripts (validations.go: an answer states whether an entry's kernel works in a real
// application). Package models has the functions for reports, the review queue, decisions, and runs of scripts; package
// submissions raises flags for the text of a source.
//
// A flag does not change its run. A run has at most one open flag per kind and reporter (a unique index), so raising a
// flag twice is harmless. The exception is KindHeld: its run does not count while it is open (holdReasonSQL in package
// models). KindUnconfirmed requests the review of a run whose source is on hold.
//
// Most flagged runs are honest. Therefore a flag of KindSource is listed only while its run is on a board, and only
// people remove runs from boards. A validation changes no rank and no score.
package review
