// Package statement expresses the measurement of a ranked run in a form that others can verify without the site: an
// in-toto statement in a DSSE envelope, signed with the site's Ed25519 key.
//
// Package models makes a statement from the database; web/api signs it on request. docs/measuring.md describes
// verification with openssl.
//
// A statement shows that the site published these numbers. It cannot show that they were measured honestly.
package statement
