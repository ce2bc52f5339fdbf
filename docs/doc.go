// Package docs is the documentation that the site serves under /docs, and GitHub shows as files.
//
// Read docs.go: listed is what is served, in order, with one sentence each; a file that is not listed is for readers of the
// repository alone. The first line of a file is its title. Package web/pages/manual calls Pages once, at the start.
package docs
