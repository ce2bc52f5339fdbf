// Package palette answers what a person types into the search of every page (Ctrl+K): tasks with their boards and the
// place to solve them, people, own submissions, and pages and headings of the documentation. views/assets/palette.js asks while one types; package web routes to it.
//
// Read palette.go: Find, then tasks, own and people, which ask one question each, and manual, which asks none. Words are looked for anywhere in a title, and
// at the beginning of a name, where an index helps.
//
// It promises to offer what the asker may see and nothing else, and at most six of a kind. Of own submissions only the newest
// fifty are looked at, so an older one is found by its number alone if it is among them; the account page lists the rest.
package palette
