// Package migrations has the database schema as numbered SQL files, once for SQLite and once for PostgreSQL, and
// updates a database. It is a separate package because go:embed needs the files in its folder.
//
// Read the files of one directory in the order of their numbers. The two directories have the same names; they differ
// in types, and where SQLite cannot change an existing column. models/db calls Apply when it opens a database.
//
// The first file, 81, is the baseline: the whole schema. It replaced 27 files, of which 81 was the last, and creates
// the same tables, so a database at 81 has it. A database of a lower version is refused, because the files that changed
// its rows no longer exist.
//
// Each file is applied once and in one transaction, several processes may start at once, and a database of a newer
// program is refused. A released file must not change.
//
// A migration that rewrites a large table delays the first start. One that changes what a board shows requests new
// boards with the setting rebuild_boards, see models/boards.
package migrations
