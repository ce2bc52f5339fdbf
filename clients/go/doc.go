// Package client is the Go client of Warpboard's JSON API, and the types that pass over it; the server answers with the same
// ones.
//
// Read client.go (how a request is sent, and what an error is), types.go (what is answered), then a file per noun. watch.go
// follows a submission's events over restarts of the site. The commands of app/cli and the tools of web/mcp use it.
//
// It promises to send its token only to its own site, and that waiting ends with the context. New fields may be added to the
// types, but existing ones keep their meaning: older programs can read newer sites.
package client
