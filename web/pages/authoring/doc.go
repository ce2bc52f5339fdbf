// Package authoring is the pages that make and change tasks: upload, preview, publish, settings, delete.
//
// Read drafts.go first: an upload becomes drafts, and a draft is shown before it is published. Then new.go, publish.go,
// edit.go; files.go is the page to edit files and the preview of a task, save.go what its buttons do, live.go its
// checks while typing, trial.go a task tried by solutions; docs.go explains the format, from the tables of its reader.
// The server stores nothing between preview and publishing: the form carries the bundle, which is checked again like
// any upload.
package authoring
