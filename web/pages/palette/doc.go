// Package palette answers the search on every page (Ctrl+K): tasks with their boards and workbench, people, own submissions,
// any submission by its number, pages of the site, and pages and headings of the documentation. views/assets/palette.js sends the text while typing; package web routes to
// it.
//
// Read palette.go: Find, then numbered, tasks, own and people, with one query each, and pages and manual, without one. It finds words anywhere
// in a title, and at the beginning of a name, for which there is an index.
//
// It promises to offer only what the person may see, and at most six of a kind. By a part of a number or by their task it
// searches only the newest fifty own submissions; the account page lists the rest.
package palette
