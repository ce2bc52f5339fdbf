// Package statements stores the statements of results, verbatim and in their order, and the keys that the site signed with.
//
// package models appends when it records a result, in the same transaction; web/api signs and sends the statements.
//
// It promises that nothing here is ever changed or deleted: each statement holds the hash of the one before, so a gap or a
// change shows to everyone who kept one statement.
//
// What may go wrong: anyone who has the database and the signing key can write a whole new chain. Only statements that
// others have kept reveal that.
package statements
