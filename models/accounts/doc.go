// Package accounts holds people: who they are, how they sign in, and what they may do.
//
// Read it in this order: user.go (a person and their role), rights.go (who may do what), identity.go (accounts at providers),
// session.go (browsers), token.go (keys for the API), audit.go (the log of what admins did).
//
// The store of package models embeds Accounts, so that callers ask the store. The other rooms know User, whose role
// they ask, and WriteAudit, which they call inside the transaction of the act that it notes.
//
// It promises that an identity is found by provider and subject alone, never by an e-mail address that no one may
// have verified; that secrets are stored as hashes and seen once; that a person who is blocked is out at once, with
// every session and token; that no two names look the same; that no one takes the last way into their own account.
//
// What may go wrong: SeenAt and UsedAt are only kept to the minute, so "last used" may be that old.
package accounts
