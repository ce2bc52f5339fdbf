package boards

import (
	"context"

	"warpboard/models/db"
)

// Placed is a person's place on a board, without what the board's page shows beside it.
type Placed struct {
	Key
	UserID   int64
	UserName string
	RunID    int64
	Rank     int
	ScoreNS  float64
}

// Placed returns all places on the boards of some versions, board after board in their order.
func (s *Boards) Placed(ctx context.Context, versionIDs []int64) (list []Placed, err error) {
	err = s.db.Read(ctx).Table("entries e").Select("e.version_id, e.device, e.user_id, e.run_id, e.score_ns, u.name as user_name, "+ofBand).
		Joins(withBand).Joins("join users u on u.id = e.user_id").Where("e.version_id in ?", versionIDs).
		Order("e.version_id, e.device, " + ofEntries(entriesFirst)).Scan(&list).Error
	return list, db.ReadError(err, "places on boards")
}

// ChangeNumbers returns the change numbers of the boards of some versions. A board before its first entry has none.
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
