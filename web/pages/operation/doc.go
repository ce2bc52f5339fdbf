// Package operation is the page where admins keep things off for a while, set budgets and let workers join.
//
// Read operation.go (the page and its switches), then budgets.go, storage.go and tokens.go.
package operation
