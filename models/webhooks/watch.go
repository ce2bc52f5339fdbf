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

// SilentWorker is a worker without recent heartbeats.
type SilentWorker struct {
	Worker  string    `json:"worker"`
	Devices []string  `json:"devices"`
	Seen    time.Time `json:"last_seen"`
}

// WaitingWork is waiting work for a device with workers.
type WaitingWork struct {
	Device  string    `json:"device"`
	Waiting int       `json:"waiting"`
	Oldest  time.Time `json:"oldest_since"`
}

// reportedState is the reported state that still holds.
type reportedState struct {
	Silent []string `json:"silent"` // workers
	Long   []string `json:"long"`   // webhook/device
}

// Watch compares workers and waits with the reported state, and stores changes as events. It does not report workers
// that were silent before the first webhook existed. Several processes may watch: inside its transaction, each sees the
// others' reports.
func (w *Webhooks) Watch(ctx context.Context, silent []SilentWorker, waits []WaitingWork, at time.Time) error {
	look := func(tx *gorm.DB) (observation, error) { return observe(tx, silent, waits, at) }
	if seen, err := look(w.db.Read(ctx)); err != nil || !seen.fresh {
		return err // the usual case, without a transaction
	}
	return w.db.Write(ctx, func(tx *gorm.DB) error {
		seen, err := look(tx)
		if err != nil || !seen.fresh {
			return err
		}
		if seen.unwanted { // the next listener starts over
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

// observation is the state at a time, with the events to report.
type observation struct {
	fresh    bool // it differs from the stored state
	unwanted bool // no webhook wants these events
	now      reportedState
	events   []WebhookEvent
}

func observe(tx *gorm.DB, silent []SilentWorker, waits []WaitingWork, at time.Time) (s observation, err error) {
	var hooks []Webhook
	if err := tx.Where("user_id = 0 and disabled_at is null").Order("id").Find(&hooks).Error; err != nil {
		return s, db.ReadError(err, "webhooks")
	}
	hooks = slices.DeleteFunc(hooks, func(h Webhook) bool { return !h.Wants(WorkerLost) && !h.Wants(WaitLong) })
	was, err := db.JSONSettings[reportedState](tx.Where("key = ?", watchKey), watchKey)
	if err != nil {
		return s, err
	}
	before, known := was[""]
	if s.unwanted = len(hooks) == 0; s.unwanted {
		s.fresh = known
		return s, nil
	}
	s.now, s.events = compare(before, known, hooks, silent, waits, at)
	s.fresh = !known || !slices.Equal(s.now.Silent, before.Silent) || !slices.Equal(s.now.Long, before.Long)
	return s, nil
}

func compare(before reportedState, known bool, hooks []Webhook, silent []SilentWorker, waits []WaitingWork, at time.Time) (now reportedState, events []WebhookEvent) {
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
					WaitingWork
					Limit int `json:"limit_seconds"`
				}{wait, hook.WaitSeconds}})
			}
		}
	}
	return now, events
}
