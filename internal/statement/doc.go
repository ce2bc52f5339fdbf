// Package statement says what a ranked run measured in a form that others can check without the site: an in-toto
// statement in a DSSE envelope, signed by the site's Ed25519 key.
//
// In reading order: statement.go is what is said; score.go makes the score from the samples again; key.go is the key
// and what a site publishes of it; envelope.go signs and verifies; chain.go checks that nothing was left out between
// the first statement and the last.
//
// models writes a statement when it records a result, and models/ledger keeps it word for word; web/api signs it when
// someone asks; app verifies.
//
// Each statement holds the hash of the one before it. So a site cannot change or leave out a result without changing
// every later statement, and anyone who kept one of those can show it. What a statement cannot show is that the site
// told the truth when it made it: that takes measuring again.
package statement
