package work

import (
	"cmp"
	"context"
	"slices"
	"time"

	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/sentinels"
)

// Activity is what a device did in the last day.
type Activity struct {
	Work   int           // runs and evaluations that a worker had
	Busy   float64       // part of the time of all slots; building counts, too. 0: no slot is here now
	Waited int           // of Work: what people submitted in this day
	Wait   time.Duration // the median of these, until a worker took it the last time
	Noise  float64       // of the noisiest unit's sentinels, see sentinels.Noise; 0: not known
}

const activitySpan = 24 * time.Hour

// activityRow is a run, an evaluation or a sentinel; the latter has a unit.
type activityRow struct {
	Device    string
	Unit      string
	QueuedAt  time.Time
	StartedAt time.Time
	EndedAt   *time.Time
	Asked     int // 1: a person requested it, and waits
	ReadNS    float64
}

// Activities reads what each device did in the day before a time. slots are those that are here now: one that came or
// went within the day makes Busy smaller or larger than it was.
func (l *LifeCycle) Activities(ctx context.Context, at time.Time, slots map[string]fleet.DeviceSlots) (map[string]Activity, error) {
	since, devices := db.Time(at.Add(-activitySpan)), []string{}
	for device := range slots {
		devices = append(devices, device)
	}
	var list []activityRow
	err := l.db.Read(ctx).Raw(`
		select device, '' as unit, queued_at, started_at, ended_at, case when mode <> 'baseline' and profile_of is null then 1 else 0 end as asked, 0.0 as read_ns
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
	activities := make(map[string]Activity, len(rows))
	for device, of := range rows {
		activities[device] = activityOf(of, since, at, slots[device].Usable)
	}
	return activities, nil
}

func activityOf(rows []activityRow, since, at time.Time, slots int) (a Activity) {
	var steps []step
	var waits []time.Duration
	units := map[string][]float64{}
	for _, row := range rows {
		if row.Unit != "" {
			units[row.Unit] = append(units[row.Unit], row.ReadNS)
			continue
		}
		a.Work++
		if row.Asked == 1 && !row.QueuedAt.Before(since) {
			waits = append(waits, max(row.StartedAt.Sub(row.QueuedAt), 0))
		}
		steps = append(steps, step{later(row.StartedAt, since), 1})
		if row.EndedAt != nil {
			steps = append(steps, step{*row.EndedAt, -1})
		}
	}
	if a.Waited = len(waits); a.Waited > 0 {
		slices.Sort(waits)
		a.Wait = waits[len(waits)/2]
	}
	for _, times := range units {
		a.Noise = max(a.Noise, sentinels.Noise(times))
	}
	if slots > 0 {
		a.Busy = held(steps, at, slots).Seconds() / (float64(slots) * activitySpan.Seconds())
	}
	return a
}

// step is a beginning or an end of work.
type step struct {
	at time.Time
	by int
}

// held is for how long work held slots, until a time. What is more than the slots is being built, or waits for one.
func held(steps []step, until time.Time, slots int) (sum time.Duration) {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(b.by, a.by)) })
	works := 0
	for i, s := range steps {
		next := until
		if i+1 < len(steps) {
			next = steps[i+1].at
		}
		works += s.by
		sum += time.Duration(min(works, slots)) * max(next.Sub(s.at), 0)
	}
	return sum
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
