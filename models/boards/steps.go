package boards

import (
	"context"

	"warpboard/models/db"
)

// Steps lists a person's best runs on some boards, each board's in the order of time.
func (s *Boards) Steps(ctx context.Context, userID int64, keys []Key, limit int) (map[Key][]Best, error) {
	versions := make([]int64, len(keys))
	for i, k := range keys {
		versions[i] = k.VersionID
	}
	var list []Best
	err := s.db.Read(ctx).Where("user_id = ? and version_id in ?", userID, versions).Order("achieved_at desc, run_id desc").Limit(limit).Find(&list).Error
	steps := map[Key][]Best{}
	for i := len(list) - 1; i >= 0; i-- {
		key := Key{list[i].VersionID, list[i].Device}
		steps[key] = append(steps[key], list[i])
	}
	return steps, db.ReadError(err, "the best runs of person %d", userID)
}
