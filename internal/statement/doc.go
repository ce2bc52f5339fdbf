// Package statement states the measurement of a ranked run in a form that others can check without the site: an in-toto
// statement in a DSSE envelope, signed with the site's Ed25519 key.
//
// package models makes a statement of what the database has of a run; web/api signs it on request. docs/measuring.md
// describes how to verify one with openssl.
//
// A statement shows that the site published these numbers. It cannot show that they were measured honestly.
package statement
