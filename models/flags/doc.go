// Package flags keeps what asks someone to look at a run: reports of people, and what the site finds itself. Package models
// has the reports, the review queue and the decisions; package submissions raises those for what a source says.
//
// A flag changes nothing about its run, and of each kind and reporter there is one open flag of a run (a unique index), so
// that raising it twice is no mistake. Held and Unconfirmed stand beside a run that does not count (its HeldWhy): the flag is only
// the note that someone has to look, and closing it does not let the run count; Store.Dismiss does both.
//
// What may go wrong: most of what the site flags is honest. That is why a flag of Source is only listed while its run is on a
// board, and why no program takes a run off.
package flags
