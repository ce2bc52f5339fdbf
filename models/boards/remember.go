package boards

import "sync"

// mostSummaries is how many boards are remembered: some 2 kB each.
const mostSummaries = 8192

// remembered keeps summaries by the change numbers that their boards had when they were read. Who asks has read the board's
// change number just now, from the database: another process of the site may have changed it. Every visible change, of a
// name, too, raises that number in the transaction that makes it; so one that is still the same means that nothing has
// changed. It may be used by many requests at once.
type remembered struct {
	mu   sync.Mutex
	kept map[Key]Summary
}

// get returns what is kept of a board at this change number.
func (r *remembered) get(key Key, change int64) (Summary, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	summary, ok := r.kept[key]
	return summary, ok && summary.Change == change
}

// put keeps what was just read. A reader that was slow may put an older state over a newer one: the next who asks with
// the newer number reads it again.
func (r *remembered) put(read map[Key]Summary) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, summary := range read {
		if _, known := r.kept[key]; !known && len(r.kept) >= mostSummaries {
			for other := range r.kept { // whichever: a site with so many boards lists few of them at a time
				delete(r.kept, other)
				break
			}
		}
		r.kept[key] = summary
	}
}
