package boards

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
)

// PlaceSummary is a person's rank and score on a board.
type PlaceSummary struct {
	BoardKey
	UserID   int64
	UserName string
	RunID    int64
	Rank     int
	ScoreNS  float64
}

// maxBoardsPerQuery limits the boards in one query, because SQLite refuses a condition with a thousand parts.
const maxBoardsPerQuery = 200

type placeSummariesKey struct {
	BoardKey
	changeNumber int64
}

// PlaceSummaries returns the entries of boards at their change numbers, in order. It reads only boards that have
// changed since they were cached. With a time, it reads all boards as they were then, without ties.
func (s *Boards) PlaceSummaries(
	ctx context.Context, changes map[BoardKey]int64, at time.Time,
) (map[BoardKey][]PlaceSummary, error) {
	places := make(map[BoardKey][]PlaceSummary, len(changes))
	var missing []BoardKey
	for key, change := range changes {
		list, ok := cachedValue[[]PlaceSummary](s.cache, placeSummariesKey{key, change})
		if !at.IsZero() {
			list, ok = nil, false
		}
		if places[key] = list; !ok {
			missing = append(missing, key)
		}
	}
	for some := range slices.Chunk(missing, maxBoardsPerQuery) {
		list, err := s.readPlaceSummaries(ctx, some, at)
		if err != nil {
			return nil, db.ReadError(err, "places on boards")
		}
		// people already seen on the current board, if at is set: they have a row per epoch, newest first
		seen := map[int64]bool{}
		for _, p := range list {
			if !at.IsZero() {
				if len(places[p.BoardKey]) == 0 {
					clear(seen)
				}
				if seen[p.UserID] {
					continue
				}
				seen[p.UserID], p.Rank = true, len(places[p.BoardKey])+1
			}
			places[p.BoardKey] = append(places[p.BoardKey], p)
		}
	}
	if at.IsZero() {
		s.cachePlaces(missing, changes, places)
	}
	return places, nil
}

// cachePlaces caches entries of the first boards, up to half of the cache, so that the data of other pages stays in it.
func (s *Boards) cachePlaces(list []BoardKey, changes map[BoardKey]int64, places map[BoardKey][]PlaceSummary) {
	remaining := int64(maxCacheBytes / 2)
	for _, key := range list {
		size := int64(200 + 120*len(places[key]))
		if remaining -= size; remaining < 0 {
			return
		}
		s.cache.Put(placeSummariesKey{key, changes[key]}, places[key], size)
	}
}

func (s *Boards) readPlaceSummaries(
	ctx context.Context, some []BoardKey, at time.Time,
) (list []PlaceSummary, err error) {
	wanted, query := s.db.Read(ctx), s.db.Read(ctx)
	for _, key := range some {
		wanted = wanted.Or("e.version_id = ? and e.device = ?", key.VersionID, key.Device)
	}
	if at.IsZero() {
		query = query.Table("entries e").Select(placeSummaryColumns + ", " +
			bandColumns).Joins(joinBandSQL).Where(wanted)
	} else {
		// A person's last row of bests in an epoch is their best one.
		steps := s.db.Read(ctx).Table("bests e").Select("e.version_id, e.device, e.user_id, e.age, max(e.achieved_at) as achieved_at").
			Where("e.achieved_at < ?", db.NormalizeTime(at)).Where(wanted).Group("e.version_id, e.device, e.user_id, e.age")
		query = query.Table("(?) l", steps).Select(placeSummaryColumns).Joins("join bests e on e.version_id = l.version_id and e.device = l.device " +
			"and e.user_id = l.user_id and e.age = l.age and e.achieved_at = l.achieved_at")
	}
	return list, query.Joins("join users u on u.id = e.user_id").Order("e.version_id, e.device, " + prefixEntryColumns(entriesOrder)).Scan(&list).Error
}

const placeSummaryColumns = "e.version_id, e.device, e.user_id, e.run_id, e.score_ns, u.name as user_name"

// ChangeNumbers returns the change numbers of the boards of versions. Boards without entries have none.
func (s *Boards) ChangeNumbers(ctx context.Context, versionIDs []int64) (map[BoardKey]int64, error) {
	var heads []Board
	if err := s.db.Read(ctx).Select("version_id, device, change").Where("version_id in ?", versionIDs).Find(&heads).Error; err != nil {
		return nil, db.ReadError(err, "the change numbers of boards")
	}
	changes := make(map[BoardKey]int64, len(heads))
	for _, h := range heads {
		changes[BoardKey{h.VersionID, h.Device}] = h.ChangeNumber
	}
	return changes, nil
}
