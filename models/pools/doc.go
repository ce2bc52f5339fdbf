// Package pools makes one score of all runs that one person made of one source on a board: a person who submits a kernel
// twenty times gets the median of all processes, and not the luckiest of twenty medians.
//
// In reading order: measurement.go (a single run's numbers), retained.go (measurements of runs that are on no board),
// replace.go (those of a rejudge), legs.go (those of confirmations), pool.go (which runs are together), score.go (their
// numbers), since.go (since when).
//
// Package models calls Keep when a run was measured, Retain when one was cancelled, failed or is deleted, AddLegs when a confirmation
// has ended, Replace when a rejudge is applied, and Update before boards.Enter and boards.Recompute.
//
// It promises that a pool has one person, version, device and epoch; that it holds what each ranked run measured except
// those that are disqualified, held back or deleted by an admin, and for infrastructure errors; that one valid run stands
// for it, the same as long as it is valid; and that a run that leaves gets its own numbers back. If a source was measured in
// confirmations, only these legs make its score, for every person: they were not selected, and later runs of that source
// change nothing.
//
// Equal sources are equal to the byte: a program can see each byte of its text (__LINE__, a raw string, its own file), and
// act on it. If texts that differ in a blank line were equal, one could get the score that confirmations measured for the
// other.
//
// What may go wrong: the pool's interval treats the processes of all runs alike and adds the usual difference between runs
// (harness.BetweenRuns), so that it is too narrow if they differ by more; differences up to 0.5 % never separate entries
// (boards.apart). A person may stop submitting when the pool is favorable; that gains a third of the luckiest run's luck. A
// source that differs by a letter is another one: its luck ends with the confirmation of 1st place. A kernel that crashes
// its worker where it is slow gets an infrastructure error, which counts against no one; workers' logs and the operator's
// page show it.
package pools
