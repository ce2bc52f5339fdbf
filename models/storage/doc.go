// Package storage counts what a site keeps: submitted sources in the database, and artifacts (profiles and traces of
// runs) beside it, by person and by task, and what the sweep lets go next.
//
// A source that several people submitted is stored once and counts for each of them, as an artifact does that several
// runs left: the sums of people and tasks may be more than Total.
package storage
