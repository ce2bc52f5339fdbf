// Package comments holds comments on tasks and submissions: one flat list for each, with the author's write-up on top.
//
//	thread.go    the subject of comments; readers, and whether more are accepted
//	comment.go   Comment; the lists, and one
//	write.go     adding, with its limits; the write-up; removing one's own
//	moderate.go  reports, hiding, locking
//
// Comments on a submission are hidden from everyone while its source is hidden, or while its event is frozen, because
// they may quote it. If a deadline is moved, they are hidden again, and kept. People who may not see a task cannot read
// its comments.
//
// Traps: limits count rows, so a removed comment keeps its row, without its text. Comments of a blocked person stay;
// hide them.
package comments
