package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// watchKey is the setting with the reported state of workers and waits, so that a restart reports nothing twice.
const watchKey = "webhooks.watch"

// Silent is a worker without recent heartbeats.
type Silent struct {
	Worker  string    `json:"worker"`
	Devices []string  `json:"devices"`
	Seen    time.Time `json:"last_seen"`
}

// Wait is waiting work for a device with workers.
type Wait struct {
	Device  string    `json:"device"`
	Waiting int       `json:"waiting"`
	Oldest  time.Time `json:"oldest_since"`
}

// watched is the reported state that still holds.
type watched struct {
	Silent []string `json:"silent"` // workers
	Long   []string `json:"long"`   // webhook/device
}

// Watch compares workers and waits with the reported state, and stores changes as events. It does not report workers
// that were silent before the first webhook existed. Several processes may watch: inside its transaction, each sees the
// others' reports.
func (w *Webhooks) Watch(ctx context.Context, silent []Silent, waits []Wait, at time.Time) error {
	look := func(tx *gorm.DB) (sight, error) { return lookAt(tx, silent, waits, at) }
	if seen, err := look(w.db.Read(ctx)); err != nil || !seen.fresh {
		return err // the usual case, without a transaction
	}
	return w.db.Write(ctx, func(tx *gorm.DB) error {
		seen, err := look(tx)
		if err != nil || !seen.fresh {
			return err
		}
		if seen.unheard { // the next listener starts over
			_, err := db.DeleteSetting(tx, watchKey)
			return err
		}
		for _, e := range seen.events {
			if err := Note(tx, e); err != nil {
				return err
			}
		}
		return db.PutJSON(tx, watchKey, seen.now)
	})
}

// sight is the state at a time, with the events to report.
type sight struct {
	fresh   bool // it differs from the stored state
	unheard bool // no webhook wants these events
	now     watched
	events  []WebhookEvent
}

func lookAt(tx *gorm.DB, silent []Silent, waits []Wait, at time.Time) (s sight, err error) {
	var hooks []Webhook
	if err := tx.Where("user_id = 0 and disabled_at is null").Order("id").Find(&hooks).Error; err != nil {
		return s, db.ReadError(err, "webhooks")
	}
	hooks = slices.DeleteFunc(hooks, func(h Webhook) bool { return !h.Wants(WorkerLost) && !h.Wants(WaitLong) })
	was, err := db.JSONSettings[watched](tx.Where("key = ?", watchKey), watchKey)
	if err != nil {
		return s, err
	}
	before, known := was[""]
	if s.unheard = len(hooks) == 0; s.unheard {
		s.fresh = known
		return s, nil
	}
	s.now, s.events = compare(before, known, hooks, silent, waits, at)
	s.fresh = !known || !slices.Equal(s.now.Silent, before.Silent) || !slices.Equal(s.now.Long, before.Long)
	return s, nil
}

func compare(before watched, known bool, hooks []Webhook, silent []Silent, waits []Wait, at time.Time) (now watched, events []WebhookEvent) {
	for _, s := range silent {
		now.Silent = append(now.Silent, s.Worker)
		if known && !slices.Contains(before.Silent, s.Worker) {
			events = append(events, WebhookEvent{Kind: WorkerLost, Detail: s})
		}
	}
	for _, hook := range hooks {
		for _, wait := range waits {
			limit := time.Duration(hook.WaitSeconds) * time.Second
			if !hook.Wants(WaitLong) || at.Sub(wait.Oldest) < limit {
				continue
			}
			name := fmt.Sprintf("%d/%s", hook.ID, wait.Device)
			now.Long = append(now.Long, name)
			if !slices.Contains(before.Long, name) {
				events = append(events, WebhookEvent{Kind: WaitLong, WebhookID: hook.ID, Detail: struct {
					Wait
					Limit int `json:"limit_seconds"`
				}{wait, hook.WaitSeconds}})
			}
		}
	}
	return now, events
}
