// Package cache keeps in memory what is costly to make and does not change, up to a bound.
//
// Read cache.go. Everything that a process of the site keeps between requests is in a [Cache]:
//
//	what                             key                                                     bound
//	boards: summaries, places of     board, change number, and of whom or what part          32 MiB, about
//	people, pages (models/boards)
//	reports (web/site/runs)          the hash of the stored file                             32 MiB of JSON
//	facts of reports                 the same                                                10,000 reports
//	charts of profiles, and of two   all that they were made of; of reports and sources      32 MiB of HTML
//	(web/pages/profiles)             their hashes
//	coloured sources, descriptions   the hash of language and text                           32 MiB of HTML
//	(views)
//	pictures of links (web/pages/share)  all that is drawn on them                           64 pictures
//
// Nothing is ever taken out because it has become wrong: a key names all that its value was made of, so that a change makes
// another key. What rights decide is part of the key, too, or is asked before the cache is.
//
// What may go wrong: a value is shared by all who ask, so no one may write into it; two who miss the same key at once make
// its value twice.
package cache
