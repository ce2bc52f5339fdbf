// Package boards holds the rankings: which run counts, their order, and their history.
//
// Read it in this order: entry.go (which run is an entry; only this file decides), band.go (which entries share a
// rank), board.go (a board in short), part.go (the part on one page), past.go (its state at an earlier time), record.go
// (the history of its best), best.go (the history of each person's best), summary.go (all boards of a list of tasks),
// placing.go (all boards of a person), outcome.go (the meaning of a run), points.go (the points for a rank over many
// boards; only this file decides), totals.go and awards.go (everyone's points), rebuild.go (everything again from the
// runs).
//
// Inside its transactions, package models calls EnterRun after a successful run, and RecomputeEntries after runs were
// disqualified or deleted. Every page, API, and feed reads the resulting rows.
//
// Entries, records, bests, and the board's row change in the transaction of the run that changes them. A board's change
// number grows with every visible change, so a page can detect that it is old.
//
// The columns of a board's page:
//
//	rank             isClearlySlower decides which entries share one (band.go); the rows of bands
//	score, interval  samples.ScoreOf, or harness.Score for a single run; runs.score_ns, copied to entries
//	% of roof        scores.compareWithSlotBenchmark, and samples.combineMeasures for several samples; runs.roof, copied to entries
//	date             samples.scoreAchievedAt; runs.scored_at, copied to entries
//	week, runs       insertBestsSQL (best.go); bests
//	error, memory    work.largestErrors and peakMemory; runs
//	behind, × base   computed by package views, from the first entry and Baselines
//
// Traps: the rule for valid runs is written three times: as ValidRunSQL here, as work.Run.Valid (a test compares them),
// and in the index runs_valid. A change of that rule, or of isClearlySlower, needs RebuildEntries, which a migration
// requests with the setting rebuild_boards. Bands are recomputed around each changed entry, which takes some
// microseconds for each entry of the band.
//
// Raw SQL: the records and bests among runs (record.go, best.go), all entries at once (rebuild.go), the band of an
// entry (band.go).
package boards
