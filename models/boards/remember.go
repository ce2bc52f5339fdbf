package boards

import "warpboard/cache"

// mostSummaries is how many boards are remembered: some 2 kB each.
const mostSummaries = 8192

// remembered keeps summaries by the change numbers that their boards had when they were read. Who asks has read the board's
// change number just now, from the database: another process of the site may have changed it. Every visible change, of a
// name, too, raises that number in the transaction that makes it; so one that is still the same means that nothing has
// changed. It may be used by many requests at once.
type remembered struct{ kept *cache.Cache[Key, Summary] }

func newRemembered() remembered { return remembered{cache.New[Key, Summary](mostSummaries)} }

// get returns what is kept of a board at this change number.
func (r remembered) get(key Key, change int64) (Summary, bool) {
	summary, ok := r.kept.Get(key)
	return summary, ok && summary.Change == change
}

// put keeps what was just read. A reader that was slow may put an older state over a newer one: the next who asks with
// the newer number reads it again.
func (r remembered) put(read map[Key]Summary) {
	for key, summary := range read {
		r.kept.Put(key, summary, 1)
	}
}
