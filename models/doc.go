// Package models is the domain: what people submit, how it is evaluated, and what is reported of it, over SQLite or
// PostgreSQL. It opens the store and decides what follows from the end of a run. Below it are packages for the parts,
// each with a doc.go:
//
//	db                              the connection, errors, names, secrets
//	accounts  catalog               people and what they may do; tasks and their versions
//	fleet                           workers, devices, and benchmarks of slots
//	submissions  likeness  review   what people submit; like sources; reasons to review a run, and validations
//	work                            the life cycle of runs and evaluations; what is counted when it ends
//	scores  samples  epochs         scores of results; the measurements that scores are made of; the software of these
//	boards  membership              rankings; who may see private ones
//	events                          contests: several tasks with one end, and standings over their boards
//	quota                           what a person may use; what admins turn off; what is stored
//	files  webhooks                 profiles, in a folder or an S3 store; which events other programs wait for
//	comments  inbox                 what people write to each other; their notices and mail
//
// A Store holds one service of each as a field (store.Boards.Board), and callers import the package that defines a
// type. Only models and its packages use gorm and SQL. Read here in this order:
//
//	store.go                        Config, Store, Open
//	consequences.go                 what follows from the end of a run; each step has its own file:
//	score_ended.go, hold.go         … which runs count together, and what holds a run back from its board
//	order.go                        … what is measured again: confirmation.go (the 1st place of a board, in turns with the next;
//	                                confirmation_turns.go selects the turns that count), rerun.go (on request), slots.go (because
//	                                software changed), order_read.go (for pages)
//	follow.go, baseline.go          … the profile after a ranked run; the site's own runs to compare with
//	event_standings.go, event_reveal.go … the standings of an event; what its freeze holds back
//	outcome.go                      … what a run means on its board, for webhooks
//	statement.go, clock.go          … what the site states about a result; whether the clocks agree
//	flag.go, moderation.go, note.go reasons to review a run, decisions about runs, a person's note on a record
//	task_list.go, sweep.go          tasks as lists show them; what is removed when it is old
//
// The web reads and submits; evaluator/dispatch starts attempts and records their results; the commands open the store.
// Tests get one from modelstest, on both databases.
//
// It promises that the consequences of a run's end are in the transaction that ends it: a reader who sees the end also
// sees its place on the board. Scores and boards can be made from samples again at any time (RebuildScores).
//
// What may go wrong: profiles are large, so they are files under the data directory, and a crash between file and row
// leaves a file without a row (sweep.go), never a row without a file. A new way to end a run, or to take one off its
// board, has to call recomputeAndConfirm for everyone whose pool it was in. Otherwise a board shows runs that no longer
// count until it is rebuilt, and an unconfirmed first.
//
// Raw SQL, where gorm has no equivalent: the union of both kinds of work with its window functions (work), upserts of
// counters (work), joins for statements (statement.go). Everything else goes through gorm's
// builder with conditions as text.
package models
