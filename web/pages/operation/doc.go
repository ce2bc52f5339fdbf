// Package operation is the pages where admins keep things off, set budgets and teams, let workers join, and see what takes
// room. Package web routes to it; everyone but admins is refused by each handler and by the store again.
//
// Read operation.go (the page and its switches; done answers every form), then budgets.go, tokens.go and storage.go. health.go is
// one table of what may need a person.
//
// It promises that a refused form comes back with its reason, that each change stands in the audit log, and that a join token is
// shown once. Storage sums over all submissions and artifacts, so it is the one page here that grows with the site.
package operation
