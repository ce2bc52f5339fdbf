package boards

import (
	"context"
	"slices"

	"warpboard/models/db"
)

// PersonBestScores lists the scores of a person's best runs on boards, in order of time for each board. It reads only
// an index.
func (s *Boards) PersonBestScores(
	ctx context.Context, userID int64, keys []BoardKey, limit int,
) (map[BoardKey]RecordScores, error) {
	versions := make([]int64, len(keys))
	for i, k := range keys {
		versions[i] = k.VersionID
	}
	slices.Sort(versions)
	var list []BestRun
	err := s.db.Read(ctx).Select("version_id", "device", "score_ns").Where("user_id = ? and version_id in ?", userID, slices.Compact(versions)).
		Order("achieved_at desc, run_id desc").Limit(limit).Find(&list).Error
	steps := map[BoardKey]RecordScores{}
	for _, best := range slices.Backward(list) {
		key := BoardKey{best.VersionID, best.Device}
		steps[key] = append(steps[key], best.ScoreNS)
	}
	return steps, db.ReadError(err, "the best runs of person %d", userID)
}
