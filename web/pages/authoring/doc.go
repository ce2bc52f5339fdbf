// Package authoring is the pages that make and change tasks: upload, preview, publish, settings, delete.
//
// Read drafts.go first: an upload becomes drafts, and a draft is shown before it is published. Then new.go, publish.go,
// edit.go; files.go is the page where files are written, live.go its checks while one types; docs.go explains the format,
// from the tables that the reader goes by. Nothing is kept on the server between preview and publishing: the form carries
// the bundle and it is checked again as any upload.
package authoring
