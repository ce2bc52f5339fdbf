package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/models/db"
)

// maxEventsPerPass limits the events that one transaction processes.
const maxEventsPerPass = 100

// WebhookEvent is an event for which no deliveries were created yet.
type WebhookEvent struct {
	ID             int64
	Kind           EventKind
	WebhookID      int64 // the only receiver; 0 for all that want the event
	RunID          int64 // run that ended, or took the record
	UserID         int64 // owner of the run
	FormerHolderID int64 `gorm:"column:other_id"` // former holder of the record
	Detail         any   `gorm:"serializer:json"`
	CreatedAt      time.Time
}

// StoreEvent stores an event in the transaction that causes it. It stores nothing if no webhook is enabled and the
// event causes no notices.
func StoreEvent(tx *gorm.DB, e WebhookEvent) error {
	if !e.needsInboxes() {
		var listening int64
		if err := tx.Model(&Webhook{}).Where("disabled_at is null").Limit(1).Count(&listening).Error; err != nil || listening == 0 {
			return db.ReadError(err, "webhooks")
		}
	}
	e.CreatedAt = db.Now()
	return db.WriteError(tx.Create(&e).Error, "event for webhooks")
}

// confirmedEventsSQL selects events about a new rank or record of a run that a confirmation is still measuring.
const confirmedEventsSQL = "kind in ('place.taken', 'record.taken') and run_id in (select challenger_id from orders where purpose = 'confirm' and ended_at is null)"

// needsInboxes reports whether the event causes notices (Callbacks.NotifyInboxes).
func (e WebhookEvent) needsInboxes() bool {
	return e.Kind == RunEnded || e.Kind == PlaceTaken || e.Kind == CommentMade || e.Kind == DeadlineCame
}

// PreviousRecord is the previous record and its holder, as a part of the event record.taken.
type PreviousRecord struct {
	User    Person  `json:"user"`
	ScoreNS float64 `json:"score_ns"`
}

