package work

import (
	"context"
	"time"

	"warpboard/models/db"
)

// WaitingWork is the number of runs and evaluations of people that wait for a device, and the time of the oldest.
// Baselines and reruns do not count, because no machine should be started for them.
type WaitingWork struct {
	Device      string
	WorkCount   int       `gorm:"column:work"`
	OldestSince time.Time `gorm:"column:oldest"`
}

// WaitingDevices lists the devices for which work waits, whether or not they have a worker.
func (l *LifeCycle) WaitingDevices(ctx context.Context) ([]WaitingWork, error) {
	var list []WaitingWork
	err := l.db.Read(ctx).Raw(`select device, work, queued_at as oldest from (
			select device, queued_at, count(*) over (partition by device) as work, row_number() over (partition by device order by queued_at) as n
			from (`+allLiveWorkSQL+`) w where started_at is null and priority < ?
		) waits where n = 1 order by device`, PriorityBaseline).Scan(&list).Error
	return list, db.ReadError(err, "what waits for each device")
}
