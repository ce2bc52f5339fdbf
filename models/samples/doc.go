// Package samples makes the scores of runs from samples: each ranked measurement of a source on a board leaves one. A
// person who submits a kernel twenty times gets the median of all processes, and not the luckiest of twenty medians.
//
// Read in this order: sample.go (measurements, and which of them count), score.go (ScoreOf: the score of some samples,
// without a database), update.go (the samples behind the score of each run).
//
// Package models calls AddSample when a run has ended, AcceptSamples when measurements of the site are to count,
// SetAsideReplacedSamples when a rerun replaces what was measured before, SetAsideDeletedSamples before a submission is
// deleted, and UpdateScores before boards.EnterRun and boards.RecomputeEntries.
//
// It promises that numbers are never moved: the row of a run has what ScoreOf makes of the samples that count, and can
// be made from them again at any time (RebuildScores). Samples count together if they have one person, version, device,
// and epoch, and of equal source; of a person's valid runs of that source one is on the board for all, the same as long
// as it is valid. All samples count, also of runs that were cancelled, that failed, or that their person deleted;
// except those of runs that are disqualified, held back, or deleted by an admin, and infrastructure errors. If a source
// was confirmed, the samples of confirmations alone make its score, for every person: they were not selected, and later
// runs of that source change nothing.
//
// Equal sources are equal to the byte: a program can see each byte of its text (__LINE__, a raw string, its own file),
// and act on it. If texts that differ in a blank line were equal, one could get the score that confirmations measured
// for the other.
//
// What may go wrong: the interval of several runs treats the processes of all runs alike and adds the usual difference
// between runs (harness.RunToRunDeviation), so that it is too narrow if they differ by more; differences up to 0.5 %
// never separate entries (boards.isClearlySlower). A person may stop submitting when the score is favorable; that gains
// a third of the luckiest run's luck. A source that differs by a letter is another one: its luck ends with the
// confirmation of 1st place. A kernel that crashes its worker where it is slow gets an infrastructure error, which
// counts against no one; workers' logs and the operator's page show it.
package samples
