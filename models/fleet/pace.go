package fleet

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
)

const (
	paceRuns = 20   // number of a device's newest ended runs to use
	paceSpan = 5000 // number of IDs to search: a seldom used device must not cost more
)

// MedianRunTime returns the median time of a device's latest runs, or 0 if there were none.
func (s *Fleet) MedianRunTime(ctx context.Context, device string) (time.Duration, error) {
	var ended []struct{ StartedAt, EndedAt time.Time }
	err := s.db.Read(ctx).Table("runs").Select("started_at", "ended_at").
		Where("id > (select coalesce(max(id), 0) from runs) - ?", paceSpan).
		Where("device = ? and state in ('done', 'failed') and started_at is not null and ended_at is not null", device).
		Order("id desc").Limit(paceRuns).Scan(&ended).Error
	if err != nil || len(ended) == 0 {
		return 0, db.ReadError(err, "past runs of %s", device)
	}
	took := make([]time.Duration, len(ended))
	for i, run := range ended {
		took[i] = max(run.EndedAt.Sub(run.StartedAt), 0)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
