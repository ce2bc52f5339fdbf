package work

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
	"warpboard/models/fleet"
)

// DeviceActivity summarizes the last day of a device.
type DeviceActivity struct {
	WorkCount int // number of runs and evaluations that workers received
	// BusyShare is the share of the slots' uptime in which they worked, including builds; 0 if no slot is connected.
	BusyShare      float64
	MeanSlotUptime time.Duration // mean uptime of a slot within the day
	SubmittedCount int           // part of WorkCount that people submitted on this day
	MedianWait     time.Duration // median time until a worker received them the last time
	// relative deviation of the benchmarks of the noisiest slot (fleet.RelativeDeviation); 0 if unknown
	SlotNoise float64
}

const activitySpan = 24 * time.Hour

// activityRow is a run, an evaluation, or a slot benchmark. Only slot benchmarks have a Slot.
type activityRow struct {
	Device      string
	Slot        string
	QueuedAt    time.Time
	StartedAt   time.Time
	EndedAt     *time.Time
	IsRequested int `gorm:"column:asked"` // 1 if a person requested it and waits for it
	ReadNS      float64
}

// DeviceActivities returns the activity of each device in the day before a time. up has the start times of the device's
// current slots. Work before the last start of its worker does not count in BusyShare.
func (l *LifeCycle) DeviceActivities(
	ctx context.Context, at time.Time, up map[string][]time.Time,
) (map[string]DeviceActivity, error) {
	since, devices := db.NormalizeTime(at.Add(-activitySpan)), []string{}
	for device := range up {
		devices = append(devices, device)
	}
	var list []activityRow
	err := l.db.Read(ctx).Raw(`
		select device, '' as slot, queued_at, started_at, ended_at, case when `+RequestedRunSQL+` then 1 else 0 end as asked, 0.0 as read_ns
		from runs where started_at is not null and (ended_at is null or ended_at >= ?)
		union all
		select device, '', queued_at, started_at, ended_at, 1, 0.0
		from evaluations where started_at is not null and (ended_at is null or ended_at >= ?)
		union all
		select device, worker || ' ' || unit, at, at, at, 0, read_ns from sentinels where device in ? and at >= ?`,
		since, since, devices, since).Scan(&list).Error
	if err != nil {
		return nil, db.ReadError(err, "what the devices did")
	}
	rows := map[string][]activityRow{}
	for _, row := range list {
		rows[row.Device] = append(rows[row.Device], row)
	}
	activities := make(map[string]DeviceActivity, len(rows))
	for device, of := range rows {
		activities[device] = computeActivity(of, since, at, up[device])
	}
	return activities, nil
}

func computeActivity(rows []activityRow, since, at time.Time, up []time.Time) (a DeviceActivity) {
	var steps []activityStep
	for _, from := range up {
		steps = append(steps, activityStep{changedAt: laterTime(from, since), slotChange: 1})
	}
	var waits []time.Duration
	readTimes := map[string][]float64{}
	for _, row := range rows {
		if row.Slot != "" {
			readTimes[row.Slot] = append(readTimes[row.Slot], row.ReadNS)
			continue
		}
		a.WorkCount++
		if row.IsRequested == 1 && !row.QueuedAt.Before(since) {
			waits = append(waits, max(row.StartedAt.Sub(row.QueuedAt), 0))
		}
		steps = append(steps, activityStep{changedAt: laterTime(row.StartedAt, since), workChange: 1})
		if row.EndedAt != nil {
			steps = append(steps, activityStep{changedAt: *row.EndedAt, workChange: -1})
		}
	}
	if a.SubmittedCount = len(waits); a.SubmittedCount > 0 {
		slices.Sort(waits)
		a.MedianWait = waits[len(waits)/2]
	}
	for _, times := range readTimes {
		a.SlotNoise = max(a.SlotNoise, fleet.RelativeDeviation(times))
	}
	if held, all := usedSlotTime(steps, at); all > 0 {
		a.BusyShare, a.MeanSlotUptime = held.Seconds()/all.Seconds(), all/time.Duration(len(up))
	}
	return a
}

// activityStep is a change at a time: a slot starts, or work begins or ends.
type activityStep struct {
	changedAt  time.Time
	workChange int
	slotChange int
}

// usedSlotTime returns how long work used slots until a time, and how long slots existed. Work in excess of the slots
// is being built or waits for a slot.
func usedSlotTime(steps []activityStep, until time.Time) (held, up time.Duration) {
	slices.SortFunc(steps, func(a, b activityStep) int { return a.changedAt.Compare(b.changedAt) })
	works, slots := 0, 0
	for i, s := range steps {
		next := until
		if i+1 < len(steps) {
			next = steps[i+1].changedAt
		}
		works, slots = works+s.workChange, slots+s.slotChange
		span := max(next.Sub(s.changedAt), 0)
		held, up = held+time.Duration(min(works, slots))*span, up+time.Duration(slots)*span
	}
	return held, up
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
