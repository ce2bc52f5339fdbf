// Package modelstest opens stores for tests: migrated, empty, on SQLite and on a real PostgreSQL that the test process
// starts for itself.
//
// Read modelstest.go (stores), make.go (people, tasks, runs in every state), board.go (scores, and the board that they
// make), forum.go (comments), postgres.go (the server, which ends with the test process however that ends), wire.go (a
// connection to it that freezes and breaks), fill.go (many submissions, for benchmarks).
//
// Tests share the server, and schemas one after another: those of Each are emptied when a test ends, and those that a
// test gets by PostgresURL are dropped. PostgreSQL runs without fsync.
package modelstest
