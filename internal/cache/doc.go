// Package cache keeps costly values that never change in memory, up to a bound. It is small and apart because views,
// handlers, and models keep such values, and share no other package that could have it.
//
// Read cache.go. Everything that a process of the site keeps between requests is in a [Cache]:
//
//	what                             key                                                     bound
//	boards: summaries, places of     board, change number, and of whom or what part          32 MiB, about
//	people, all places, pages
//	(models/boards)
//	boards: points that one gives,   board, change number, season; all boards with theirs,   the same 32 MiB
//	and everyone's (models/boards)   season
//	standings of events (models)     rule, teams, boards with their change numbers           32 MiB, about
//	the same of past times           the same, and a whole minute of the event               8 MiB, about
//	prints of sources                the hash of the source                                  4 Mi prints, 32 MiB
//	(models/likeness)
//	reports (web/site/runs)          the hash of the stored file                             32 MiB of JSON
//	facts of reports                 the same                                                10,000 reports
//	charts of profiles, and of two   all that they were made of; of reports and sources      32 MiB of HTML
//	(web/pages/submissions)          their hashes
//	coloured sources, descriptions   the hash of language and text                           32 MiB of HTML
//	(views)
//	kinds and names of kernels       the evaluation                                          4 MiB
//	(web/site/evaluations)
//
// There is no invalidation: a key names everything that its value depends on, so that a change makes another key.
// Rights are part of the key, too, or are checked before the cache is used.
//
// What may go wrong: all callers share a value, so do not modify it; two simultaneous misses of a key make its value
// twice.
package cache
