// Package client is the Go client of Warpboard's JSON API, and the types of its requests and answers, which the server
// uses, too.
//
// Read client.go (sending requests, errors), types.go (answers), then a file per noun. watch.go follows a submission's
// events across restarts of the site. The commands of internal/app/cli and the tools of web/mcp use it.
//
// The client sends its token only to its own site, and stops waiting when the context ends. New fields may be added to
// the types, but existing ones keep their meaning: older programs can read newer sites.
package client
