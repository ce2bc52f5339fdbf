// Package db is the connection to the database, SQLite or PostgreSQL, and the few habits that everything above it
// shares: when a write has its turn, what a time and a text look like in a column, which errors people are told.
//
// Read it in this order: db.go (what a DB can do), connect.go (how the two are opened), errors.go and unavailable.go
// (what failed, and for whom), values.go, secret.go, names.go and setting.go (small helpers), statements.go.
//
// The other rooms of models use it; no one else does. It promises that writes run one after the other, that a
// reader never waits for a writer, and that no error of a driver reaches a caller without what was being done.
//
// What may go wrong: on SQLite a transaction that runs long holds every other writer up, so nothing slow (files,
// hashing, the network) belongs into Write. On SQLite times are compared as texts: give every time to Time first.
// Write must not be called inside Write: it would wait for itself.
//
// Raw SQL is written here for one thing, the lock that gives PostgreSQL the one writer that SQLite has.
package db
