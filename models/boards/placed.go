package boards

import (
	"context"
	"slices"

	"warpboard/models/db"
)

// PlaceSummary is a person's place on a board, without the other data of the board's page.
type PlaceSummary struct {
	Key
	UserID   int64
	UserName string
	RunID    int64
	Rank     int
	ScoreNS  float64
}

// boardsAtOnce is the number of boards in one query; SQLite refuses a condition of a thousand parts.
const boardsAtOnce = 200

type placedKey struct {
	Key
	change int64
}

// PlaceSummaries returns all places on boards at their change numbers, in order. It reads only boards that have changed
// since they were last read.
func (s *Boards) PlaceSummaries(ctx context.Context, changes map[Key]int64) (map[Key][]PlaceSummary, error) {
	places := make(map[Key][]PlaceSummary, len(changes))
	var missing []Key
	for key, change := range changes {
		list, ok := recall[[]PlaceSummary](s.cache, placedKey{key, change})
		if places[key] = list; !ok {
			missing = append(missing, key)
		}
	}
	for some := range slices.Chunk(missing, boardsAtOnce) {
		wanted := s.db.Read(ctx)
		for _, key := range some {
			wanted = wanted.Or("e.version_id = ? and e.device = ?", key.VersionID, key.Device)
		}
		var list []PlaceSummary
		err := s.db.Read(ctx).Table("entries e").Select("e.version_id, e.device, e.user_id, e.run_id, e.score_ns, u.name as user_name, " + ofBand).
			Joins(withBand).Joins("join users u on u.id = e.user_id").Where(wanted).
			Order("e.version_id, e.device, " + ofEntries(entriesFirst)).Scan(&list).Error
		if err != nil {
			return nil, db.ReadError(err, "places on boards")
		}
		for _, p := range list {
			places[p.Key] = append(places[p.Key], p)
		}
	}
	for _, key := range missing {
		s.cache.Put(placedKey{key, changes[key]}, places[key], int64(200+120*len(places[key])))
	}
	return places, nil
}

// ChangeNumbers returns the change numbers of the boards of some versions. A board without entries has none.
func (s *Boards) ChangeNumbers(ctx context.Context, versionIDs []int64) (map[Key]int64, error) {
	var heads []Board
	if err := s.db.Read(ctx).Select("version_id, device, change").Where("version_id in ?", versionIDs).Find(&heads).Error; err != nil {
		return nil, db.ReadError(err, "the change numbers of boards")
	}
	changes := make(map[Key]int64, len(heads))
	for _, h := range heads {
		changes[Key{h.VersionID, h.Device}] = h.Change
	}
	return changes, nil
}
