package boards

import (
	"context"

	"warpboard/internal/cache"
)

// maxCacheBytes is the approximate limit of a process's cache of boards, in bytes.
const maxCacheBytes = 32 << 20

// boardCache caches data of boards: summaries, people's entries, and the content of pages. Each key contains the
// board's change number, which the caller has just read from the database, because another process may have changed the
// board. Every visible change, even of a name, raises the change number in its transaction. Entries of one viewer have
// the viewer in their key. Cached values must not be modified.
type boardCache = cache.Cache[any, any]

type (
	summaryKey struct {
		BoardKey
		changeNumber int64
	}
	placeKey struct {
		BoardKey
		changeNumber, userID int64
	}
	boardPartKey struct {
		BoardKey
		changeNumber int64
		part         BoardPartQuery // the part without its viewer
	}
)

// cachedValue returns the cached value of a key.
func cachedValue[V any](k *boardCache, key any) (value V, ok bool) {
	found, _ := k.Get(key)
	value, ok = found.(V)
	return value, ok
}

// cachedSummary returns the cached summary of a board at a change number, with the entry of a person if userID is not
// 0.
func cachedSummary(k *boardCache, key BoardKey, change, userID int64) (BoardSummary, bool) {
	summary, ok := cachedValue[BoardSummary](k, summaryKey{key, change})
	if ok && userID != 0 {
		summary.OwnRank, ok = cachedValue[PersonRank](k, placeKey{key, change, userID})
	}
	return summary, ok
}

func cacheSummary(k *boardCache, key BoardKey, summary BoardSummary, userID int64) {
	if userID != 0 {
		k.Put(placeKey{key, summary.ChangeNumber, userID}, summary.OwnRank, 200)
	}
	summary.OwnRank = PersonRank{}
	k.Put(summaryKey{key, summary.ChangeNumber}, summary, 2000)
}

// BoardContent is the part of a board's page that is the same for all viewers.
type BoardContent struct {
	Standings []Standing
	Bands     []Band // bands of the whole board
	History   []RecordWithHolder
	Baselines []MeasuredBaseline
}

// ReadCachedPart reads a part of a board in four queries, or from the cache. own is the entry of part.ViewerID, or nil.
// The cache key contains BoardPartQuery.CompareWithTime.
func (s *Boards) ReadCachedPart(
	ctx context.Context, b BoardHead, part BoardPartQuery,
) (shown BoardContent, own *Standing, err error) {
	key := boardPartKey{BoardKey{b.VersionID, b.Device}, b.ChangeNumber, part}
	key.part.ViewerID = 0
	shown, ok := cachedValue[BoardContent](s.cache, key)
	if ok {
		if part.ViewerID == 0 {
			return shown, nil, nil
		}
		list, err := s.readPart(ctx, b, nil, BoardPartQuery{ViewerID: part.ViewerID,
			CompareWithTime: part.CompareWithTime})
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
	if shown.History, err = s.RecordHistory(ctx, b.VersionID, b.Device); err != nil {
		return shown, nil, err
	}
	if shown.Baselines, err = s.Baselines(ctx, []int64{b.VersionID}, b.Device); err != nil {
		return shown, nil, err
	}
	s.cache.Put(key, shown, int64(1000+600*len(shown.Standings)+80*len(shown.Bands)+200*len(shown.History)))
	return shown, own, nil
}

// splitViewersEntry removes the viewer's entry, which is the last one, from a list, and returns both.
func splitViewersEntry(list []Standing) ([]Standing, *Standing) {
	if n := len(list) - 1; n >= 0 && list[n].IsViewersEntry {
		own := list[n]
		return list[:n:n], &own
	}
	return list, nil
}
