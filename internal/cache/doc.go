// Package cache keeps costly values that never change in memory, up to a bound. It is a separate package because views,
// handlers, and models use it, and share no other package that could contain it.
//
// Read cache.go. Everything that a process of the site keeps between requests is in a [Cache]:
//
//	what                             key                                                     bound
//	boards: summaries, ranks of      board, change number, and person or part of the board   about 32 MiB
//	people, pages (models/boards)
//	boards: points of one board,     board, change number, season; all boards with their     the same 32 MiB
//	total points (models/boards)     change numbers, season
//	standings of events (models)     rule, teams, boards with their change numbers           about 32 MiB
//	past standings of events         the same, and a minute of the event                     about 8 MiB
//	fingerprints of sources          hash of the source                                      4 Mi values, 32 MiB
//	(models/likeness)
//	reports (web/site/runs)          hash of the stored file                                 32 MiB of JSON
//	values derived from reports      hash of the stored file                                 10,000 reports
//	charts of one or two profiles    all inputs; for reports and sources, their hashes       32 MiB of HTML
//	(web/pages/submissions)
//	colored sources, descriptions    hash of language and text                               32 MiB of HTML
//	(views)
//	types and names of kernels       the evaluation                                          4 MiB
//	(web/site/evaluations)
//
// There is no invalidation: a key contains everything on which its value depends, so a change results in another key.
// Rights are part of the key, too, or are checked before the cache is used.
//
// Traps: all callers share a value, so do not modify it; two simultaneous misses of a key compute its value twice.
package cache
