package boards

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"warpboard/models/db"
)

// PlaceSummary is a person's rank and score on a board.
type PlaceSummary struct {
	Key
	UserID   int64
	UserName string
	RunID    int64
	Rank     int
	ScoreNS  float64
}

// maxBoardsPerQuery limits the boards in one query, because SQLite refuses a condition with a thousand parts.
const maxBoardsPerQuery = 200

type placeSummariesKey struct {
	Key
	change int64
}

// PlaceSummaries returns the entries of boards at their change numbers, in order. It reads only boards that have
// changed since they were cached. With a time, it reads all boards as they were then, without ties.
func (s *Boards) PlaceSummaries(ctx context.Context, changes map[Key]int64, at time.Time) (map[Key][]PlaceSummary, error) {
	places := make(map[Key][]PlaceSummary, len(changes))
	var missing []Key
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
		list, err := s.readPlaces(ctx, some, at)
		if err != nil {
			return nil, db.ReadError(err, "places on boards")
		}
		for _, p := range list {
			if places[p.Key] = append(places[p.Key], p); !at.IsZero() {
				places[p.Key][len(places[p.Key])-1].Rank = len(places[p.Key])
			}
		}
	}
	if at.IsZero() {
		s.cachePlaces(missing, changes, places)
	}
	return places, nil
}

// cachePlaces caches entries of the first boards, up to half of the cache, so that the data of other pages stays in it.
func (s *Boards) cachePlaces(list []Key, changes map[Key]int64, places map[Key][]PlaceSummary) {
	remaining := int64(maxCacheBytes / 2)
	for _, key := range list {
		size := int64(200 + 120*len(places[key]))
		if remaining -= size; remaining < 0 {
			return
		}
		s.cache.Put(placeSummariesKey{key, changes[key]}, places[key], size)
	}
}

func (s *Boards) readPlaces(ctx context.Context, some []Key, at time.Time) (list []PlaceSummary, err error) {
	wanted, query := s.db.Read(ctx), s.db.Read(ctx)
	if at.IsZero() {
		query = query.Table("entries e").Select(placeColumns + ", " + bandColumns).Joins(joinBandSQL).Order("e.version_id, e.device, " + prefixEntryColumns(entriesOrder))
	} else {
		steps := s.db.Read(ctx).Table("bests x").Where(lastInSeasonSQL, sql.Named("from", time.Time{}), sql.Named("until", db.Time(at)))
		query = query.Table("(?) e", steps).Select(placeColumns).Order("e.version_id, e.device, e.age, e.score_ns, e.run_id")
	}
	for _, key := range some {
		wanted = wanted.Or("e.version_id = ? and e.device = ?", key.VersionID, key.Device)
	}
	return list, query.Joins("join users u on u.id = e.user_id").Where(wanted).Scan(&list).Error
}

const placeColumns = "e.version_id, e.device, e.user_id, e.run_id, e.score_ns, u.name as user_name"

// ChangeNumbers returns the change numbers of the boards of versions. Boards without entries have none.
func (s *Boards) ChangeNumbers(ctx context.Context, versionIDs []int64) (map[Key]int64, error) {
	var heads []Board
	if err := s.db.Read(ctx).Select("version_id, device, change").Where("version_id in ?", versionIDs).Find(&heads).Error; err != nil {
		return nil, db.ReadError(err, "the change numbers of boards")
	}
	changes := make(map[Key]int64, len(heads))
	for _, h := range heads {
		changes[Key{h.VersionID, h.Device}] = h.ChangeNumber
	}
	return changes, nil
}
