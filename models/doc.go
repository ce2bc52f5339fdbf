// Package models is the domain: submissions, their evaluation, and the results that pages show, over SQLite or
// PostgreSQL. It opens the store and applies the consequences of the end of a run. Below it are packages for the parts,
// each with a doc.go:
//
//	db                              the connection, errors, names, secrets
//	accounts  catalog               people and their rights; tasks and their versions
//	fleet                           workers, devices, and benchmarks of slots
//	submissions  likeness  review   submissions; similar sources; reasons to review a run, and validations
//	work                            the queue, the life cycle of runs and evaluations, and their statistics
//	scores  samples  epochs         scores of results; measurements from which scores are made; software of measurements
//	boards  membership              rankings; members of private boards
//	events                          contests: several tasks with one end, and standings over their boards
//	quota  switches                 limits per person and stored data; parts of the site that admins turned off
//	files  webhooks                 profiles, in a folder or an S3 store; events for other programs
//	comments  inbox                 comments of people; their notices and mail
//
// A Store holds one service of each as a field (store.Boards.Board), and callers import the package that defines a
// type. Only models and its packages use gorm and SQL. Read here in this order:
//
//	store.go                            Config, Store, Open
//	consequences.go                     consequences of the end of a run; each step has its own file:
//	score_ended.go, hold.go             samples and scores of ended runs; holds, which keep runs off boards
//	order.go                            orders to measure runs again:
//	confirmation.go                     … of a board's 1st place, in turns with the next entry; confirmation_turns.go
//	                                    selects the turns that count
//	rerun.go, slots.go                  … on request, and because software changed; order_read.go reads orders for pages
//	follow.go, baseline.go              the profile after a ranked run; baselines, which the site runs for comparison
//	event_standings.go, event_reveal.go the standings of an event; revealing the results that its freeze hides
//	outcome.go                          the effect of a run on its board, for webhooks
//	statement.go, clock.go              signed statements about results; differences between the clocks of a run
//	flag.go, moderation.go, note.go     reasons to review a run, decisions about runs, a person's note on a record
//	task_list.go, sweep.go              tasks as lists show them; deletion of old data
//
// Handlers of package web read and submit, evaluator/dispatch starts attempts and records their results, and the
// commands open the store. Tests get a store from modelstest, on both databases.
//
// The consequences of a run's end are in the transaction that ends it: a reader who sees the end also sees the run's
// place on the board. RebuildScores can make scores and boards from samples again at any time.
//
// Traps: profiles are large, so they are files under the data directory, and a crash between file and row leaves a file
// without a row (sweep.go), never a row without a file. Code that ends a run in a new way, or removes one from its
// board, has to call recomputeAndConfirm for every person whose score uses the run's samples. Otherwise the board shows
// runs that no longer count until it is rebuilt, and its 1st place is not confirmed.
//
// Raw SQL, where gorm has no equivalent: the union of both kinds of work with its window functions (work), upserts of
// counters (work), joins for statements (statement.go). Everything else uses gorm's builder with conditions as text.
package models
