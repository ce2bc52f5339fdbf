package fleet

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
)

const (
	medianRunCount    = 20   // number of a device's newest ended runs to use
	maxSearchedRunIDs = 5000 // number of run IDs to search, which limits the cost for rarely used devices
)

// MedianRunTimes returns the median times of recent runs by device. Devices without recent runs are missing in the map.
func (s *Fleet) MedianRunTimes(ctx context.Context, devices ...string) (map[string]time.Duration, error) {
	var ended []struct {
		Device             string
		StartedAt, EndedAt time.Time
	}
	err := s.db.Read(ctx).Raw(`select device, started_at, ended_at from (
			select device, started_at, ended_at, row_number() over (partition by device order by id desc) as n from runs
			where id > (select coalesce(max(id), 0) from runs) - ? and device in ? and state in ('done', 'failed')
				and started_at is not null and ended_at is not null) newest
		where n <= ?`, maxSearchedRunIDs, devices, medianRunCount).Scan(&ended).Error
	took, medians := map[string][]time.Duration{}, map[string]time.Duration{}
	for _, run := range ended {
		took[run.Device] = append(took[run.Device], max(run.EndedAt.Sub(run.StartedAt), 0))
	}
	for device, list := range took {
		slices.Sort(list)
		medians[device] = list[len(list)/2]
	}
	return medians, db.ReadError(err, "past runs of %v", devices)
}
