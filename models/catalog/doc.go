// Package catalog holds the tasks: their settings, their numbered versions, and the files of each version.
//
// Read it in this order: task.go (a task, who may see and change it), version.go (what publishing a bundle does),
// proposal.go (a version that is tried before it is published), version_files.go, blob.go (contents, each stored once), find.go (lists), sight.go (whom a list shows which tasks).
//
// Submissions store their sources as blobs, too: PutBlob and SweepBlobs.
//
// It promises that a score always belongs to one version, and that a change of only texts makes no new version: MeasuredKey
// covers everything that a score depends on. A taken slug is a Conflict.
//
// What may go wrong: callers have to check VisibleTo before they show a task; a read by id or slug does not. Lists of what belongs
// to tasks ask the functions ListedTo, VisibleTo or ListedOf, and points count public tasks alone. ListedTo and VisibleTo know the
// boards that a person joined only if the User was read for someone who acts (accounts.Load, a session, a token); without, they
// show less.
//
// Raw SQL: the files of a version with their contents (version_files.go), unreferenced contents (blob.go).
package catalog
