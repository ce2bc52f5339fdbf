// Package comments is the pages of comments on tasks and submissions. models/comments decides who reads and writes; a refused
// form keeps its text.
//
// Read list.go (a list with its forms), then one.go (one comment: report, hide, delete).
package comments
