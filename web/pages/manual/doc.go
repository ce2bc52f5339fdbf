// Package manual serves the documentation: the pages of package docs under /docs, grouped by reader. Package web routes to it.
//
// Read manual.go. Markdown is turned into HTML at the first request for a page: all pages at once would add a tenth of a
// second to a start. A page costs no query. To add a page, list it in package docs; New lists the pages that the site makes
// of something else (task format, API, trust). Package palette finds pages and headings by Links.
//
// Pitfall: links between documents are addresses of the site only as far as docs.Pages knows them; of a link to anything
// else of the repository only the text remains.
package manual
