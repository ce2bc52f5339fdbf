// Package statement states the measurements of a ranked run in a form that others can check without the site: an in-toto
// statement in a DSSE envelope, signed by the site's Ed25519 key.
//
// In reading order: statement.go has the content; score.go computes the score from the samples again; key.go has the key and
// its published part; envelope.go signs and verifies; chain.go checks that no statement is missing between the first and the
// last.
//
// models writes a statement when it records a result, and models/statements stores it verbatim; web/api signs it on request; app
// verifies.
//
// Each statement holds the hash of the one before it. So a site cannot change or leave out a result without changing every
// later statement, and anyone who kept one of those can prove it. A statement cannot show that the site was honest when it
// made it: for that, measure again.
package statement
