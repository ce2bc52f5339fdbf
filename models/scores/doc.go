// Package scores computes the scores of results, and draws the values of cases whose task gives ranges.
//
// Read check.go first: ScoreResult computes the score of a result (score.go), compares it with the limits of its slot
// (roof.go), and changes a result that contradicts itself to a lost attempt. evaluation.go has the counters of an
// evaluation.
//
// A draw (draws.go) is one seed for each version, device, and epoch, so that all scores of a board that are compared
// have equal cases. Draw (cases.go) gives an attempt at a run the values of its cases. For a ranked run, BeginDraw
// creates the seed with the first run, and returns it. AttemptSeed reads it again when the result arrives. NewestDraws
// lists the draws of a task, with the cases of those that are no longer secret.
//
// A seed is random and never changes: nothing that an author or a kernel can read reveals it. It stays secret while the
// version accepts ranked runs: until the task has a newer version, or closes, which also opens the sources. New
// software alone reveals nothing: if the entries that were measured with it are deleted, the older draw counts again.
//
// Trap: the epoch of an attempt comes from its worker's last report. If the software has changed since, the result has
// another epoch than the draw, and the site has to refuse it.
package scores
