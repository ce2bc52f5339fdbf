package pages

import (
	"context"
	"sync"
	"time"

	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/views"
)

// activityAge is how long the devices' activity of a day is cached: reading it takes all runs of the day, and open pages
// request it with each change of a queue.
const activityAge = time.Minute

// activity is what the devices did in the last day, as it was read last.
type activity struct {
	sync.Mutex
	read time.Time
	of   map[string]work.Activity
}

// addActivity says of each device what it did in the last day.
func (p *Pages) addActivity(ctx context.Context, workers []fleet.Worker, queues []views.DeviceQueue) error {
	p.activity.Lock()
	defer p.activity.Unlock()
	if now := p.site.Now(); p.activity.of == nil || now.Sub(p.activity.read) > activityAge {
		all, err := p.site.Store.Work.Activities(ctx, now, fleet.UpSince(workers, now))
		if err != nil {
			return err
		}
		p.activity.read, p.activity.of = now, all
	}
	for i, q := range queues {
		queues[i].Day = p.activity.of[q.Device.Device]
	}
	return nil
}
