// Package modelstest opens stores for tests: migrated, empty, on SQLite and on a real PostgreSQL that the test process starts
// for itself.
//
// Read modelstest.go (stores), make.go (people, tasks, runs in every state), postgres.go (the server, which ends with the test
// process however that ends), wire.go (a way to it that freezes and breaks), fill.go (many submissions, for benchmarks).
//
// A schema is made per test and dropped with it: tests share the server and nothing else. PostgreSQL runs without fsync.
package modelstest
