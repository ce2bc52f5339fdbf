// Package boards holds the rankings: which run counts, who is before whom, and the history.
//
// Read it in this order: rank.go (which run is an entry; only this file decides), band.go (which entries share a rank),
// board.go (a board in short), part.go (what its page shows), past.go (its state at an earlier time), record.go (the history
// of its best), best.go (the history of each person's best), summary.go (all boards of a list of tasks), placing.go (all
// boards of a person), outcome.go (what a run means), points.go (what a place counts over many boards; only this file decides), totals.go and awards.go (everyone's points), rebuild.go (everything again from the runs).
//
// The store of package models embeds Boards. Inside its transactions package models calls Enter when a run has ended
// well, and Recompute when runs were disqualified or deleted. Every page, API and feed reads what these keep.
//
// It promises that entries, records, bests and the board's row change in the transaction of the run that changes them, and
// that a board's change number grows with every visible change: by the number a page can tell whether it is old.
//
// What may go wrong: which run is valid is written three times: as ValidRun here, as work.Run.Valid (a test compares
// them), and in the index runs_valid. A change of that, or of what is apart, needs RebuildEntries, which a migration asks
// for with the setting rebuild_boards. Bands are cut around each change: the work grows with the size of a band, some
// microseconds for each of its entries.
//
// Raw SQL: the records and bests among runs (record.go, best.go), all entries at once (rebuild.go), the band of an entry (band.go).
package boards
