// Package migrations holds the database schema as numbered SQL files, once for SQLite and once for PostgreSQL, and
// brings a database up to date.
//
// Read the files of one folder in the order of their numbers; the two folders have the same names and differ in types, and
// where SQLite cannot change an existing column. models/db calls Up when it opens a database.
//
// The first file, 55, is the baseline: the whole schema. It replaced 49 files with smaller numbers, of which 55 was the
// last, and makes the same tables. So a database at 55 has it. A database of a lower version is refused, since the files
// that changed its rows no longer exist.
//
// It promises that each file is applied once and in one transaction, that several processes may start at once, and
// that a database of a newer program is refused. A file that was released is never changed.
//
// What may go wrong: a migration that rewrites a large table delays the first start. One that changes what a board shows
// requests new boards with the setting rebuild_boards, see models/boards.
package migrations
