// Package draws stores the seeds for the values of cases whose task gives ranges: one seed for each version, device,
// and epoch, so that all scores of a board that are compared have equal cases.
//
// Draw gives an attempt at a run the values of its cases. For a ranked run, Begin returns the seed, and makes it with
// the first run. SeedOf finds it again when the result comes. Newest lists the draws of a task, with the cases of those
// that are no longer secret.
//
// A seed is random and never changes: nothing that an author or a kernel can read reveals it. It stays secret while the
// version accepts ranked runs: until the task has a newer version, or closes, which also opens the sources. New
// software alone reveals nothing: if the entries that were measured with it are deleted, the older draw counts again.
//
// Trap: the epoch of an attempt comes from its worker's last report. If the software has changed since, the result has
// another epoch than the draw, and the site has to refuse it.
package draws
