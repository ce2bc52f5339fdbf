// Package db is the connection to the database, SQLite or PostgreSQL, and the rules that everything above it shares: when a
// write has its turn, the form of times and texts in a column, and which errors people see.
//
// Read it in this order: db.go (what a DB can do), connect.go (how the two are opened), errors.go and unavailable.go (kinds
// of failures), values.go, secret.go, names.go and setting.go (small helpers), statements.go.
//
// Only the other packages of models use it. It promises that writes run one after the other, that a reader never waits for a
// writer, and that each error of a driver names the operation.
//
// What may go wrong: on SQLite a long transaction delays every other writer, so keep slow work (files, hashing, the network)
// out of Write. On SQLite times are compared as texts: give every time to Time first. Write must not be called inside Write:
// it would wait for itself.
//
// Raw SQL here is only the lock that gives PostgreSQL a single writer, as SQLite has.
package db
