// Package docs is the documentation that the site serves under /docs, and that GitHub shows as files.
//
// Read docs.go: pageOrder has the pages that the site serves, in order, with one sentence each. README.md lists the
// same for readers of the directory; style.md, queries.md, and pages.md are only for developers. The first line of a
// file is its title. Package web/pages/docs calls Pages once, at the start.
package docs