// Person identifies a person in a message.
type Person struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// deliveryBody is the body of a delivery.
type deliveryBody struct {
	Type      EventKind `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// runMessageData describes a run in a message.
type runMessageData struct {
	Run                 int64           `json:"run"`
	URL                 string          `json:"url"`
	Submission          int64           `json:"submission"`
	Task                string          `json:"task"`
	Version             int             `json:"version"`
	Device              string          `json:"device"`
	Mode                string          `json:"mode"`
	State               string          `json:"state"`
	InfrastructureError bool            `json:"infrastructure_error" gorm:"column:ours"`
	ScoreNS             *float64        `json:"score_ns" gorm:"column:score_ns"`
	User                Person          `json:"user" gorm:"-"`
	Previous            *PreviousRecord `json:"previous,omitempty" gorm:"-"`
	Outcome             any             `json:"outcome,omitempty" gorm:"-"`

	UserID   int64  `json:"-"`
	UserName string `json:"-"`
}

// CreateDeliveries creates the deliveries of stored events for each webhook that receives them, and returns the number
// of processed events. An event whose data cannot be read is deleted, so that it does not block later ones; the error
// names it. Events about the new rank of a run wait until its confirmation has ended.
func (w *Webhooks) CreateDeliveries(ctx context.Context) (n int, err error) {
	var ids []int64
	if err := w.db.Read(ctx).Model(&WebhookEvent{}).Where("not ("+confirmedEventsSQL+")").Order("id").Limit(maxEventsPerPass).
		Pluck("id", &ids).Error; err != nil || len(ids) == 0 {
		return 0, db.ReadError(err, "events for webhooks")
	}
	var dropped error
	err = w.db.Write(ctx, func(tx *gorm.DB) error {
		var hooks []Webhook
		err := tx.Where("disabled_at is null and user_id not in (select id from users where blocked_at is not null)").Order("id").Find(&hooks).Error
		if err != nil {
			return db.ReadError(err, "webhooks")
		}
		for _, id := range ids {
			var e WebhookEvent
			problem := tx.Limit(1).Find(&e, id).Error // an event whose detail cannot be decoded is an error, too
			gone := tx.Delete(&WebhookEvent{ID: id})
			if gone.Error != nil {
				return db.WriteError(gone.Error, "event for webhooks")
			}
			if gone.RowsAffected == 0 {
				continue // another process has processed this event
			}
			if problem == nil { // a nested transaction: PostgreSQL continues after an error only from a savepoint
				problem = tx.Transaction(func(tx *gorm.DB) error { return w.spreadEvent(tx, e, hooks) })
			}
			if problem != nil {
				dropped = errors.Join(dropped, fmt.Errorf("event %d for webhooks is dropped: %w", id, problem))
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(ids), dropped
}

func (w *Webhooks) spreadEvent(tx *gorm.DB, e WebhookEvent, hooks []Webhook) error {
	if e.needsInboxes() && w.callbacks.NotifyInboxes != nil {
		if err := w.queueDeliveries(tx, e, hooks); err != nil {
			return err
		}
	}
	if e.Kind == RecordTaken {
		var records int64
		err := tx.Table("records").Where("run_id = ?", e.RunID).Limit(1).Count(&records).Error
		if err != nil || records == 0 {
			return db.ReadError(err, "record of run %d", e.RunID)
		}
	}
	// message by owner of the webhook (0 for the site), because an owner may see more than others
	bodies := map[int64][]byte{}
	for _, hook := range hooks {
		if !e.isReceivedBy(hook) {
			continue
		}
		if e.RunID != 0 && hook.UserID != 0 && hook.UserID != e.UserID {
			// The former holder of a record may not be allowed to see the task any more.
			if sees, err := w.callbacks.CanSeeRun(tx, hook.UserID, e.RunID); err != nil {
				return err
			} else if !sees {
				continue
			}
		}
		if bodies[hook.UserID] == nil {
			data, err := w.eventData(tx, e, hook.UserID)
			if err != nil || data == nil {
				return err
			}
			if bodies[hook.UserID], err = json.Marshal(deliveryBody{e.Kind, e.CreatedAt, data}); err != nil {
				return fmt.Errorf("writing the event %d: %w", e.ID, err)
			}
		}
		if err := queueDelivery(tx, hook.ID, e.Kind, bodies[hook.UserID]); err != nil {
			return err
		}
	}
	return nil
}

// queueDeliveries adds notices about an event to inboxes, and queues deliveries for the webhooks of their owners.
func (w *Webhooks) queueDeliveries(tx *gorm.DB, e WebhookEvent, hooks []Webhook) error {
	list, err := w.callbacks.NotifyInboxes(tx, e)
	if err != nil {
		return err
	}
	for _, one := range list {
		for _, hook := range hooks {
			if hook.UserID != one.UserID || !hook.WantsKind(one.Kind) {
				continue
			}
			body, err := json.Marshal(deliveryBody{one.Kind, e.CreatedAt, one.Data})
			if err != nil {
				return fmt.Errorf("writing the event %d: %w", e.ID, err)
			}
			if err := queueDelivery(tx, hook.ID, one.Kind, body); err != nil {
				return err
			}
		}
	}
	return nil
}

// isReceivedBy reports whether a webhook receives an event. A webhook of the site receives all events of its kinds; a
// person's receives those about their own runs, and about records that they set or lost. No webhook receives events
// from before its creation.
func (e WebhookEvent) isReceivedBy(hook Webhook) bool {
	if e.WebhookID != 0 && e.WebhookID != hook.ID || !hook.WantsKind(e.Kind) || e.CreatedAt.Before(hook.CreatedAt) {
		return false
	}
	return hook.UserID == 0 || hook.UserID == e.UserID || hook.UserID == e.FormerHolderID
}

// eventData returns the data of an event for a webhook of a person (receiver) or of the site (0); nil if the subject
// was deleted.
func (w *Webhooks) eventData(tx *gorm.DB, e WebhookEvent, receiver int64) (any, error) {
	if e.RunID == 0 {
		return e.Detail, nil
	}
	var runs []runMessageData
	err := tx.Raw(`select r.id as run, r.submission_id as submission, t.slug as task, v.number as version, r.device, r.mode, r.state, r.ours, r.score_ns,
			u.id as user_id, u.name as user_name
		from runs r join task_versions v on v.id = r.version_id join tasks t on t.id = v.task_id join users u on u.id = r.user_id
		where r.id = ?`, e.RunID).Scan(&runs).Error
	if err != nil || len(runs) == 0 {
		return nil, db.ReadError(err, "run %d", e.RunID)
	}
	run := runs[0]
	run.URL, run.User = fmt.Sprintf("%s/runs/%d", w.siteURL, run.Run), Person{run.UserID, run.UserName}
	if run.Outcome, err = w.callbacks.OutcomeFor(tx, receiver, run.Run); err != nil {
		return nil, err
	}
	if e.FormerHolderID != 0 {
		if run.Previous, err = previousRecord(tx, e); err != nil {
			return nil, err
		}
	}
	return run, nil
}

func previousRecord(tx *gorm.DB, e WebhookEvent) (*PreviousRecord, error) {
	was := PreviousRecord{User: Person{ID: e.FormerHolderID}}
	if score, ok := e.Detail.(float64); ok {
		was.ScoreNS = score
	}
	err := tx.Table("users").Select("name").Where("id = ?", e.FormerHolderID).Scan(&was.User.Name).Error
	return &was, db.ReadError(err, "person %d", e.FormerHolderID)
}

// queueDelivery creates a delivery that is due at once.
func queueDelivery(tx *gorm.DB, hookID int64, kind EventKind, body []byte) error {
	now := db.Now()
	return db.WriteError(tx.Create(&Delivery{
		WebhookID: hookID, MessageID: "msg_" + uuid.NewString(), Kind: kind, Body: string(body), CreatedAt: now, NextTryAt: &now,
	}).Error, "delivery")
}
