package boards

import (
	"context"

	"warpboard/internal/cache"
)

// mostKept is how many bytes of boards a process keeps, about.
const mostKept = 32 << 20

// kept is all that a process keeps of boards: summaries, people's places, and what pages show. Each key has the change number
// that the board had when it was read. Who asks has read that number just now, from the database: another process of the
// site may have changed it. Every visible change, of a name, too, raises the number in the transaction that makes it; so one
// that is still the same means that nothing has changed. Nothing here is of one viewer but a place, which has its person in
// its key. No one writes into what is kept.
type kept = cache.Cache[any, any]

type (
	summaryKey struct {
		Key
		change int64
	}
	placeKey struct {
		Key
		change, userID int64
	}
	shownKey struct {
		Key
		change int64
		part   Part // without its viewer
	}
)

// recall returns what is kept under a key.
func recall[V any](k *kept, key any) (value V, ok bool) {
	found, _ := k.Get(key)
	value, ok = found.(V)
	return value, ok
}

// recallSummary returns what is kept of a board at this change number, with a person's place on it; 0: no one's.
func recallSummary(k *kept, key Key, change, userID int64) (Summary, bool) {
	summary, ok := recall[Summary](k, summaryKey{key, change})
	if ok && userID != 0 {
		summary.Own, ok = recall[Place](k, placeKey{key, change, userID})
	}
	return summary, ok
}

func keepSummary(k *kept, key Key, summary Summary, userID int64) {
	if userID != 0 {
		k.Put(placeKey{key, summary.Change, userID}, summary.Own, 200)
	}
	summary.Own = Place{}
	k.Put(summaryKey{key, summary.Change}, summary, 2000)
}

// Shown is what everyone sees of a board on one page.
type Shown struct {
	Standings []Standing
	Bands     []Band // of the whole board
	History   []RecordHolder
	Baselines []MeasuredBaseline
}

// Show reads what a page shows of a board, in four questions, or recalls it; own is the entry of part.Viewer, nil where
// there is none. Parts are the same at equal times of Part.Before.
func (s *Boards) Show(ctx context.Context, b Head, part Part) (shown Shown, own *Standing, err error) {
	key := shownKey{Key{b.VersionID, b.Device}, b.Change, part}
	key.part.Viewer = 0
	shown, ok := recall[Shown](s.kept, key)
	if ok {
		if part.Viewer == 0 || part.ByEnergy {
			return shown, nil, nil
		}
		list, err := s.read(ctx, b, nil, Part{Viewer: part.Viewer, Before: part.Before})
		_, own = cutOwn(list)
		return shown, own, err
	}
	if shown.Bands, err = s.Bands(ctx, b.VersionID, b.Device); err != nil {
		return shown, nil, err
	}
	if shown.Standings, err = s.read(ctx, b, shown.Bands, part); err != nil {
		return shown, nil, err
	}
	shown.Standings, own = cutOwn(shown.Standings)
	if shown.History, err = s.History(ctx, b.VersionID, b.Device); err != nil {
		return shown, nil, err
	}
	if shown.Baselines, err = s.Baselines(ctx, b.VersionID, b.Device); err != nil {
		return shown, nil, err
	}
	s.kept.Put(key, shown, int64(1000+600*len(shown.Standings)+80*len(shown.Bands)+200*len(shown.History)))
	return shown, own, nil
}

// cutOwn takes the viewer's entry from the end of a list.
func cutOwn(list []Standing) ([]Standing, *Standing) {
	if n := len(list) - 1; n >= 0 && list[n].Own {
		own := list[n]
		return list[:n:n], &own
	}
	return list, nil
}
