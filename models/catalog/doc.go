// Package catalog holds the tasks: their settings, their numbered versions, and the files of each version.
//
// Read it in this order: task.go (a task, and its readers and editors), version.go (the effects of publishing a
// bundle), proposal.go (a version that is tried before it is published), version_files.go, blob.go (contents, each
// stored once), find.go (lists), sight.go (the tasks that a viewer sees).
//
// Submissions store their sources as blobs, too: PutBlob and SweepBlobs.
//
// A score always belongs to one version, and a change of only texts makes no new version: MeasurementHash covers
// everything that a score depends on. A taken slug is a Conflict.
//
// Traps: callers must check RestrictToVisible before they show a task; a read by ID or slug does not. Lists of objects
// that belong to tasks use the functions RestrictToListed, RestrictToVisible, or RestrictToActivityOf, and points count
// only public tasks. RestrictToListed and RestrictToVisible include the boards that a person joined only if the User
// was read as the sender of a request (accounts.UserByID, a session, a token); otherwise they show less.
//
// Raw SQL: the files of a version with their contents (version_files.go), unreferenced contents (blob.go).
package catalog
