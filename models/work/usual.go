package work

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
)

const (
	medianRunCount    = 9    // number of the newest runs of their kind to use
	maxSearchedRunIDs = 5000 // number of run IDs to search, which limits the cost for tasks with few submissions
)

// MedianSlotTime returns the median time for which recent successful runs of the same mode on the same board used their
// slots, or 0 if there are none.
func (l *LifeCycle) MedianSlotTime(ctx context.Context, run Run) (time.Duration, error) {
	var took []int64
	err := l.db.Read(ctx).Model(&Run{}).Where("id > ? and version_id = ? and device = ? and mode = ? and state = 'done' and unit_ns > 0",
		run.ID-maxSearchedRunIDs, run.VersionID, run.Device, run.Mode).Order("id desc").Limit(medianRunCount).Pluck("unit_ns", &took).Error
	if err != nil || len(took) == 0 {
		return 0, db.ReadError(err, "past runs like run %d", run.ID)
	}
	slices.Sort(took)
	return time.Duration(took[len(took)/2]), nil
}
