// Package comments holds what people write about tasks and submissions: one flat list for each, with the author's
// write-up on top.
//
//	thread.go    what comments are about; who reads them, and whether more are taken
//	comment.go   Comment; the lists, and one
//	write.go     adding, with its limits; the write-up; removing one's own
//	moderate.go  reports, hiding, locking
//
// It promises that comments on a submission are shown to no one while its source is hidden, or while its event is
// frozen: they may quote it. A deadline that is moved hides them again, and keeps them. Who may not see a task finds no
// comment of it.
//
// What may go wrong: limits count rows, so a removed comment keeps its row, without its text. Comments of a blocked
// person stay; hide them.
package comments
