package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// watchStateKey is the key of the setting that stores what was reported about workers and queues, so that a restart
// does not repeat reports.
const watchStateKey = "webhooks.watch"

// SilentWorker is a worker without recent heartbeats.
type SilentWorker struct {
	Worker     string    `json:"worker"`
	Devices    []string  `json:"devices"`
	LastSeenAt time.Time `json:"last_seen" gorm:"column:seen"`
}

// WaitingWork describes work that waits for a device although the device has workers.
type WaitingWork struct {
	Device       string    `json:"device"`
	WaitingCount int       `json:"waiting" gorm:"column:waiting"`
	OldestSince  time.Time `json:"oldest_since" gorm:"column:oldest"`
}

// reportedState has the conditions that were reported and have not ended.
type reportedState struct {
	SilentWorkers []string `json:"silent" gorm:"column:silent"` // names of workers
	LongWaits     []string `json:"long" gorm:"column:long"`     // "webhook ID/device"
}

// WatchWorkersAndQueues compares the state of workers and queues with the reported state, and stores changes as events.
// It does not report workers that were silent before the first webhook existed. Several processes may call it, because
// its transaction reads what others have reported.
func (w *Webhooks) WatchWorkersAndQueues(
	ctx context.Context, silent []SilentWorker, waits []WaitingWork, at time.Time,
) error {
	look := func(tx *gorm.DB) (queueObservation, error) { return observeState(tx, silent, waits, at) }
	if seen, err := look(w.db.Read(ctx)); err != nil || !seen.hasChanged {
		return err // the usual case, without a transaction
	}
	return w.db.Write(ctx, func(tx *gorm.DB) error {
		seen, err := look(tx)
		if err != nil || !seen.hasChanged {
			return err
		}
		if seen.noWebhookWantsEvents { // forget the reported state: a later webhook begins without it
			_, err := db.DeleteSetting(tx, watchStateKey)
			return err
		}
		for _, e := range seen.events {
			if err := StoreEvent(tx, e); err != nil {
				return err
			}
		}
		return db.PutJSONSetting(tx, watchStateKey, seen.newState)
	})
}

// queueObservation is the state of workers and queues at a time, with the events that report its changes.
type queueObservation struct {
	hasChanged           bool // the state differs from the stored one
	noWebhookWantsEvents bool // no webhook wants these events
	newState             reportedState
	events               []WebhookEvent
}

func observeState(
	tx *gorm.DB, silent []SilentWorker, waits []WaitingWork, at time.Time,
) (s queueObservation, err error) {
	var hooks []Webhook
	if err := tx.Where("user_id = 0 and disabled_at is null").Order("id").Find(&hooks).Error; err != nil {
		return s, db.ReadError(err, "webhooks")
	}
	hooks = slices.DeleteFunc(hooks, func(h Webhook) bool { return !h.WantsKind(WorkerLost) && !h.WantsKind(WaitLong) })
	was, err := db.ReadJSONSettings[reportedState](tx.Where("key = ?", watchStateKey), watchStateKey)
	if err != nil {
		return s, err
	}
	before, known := was[""]
	if s.noWebhookWantsEvents = len(hooks) == 0; s.noWebhookWantsEvents {
		s.hasChanged = known
		return s, nil
	}
	s.newState, s.events = compareStates(before, known, hooks, silent, waits, at)
	s.hasChanged = !known || !slices.Equal(s.newState.SilentWorkers, before.SilentWorkers) || !slices.Equal(s.newState.LongWaits, before.LongWaits)
	return s, nil
}

func compareStates(
	before reportedState, known bool, hooks []Webhook, silent []SilentWorker, waits []WaitingWork, at time.Time,
) (now reportedState, events []WebhookEvent) {
	for _, s := range silent {
		now.SilentWorkers = append(now.SilentWorkers, s.Worker)
		if known && !slices.Contains(before.SilentWorkers, s.Worker) {
			events = append(events, WebhookEvent{Kind: WorkerLost, Detail: s})
		}
	}
	for _, hook := range hooks {
		for _, wait := range waits {
			limit := time.Duration(hook.LongWaitSeconds) * time.Second
			if !hook.WantsKind(WaitLong) || at.Sub(wait.OldestSince) < limit {
				continue
			}
			name := fmt.Sprintf("%d/%s", hook.ID, wait.Device)
			now.LongWaits = append(now.LongWaits, name)
			if !slices.Contains(before.LongWaits, name) {
				events = append(events, WebhookEvent{Kind: WaitLong, WebhookID: hook.ID, Detail: struct {
					WaitingWork
					Limit int `json:"limit_seconds"`
				}{wait, hook.LongWaitSeconds}})
			}
		}
	}
	return now, events
}
