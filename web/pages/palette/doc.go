// Package palette answers the search on every page (Ctrl+K): tasks with their boards and workbench, people, own submissions,
// and pages and headings of the documentation. views/assets/palette.js sends the text while typing; package web routes to
// it.
//
// Read palette.go: Find, then tasks, own and people, with one query each, and manual, without one. It finds words anywhere
// in a title, and at the beginning of a name, for which there is an index.
//
// It promises to offer only what the person may see, and at most six of a kind. It searches only the newest fifty own
// submissions, also for a number; the account page lists the rest.
package palette
