package boards

import "warpboard/internal/cache"

const (
	// mostSummaries is how many boards are remembered: some 2 kB each.
	mostSummaries = 8192
	// mostPlaces is how many places of people on boards are remembered: some 100 bytes each.
	mostPlaces = 1 << 16
)

// remembered keeps summaries, and people's places, by the change numbers that their boards had when they were read. Who asks has read
// the board's change number just now, from the database: another process of the site may have changed it. Every visible change,
// of a name, too, raises that number in the transaction that makes it; so one that is still the same means that nothing has
// changed. It may be used by many requests at once.
type remembered struct {
	kept   *cache.Cache[Key, Summary]
	places *cache.Cache[placeKey, keptPlace]
}

type placeKey struct {
	Key
	userID int64
}

type keptPlace struct {
	Place
	change int64
}

func newRemembered() remembered {
	return remembered{cache.New[Key, Summary](mostSummaries), cache.New[placeKey, keptPlace](mostPlaces)}
}

// get returns what is kept of a board at this change number, with a person's place on it; 0: no one's.
func (r remembered) get(key Key, change, userID int64) (Summary, bool) {
	summary, ok := r.kept.Get(key)
	if !ok || summary.Change != change {
		return Summary{}, false
	}
	if userID != 0 {
		place, ok := r.places.Get(placeKey{key, userID})
		if !ok || place.change != change {
			return Summary{}, false
		}
		summary.Own = place.Place
	}
	return summary, true
}

// put keeps what was just read. A reader that was slow may put an older state over a newer one: the next who asks with
// the newer number reads it again.
func (r remembered) put(read map[Key]Summary, userID int64) {
	for key, summary := range read {
		if userID != 0 {
			r.places.Put(placeKey{key, userID}, keptPlace{summary.Own, summary.Change}, 1)
		}
		summary.Own = Place{}
		r.kept.Put(key, summary, 1)
	}
}
