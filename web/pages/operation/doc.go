// Package operation is the page where admins keep things off for a while and let workers join.
//
// Read operation.go (the page and its switches), then tokens.go.
package operation
