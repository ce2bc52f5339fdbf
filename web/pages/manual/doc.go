// Package manual is the pages of the documentation: docs/ of the repository, under /docs, each listed for whom it is.
// Package web routes to it.
//
// Read manual.go: a document's Markdown is turned into HTML once, when it is first asked for: all of them would take a start
// a tenth of a second. A page costs no query. To add a page, list it in package docs; what is a page of its own (the task format, the API)
// stands in New.
//
// What may go wrong: links between documents are addresses of the site only as far as docs.Pages knows them; a link to
// anything else of the repository shows as its text.
package manual
