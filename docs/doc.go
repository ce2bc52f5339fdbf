// Package docs is the documentation that the site serves under /docs, and GitHub shows as files.
//
// Read docs.go: listed is what the site serves, in order, with one sentence each. README.md lists the same for readers of
// the folder; style.md, queries.md and pages.md are for developers alone. The first line of a file is its title. Package
// web/pages/manual calls Pages once, at the start.
package docs
