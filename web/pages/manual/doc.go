// Package manual serves the documentation: the pages of package docs under /docs, grouped by reader. Package web routes to it.
//
// Read manual.go. Markdown is turned into HTML at the first request for a page: all pages at once would add a tenth of a
// second to a start. A page costs no query. To add a page, list it in package docs; New lists the pages from other sources
// (task format, API, trust). Package palette finds pages and headings by Links.
//
// Pitfall: links between documents become addresses of the site only if docs.Pages has the target; a link to another file of
// the repository becomes plain text.
package manual
