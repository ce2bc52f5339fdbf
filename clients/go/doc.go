// Package client is the Go client of Warpboard's JSON API, and the types that pass over it; the server answers with the same
// ones.
//
// Read client.go (how a request is sent, and what an error is), types.go (what is answered), then a file per noun. watch.go
// follows a submission's events over restarts of the site. The commands of app/cli and the tools of web/mcp stand on it.
//
// It promises to send its token to its own site only, and that waiting ends with the context. Fields are added to the types
// and never change their meaning: older programs read newer sites.
package client
