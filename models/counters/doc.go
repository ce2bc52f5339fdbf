// Package counters has totals since the site was set up, for the metrics and the evaluation API's statistics.
//
// The code that ends work adds samples inside the transaction that ends it (Add), so that nothing is counted twice and
// a restart loses nothing. A counter has no buckets, only count, sum, least and most: it gives means and rates, but no
// quantiles. The current load is not a counter but a count of rows, in the same statement (Counters).
//
// What may go wrong: the row of a counter is written by every transaction that ends work of its kind, so on PostgreSQL
// those wait for each other. With SQLite there is one writer anyway.
package counters
