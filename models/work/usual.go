package work

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
)

const (
	usualRuns = 9    // the newest of their kind say how long the next one will take
	usualSpan = 5000 // ids that are looked through for them: a task that is seldom submitted to must not cost more
)

// UsualTime is for how long runs of the run's mode on its board lately held their units, in the middle of them; 0: not known.
// Those that failed ended early, and say nothing.
func (l *LifeCycle) UsualTime(ctx context.Context, run Run) (time.Duration, error) {
	var took []int64
	err := l.db.Read(ctx).Model(&Run{}).Where("id > ? and version_id = ? and device = ? and mode = ? and state = 'done' and unit_ns > 0",
		run.ID-usualSpan, run.VersionID, run.Device, run.Mode).Order("id desc").Limit(usualRuns).Pluck("unit_ns", &took).Error
	if err != nil || len(took) == 0 {
		return 0, db.ReadError(err, "past runs like run %d", run.ID)
	}
	slices.Sort(took)
	return time.Duration(took[len(took)/2]), nil
}
