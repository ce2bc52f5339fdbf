// Package migrations holds the database schema as numbered SQL files, once for SQLite and once for PostgreSQL, and
// brings a database up to date.
//
// Read the files of one folder in the order of their numbers; the two folders have the same names and differ in types,
// and where SQLite cannot change a column that is there. 00009 is unused. models/db calls Up when it opens a database.
//
// It promises that each file is applied once and in one transaction, that several processes may start at once, and
// that a database of a newer program is refused. A file that was released is never changed.
//
// What may go wrong: a migration that rewrites a large table holds the first start up for that long. One that changes
// what a board shows asks for new boards with the setting rebuild_boards, see models/boards.
package migrations
