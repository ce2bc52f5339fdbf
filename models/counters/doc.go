// Package counters sums up what happened since the site was set up, for the metrics and the evaluation API's statistics.
//
// The code that ends work adds samples inside the transaction that ends it (Add), so that nothing is counted twice and a restart
// loses nothing. A counter has no buckets, only count, sum, least and most: means and rates can be had from it, quantiles
// cannot. What is held now is no counter but a count of rows, taken in the same statement (Counters).
//
// What may go wrong: the row of a counter is written by every transaction that ends work of its kind, so on PostgreSQL those
// wait for each other. With SQLite there is one writer anyway.
package counters
