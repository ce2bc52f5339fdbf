// Package db is the connection to the database, SQLite or PostgreSQL, and the rules that everything above it shares:
// the order of writes, the form of times and texts in a column, and the errors that people see.
//
// Read it in this order: db.go (the operations of a DB), connect.go (opening both kinds), errors.go and unavailable.go
// (kinds of failures), values.go, secret.go, names.go, and setting.go (small helpers), statements.go.
//
// Only the other packages of models use it. Writes are sequential, a reader never waits for a writer, and each error of
// a driver names the operation.
//
// Traps: on SQLite a long transaction delays every other writer, so keep slow work (files, hashing, the network) out of
// Write. On SQLite times are compared as texts: pass every time through NormalizeTime first. Write must not be called
// inside Write: it would wait for itself.
//
// The only raw SQL here is the lock that gives PostgreSQL a single writer, as SQLite has.
package db
