// Package draws keeps the seeds from which the values of cases are drawn whose task gives ranges: one for each version, device and
// epoch, so that all scores of a board that are compared are of equal cases.
//
// Draw gives an attempt at a run the values of its cases. For a ranked run Begin gives the seed, and makes it with the first one.
// Used finds it again when the result comes. Of lists the draws of a task, with the cases of those that are no secret any more.
//
// It promises that a seed never changes, and is random: nothing that an author or a kernel knows leads to it. It stays secret
// while the version takes ranked runs: until the task has a newer version, or closes, which opens the sources, too. New software alone
// reveals nothing: when the entries that were measured with it are deleted, the older draw counts again.
//
// What may go wrong: the epoch of an attempt is that of what its worker last said of its software. If the software changed since, the
// result names another epoch than the draw has, and the site has to refuse it.
package draws
