// Package authoring has the pages that create and change tasks: upload, preview, publish, settings, delete.
//
// Read drafts.go first: an upload becomes drafts, which the author sees in a preview before they are published. Then
// new.go, publish.go, edit.go; files.go is the page to edit files and the preview of a task, save.go handles its
// buttons, live.go checks the files while the author types, and trial.go runs the task's solutions to test the task;
// docs.go explains the format, from the tables of its reader. The server stores nothing between preview and publishing:
// the form carries the bundle, which is checked again like any upload.
package authoring
