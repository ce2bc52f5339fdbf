package boards

import (
	"context"

	"warpboard/internal/cache"
)

// maxCacheBytes is the approximate limit in bytes of the boards that a process caches.
const maxCacheBytes = 32 << 20

// boardCache caches a process's data of boards: summaries, people's places, and the content of pages. Each key has the
// board's change number at the time of reading. The caller has just read that number from the database, since another
// process of the site may have changed it. Every visible change, even of a name, raises the number in its transaction;
// so an equal number means that nothing has changed. Only places belong to one viewer; each has its person in its key.
// Do not modify the cached values.
type boardCache = cache.Cache[any, any]

type (
	summaryKey struct {
		Key
		change int64
	}
	placeKey struct {
		Key
		change, userID int64
	}
	boardPartKey struct {
		Key
		change int64
		part   PartQuery // the part without its viewer
	}
)

// cachedValue returns the cached value of a key.
func cachedValue[V any](k *boardCache, key any) (value V, ok bool) {
	found, _ := k.Get(key)
	value, ok = found.(V)
	return value, ok
}

// recallSummary returns the cached summary of a board at this change number, with a person's place on it if userID is
// not 0.
func recallSummary(k *boardCache, key Key, change, userID int64) (Summary, bool) {
	summary, ok := cachedValue[Summary](k, summaryKey{key, change})
	if ok && userID != 0 {
		summary.Own, ok = cachedValue[PersonRank](k, placeKey{key, change, userID})
	}
	return summary, ok
}

func keepSummary(k *boardCache, key Key, summary Summary, userID int64) {
	if userID != 0 {
		k.Put(placeKey{key, summary.Change, userID}, summary.Own, 200)
	}
	summary.Own = PersonRank{}
	k.Put(summaryKey{key, summary.Change}, summary, 2000)
}

// BoardContent is the part of a board that everyone sees on one page.
type BoardContent struct {
	Standings []Standing
	Bands     []Band // bands of the whole board
	History   []RecordHolder
	Baselines []MeasuredBaseline
}

// ReadForPage reads a board for a page in four queries, or recalls it from the cache. own is the entry of
// part.ViewerID, or nil. Parts are equal at equal times of PartQuery.CompareWithTime.
func (s *Boards) ReadForPage(ctx context.Context, b Head, part PartQuery) (shown BoardContent, own *Standing, err error) {
	key := boardPartKey{Key{b.VersionID, b.Device}, b.ChangeNumber, part}
	key.part.ViewerID = 0
	shown, ok := cachedValue[BoardContent](s.cache, key)
	if ok {
		if part.ViewerID == 0 {
			return shown, nil, nil
		}
		list, err := s.readPart(ctx, b, nil, PartQuery{ViewerID: part.ViewerID, CompareWithTime: part.CompareWithTime})
		_, own = splitViewersEntry(list)
		return shown, own, err
	}
	if shown.Bands, err = s.Bands(ctx, b.VersionID, b.Device); err != nil {
		return shown, nil, err
	}
	if shown.Standings, err = s.readPart(ctx, b, shown.Bands, part); err != nil {
		return shown, nil, err
	}
	shown.Standings, own = splitViewersEntry(shown.Standings)
	if shown.History, err = s.History(ctx, b.VersionID, b.Device); err != nil {
		return shown, nil, err
	}
	if shown.Baselines, err = s.Baselines(ctx, []int64{b.VersionID}, b.Device); err != nil {
		return shown, nil, err
	}
	s.cache.Put(key, shown, int64(1000+600*len(shown.Standings)+80*len(shown.Bands)+200*len(shown.History)))
	return shown, own, nil
}

// splitViewersEntry removes the viewer's entry from the end of a list, and returns both.
func splitViewersEntry(list []Standing) ([]Standing, *Standing) {
	if n := len(list) - 1; n >= 0 && list[n].IsViewers {
		own := list[n]
		return list[:n:n], &own
	}
	return list, nil
}
