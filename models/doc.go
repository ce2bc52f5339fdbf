// Package models is the domain: people, tasks, submissions, runs, boards and workers, with their
// rules and their queries, one file per noun. It stores them in SQLite or PostgreSQL; nothing else
// in Warpboard knows a database.
//
// A run's row is the truth of the queue: a guarded update decides who wins when two sides act on
// the same run, and the loser is told so. What counts on a board is decided in one place (rank.go).
package models
