// Package accounts holds people: their names and roles, their sign-in, and their rights.
//
// Read it in this order: user.go (a person and their role), rights.go (the table of rights), identity.go (accounts at
// providers), session.go (browsers), token.go (keys for the API), audit.go (the log of admins' acts).
//
// The store of package models embeds Accounts, so that callers ask the store. The other packages use User, for its
// role, and WriteAudit, which they call inside the transaction of the act.
//
// An identity is found only by provider and subject, never by an e-mail address, which may be unverified. Secrets are
// stored as hashes and shown once. Blocking a person ends all their sessions and tokens at once. No two names look the
// same. People cannot remove the last identity with which they can sign in.
//
// Trap: SeenAt and UsedAt are only kept to the minute, so "last used" may be that old.
package accounts
