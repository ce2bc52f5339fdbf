// Package models is the domain: what people submit, how it is worked on, and what is told of it, over SQLite or
// PostgreSQL. It opens the store and decides what follows from the end of a run. Below it are rooms that
// know less, each with a doc.go:
//
//	db                              the connection, errors, names, secrets
//	accounts  catalog               people and what they may do; tasks and their versions
//	fleet  devices                  workers; kinds of silicon
//	submissions  flags              what people submit; what asks someone to look at a run
//	work  counters                  the life cycle of runs and evaluations; what is counted when it ends
//	boards  pools  epochs           rankings; runs of equal source; the software of measurements
//	rejudge  sentinels  ledger      what is measured again; whether a unit is as it was; the chain of statements
//	budgets  switches  storage      GPU time of a day; what admins keep off; what takes room
//	files  webhooks                 profiles, in a folder or an S3 store; which events other programs wait for
//
// A Store holds one service of each as a field (store.Boards.Board), and callers import the package that defines a type.
// Nothing above models knows gorm or SQL. Read here in this order:
//
//	store.go                        Config, Store, Open
//	rules.go                        what follows from the end of a run; each step is in a file of its own:
//	pool.go, withheld.go            … which runs count together, and which not before someone has looked
//	confirmation.go                 … the first of a board is measured again, in turns with the next; confirmation_start.go: when,
//	                                confirmation_wait.go: for how long it gives way, confirmation_legs.go: what it makes of the numbers
//	rejudge.go, slots.go            … what is measured again because someone asks, or because software changed
//	follow.go, baseline.go          … the profile after a ranked run; the site's own runs to compare with
//	statement.go, clock.go          … what the site states of a result; whether the clocks agree
//	flag.go, moderation.go, note.go what asks for a look at a run, decisions about runs, what a person says of a record
//	task_list.go, sweep.go          tasks as lists show them; what is removed when it is old
//
// The web reads and submits; evaluator/dispatch starts attempts and records what comes of them; the commands open the
// store. Tests get one from modelstest, on both databases.
//
// It promises that what follows from the end of a run is in the transaction that ends it: a reader who sees the end sees its
// place on the board, too. Boards, pools and entries can be computed again from runs at any time (RebuildEntries).
//
// What may go wrong: profiles are large, so they lie as files under the data directory, and a crash between file and row
// leaves a file too much (sweep.go), never a row without one. A new way to end a run, or to take one off its board, has to
// call recomputeAndConfirm for everyone whose pool it was in, or a board shows what counts no more until it is rebuilt, and a
// first that no one measures again.
//
// Raw SQL, where gorm has no words for it: the union of both kinds of work with its window functions (work), upserts of
// counters (counters), joins for statements (statement.go). Everything else goes through gorm's
// builder with conditions as text.
package models
