// Package samples computes the scores of runs from samples. Each ranked measurement of a source on a board is one
// sample. A person who submits a kernel twenty times gets the median of all processes, and not the luckiest of twenty
// medians.
//
// Read in this order: sample.go (samples, and which of them count), score.go (ScoreOf: the score of some samples,
// without a database), update.go (the samples behind the score of each run).
//
// Package models calls AddSample when a run has ended, AcceptSamples when measurements of the site begin to count,
// SetAsideReplacedSamples when a rerun replaces earlier measurements, SetAsideDeletedSamples before a submission is
// deleted, and UpdateScores before boards.EnterRun and boards.RecomputeEntries.
//
// The score in the row of a run is always ScoreOf of the samples that count, so RebuildScores can compute it again at
// any time. Samples count together if they have the same person, version, device, epoch, and source. One of the
// person's valid runs of a source represents all of them on the board, the same one as long as it is valid. All samples
// count, also those of runs that were cancelled, that failed, or that their person deleted. Exceptions are
// infrastructure errors, and runs that are disqualified, held, or deleted by an admin. If a source was confirmed, only
// the samples of confirmations count, for every person: they were not selected, and later runs of that source change
// nothing.
//
// Sources are equal only if all their bytes are equal: a program can read its text (__LINE__, a raw string, its own
// file), and act on each byte. If sources that differ in a blank line were equal, a person could get the score that
// confirmations measured for another program.
//
// Weaknesses: the interval of several runs treats the processes of all runs alike and adds the usual difference between
// runs (harness.RunToRunDeviation), so it is too narrow if runs differ by more; differences up to 0.5 % never separate
// entries (boards.isClearlySlower). A person may stop submitting when the score is favorable, which gains a third of
// the luckiest run's luck. A changed letter makes another source, whose luck ends with the confirmation of the 1st
// place. A kernel that crashes its worker on a slow slot gets an infrastructure error, which counts against no one;
// workers' logs and the operator's page show it.
package samples
