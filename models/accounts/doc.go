// Package accounts holds people: who they are, how they sign in, and what they may do.
//
// Read it in this order: user.go (a person and their role), rights.go (who may do what), identity.go (accounts at providers),
// session.go (browsers), token.go (keys for the API), audit.go (the log of what admins did).
//
// The store of package models embeds Accounts, so that callers ask the store. The other packages use User, for its role, and
// WriteAudit, which they call inside the transaction of the noted act.
//
// It promises that an identity is found only by provider and subject, never by an e-mail address, which may be unverified;
// that secrets are stored as hashes and shown once; that blocking a person ends all their sessions and tokens at once; that
// no two names look the same; that people cannot remove the last way into their own account.
//
// What may go wrong: SeenAt and UsedAt are only kept to the minute, so "last used" may be that old.
package accounts
