package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Delivery is one message to one webhook, and the state of sending it.
type Delivery struct {
	ID          int64
	WebhookID   int64
	MessageID   string // the same in every try, so that a receiver can detect repetitions
	Kind        EventKind
	Body        string // JSON
	Tries       int
	Status      int    // status of the receiver's last answer; 0 if there was none
	Error       string // reason why the last try failed
	DurationMS  int64  `gorm:"column:took_ms"`
	CreatedAt   time.Time
	NextTryAt   *time.Time `gorm:"column:next_at"` // time of the next try; nil if there is none
	TriedAt     *time.Time
	DeliveredAt *time.Time
}

// TableName returns the table of deliveries.
func (Delivery) TableName() string { return "webhook_deliveries" }

// retryDelays are the times between tries. The last try is a day and a half after the first.
var retryDelays = [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 8 * time.Hour, 24 * time.Hour}

const (
	// maxFailures is the number of consecutive failures after which a webhook is switched off.
	maxFailures = 5
	// deliveryRetention is the time for which the log keeps deliveries.
	deliveryRetention = 30 * 24 * time.Hour
	// maxDeliveriesPerWebhook limits the deliveries in the log of one webhook, except those not sent yet.
	maxDeliveriesPerWebhook = 1000
	// maxWaitingTests limits the unsent manual tests and redeliveries of one webhook, and maxManualTriesPerHour their
	// number per hour.
	maxWaitingTests, maxManualTriesPerHour = 5, 30
)

// DueDelivery is a delivery with the data needed for sending it.
type DueDelivery struct {
	Delivery
	UserID        int64 // owner of the webhook; 0 for the site's
	URL           string
	Secret        string
	OwnerPosition int `gorm:"column:place"` // position among the due deliveries of the same owner, from 1
}

// DueDeliveries lists due deliveries of owners that are not busy: the site's first, then the first of each person, then
// the second of each, and so on, so that one person's deliveries do not delay others. most limits the deliveries per
// owner.
func (w *Webhooks) DueDeliveries(
	ctx context.Context, at time.Time, busy []int64, most, limit int,
) (list []DueDelivery, err error) {
	if len(busy) == 0 {
		busy = []int64{-1} // an unused id: SQL has no empty list
	}
	err = w.db.Read(ctx).Raw(`select * from (
			select d.*, h.user_id, h.url, h.secret, row_number() over (partition by h.user_id order by d.next_at, d.id) as place
			from webhook_deliveries d join webhooks h on h.id = d.webhook_id
			where d.next_at <= ? and h.disabled_at is null and h.user_id not in ?
		) due where place <= ? order by case when user_id = 0 then 0 else 1 end, place, next_at, id limit ?`, db.NormalizeTime(at), busy, most, limit).Scan(&list).Error
	return list, db.ReadError(err, "deliveries that are due")
}

// ClaimDelivery postpones the next try of a delivery, so that no other process sends it. It returns false if another
// process has claimed it. If this process stops before RecordTryResult, the delivery is sent again later.
func (w *Webhooks) ClaimDelivery(ctx context.Context, d DueDelivery, until time.Time) (bool, error) {
	res := w.db.WriteStatement(ctx).Model(&Delivery{}).Where("id = ? and tries = ? and next_at = ?", d.ID, d.Tries, db.NormalizeTime(*d.NextTryAt)).Update("next_at", db.NormalizeTime(until))
	return res.RowsAffected == 1, db.WriteError(res.Error, "delivery %d", d.ID)
}

// TryResult is the result of one try to send a delivery.
type TryResult struct {
	At           time.Time
	Duration     time.Duration `gorm:"column:took"`
	Status       int
	Problem      string // empty if it was delivered
	ReceiverGone bool   `gorm:"column:gone"` // the receiver answered with status 410 (gone)
}

// RecordTryResult stores the result of a try and the time of the next one. After too many failures it switches the
// webhook off.
func (w *Webhooks) RecordTryResult(ctx context.Context, d DueDelivery, t TryResult) error {
	at := db.NormalizeTime(t.At)
	row := map[string]any{"tries": d.Tries + 1, "status": t.Status, "error": db.CutText(db.SanitizeText(t.Problem), 300), "took_ms": t.Duration.Milliseconds(), "tried_at": at, "next_at": nil}
	over := t.Problem == "" || t.ReceiverGone || d.Tries >= len(retryDelays)
	switch {
	case t.Problem == "":
		row["delivered_at"] = at
	case !over:
		row["next_at"] = db.NormalizeTime(at.Add(retryDelays[d.Tries]))
	}
	return w.db.Write(ctx, func(tx *gorm.DB) error {
		var hook Webhook
		if found := tx.Limit(1).Find(&hook, d.WebhookID); found.Error != nil || found.RowsAffected == 0 {
			// the webhook was deleted during the try, with its deliveries
			return db.ReadError(found.Error, "webhook %d", d.WebhookID)
		}
		if hook.DisabledAt != nil { // the webhook was switched off during the try: nothing more is sent
			row["next_at"], over = nil, true
		}
		if err := tx.Model(&Delivery{}).Where("id = ?", d.ID).Updates(row).Error; err != nil {
			return db.WriteError(err, "delivery %d", d.ID)
		}
		if !over || hook.DisabledAt != nil {
			return nil
		}
		return countFailure(tx, hook, t)
	})
}

// countFailure counts a failed delivery of the webhook, and switches the webhook off after maxFailures.
func countFailure(tx *gorm.DB, hook Webhook, t TryResult) error {
	change := map[string]any{"failures": 0}
	if t.Problem != "" {
		hook.ConsecutiveFailures++
		change["failures"] = hook.ConsecutiveFailures
	}
	switch {
	case t.ReceiverGone:
		change["disabled_at"], change["disabled_why"] = db.Now(), "The receiver answered with 410 (gone)."
	case hook.ConsecutiveFailures >= maxFailures:
		change["disabled_at"], change["disabled_why"] = db.Now(), fmt.Sprintf("%d deliveries in a row failed. The last one: %s", hook.ConsecutiveFailures, db.CutText(t.Problem, 200))
	}
	if err := tx.Model(&hook).Updates(change).Error; err != nil || change["disabled_at"] == nil {
		return db.WriteError(err, "webhook %d", hook.ID)
	}
	err := tx.Model(&Delivery{}).Where("webhook_id = ? and next_at is not null", hook.ID).
		Updates(map[string]any{"next_at": nil, "error": "The webhook was switched off."}).Error
	return db.WriteError(err, "deliveries of webhook %d", hook.ID)
}

// WebhookDeliveries lists the deliveries of a webhook with IDs below before (0 means all), newest first.
func (w *Webhooks) WebhookDeliveries(
	ctx context.Context, actor accounts.User, hookID, before int64, limit int,
) (list []Delivery, err error) {
	if _, err := findWebhook(w.db.Read(ctx), actor, hookID); err != nil {
		return nil, err
	}
	q := w.db.Read(ctx).Where("webhook_id = ?", hookID).Order("id desc").Limit(limit)
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	return list, db.ReadError(q.Find(&list).Error, "deliveries of webhook %d", hookID)
}

// Redeliver queues a delivery again with the same ID.
func (w *Webhooks) Redeliver(ctx context.Context, actor accounts.User, hookID, id int64) (d Delivery, err error) {
	return d, w.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkSendable(tx, actor, hookID); err != nil {
			return err
		}
		if err := tx.Where("id = ? and webhook_id = ?", id, hookID).Take(&d).Error; err != nil {
			return db.ReadError(err, "delivery %d", id)
		}
		if d.NextTryAt != nil && d.NextTryAt.Before(db.Now()) {
			return nil // the delivery waits to be sent already
		}
		if err := countManualTry(tx, hookID); err != nil {
			return err
		}
		now := db.Now()
		d.NextTryAt = &now
		return db.WriteError(tx.Model(&d).Update("next_at", now).Error, "delivery %d", id)
	})
}

// TestWebhook queues a test message.
func (w *Webhooks) TestWebhook(ctx context.Context, actor accounts.User, hookID int64) error {
	return w.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkSendable(tx, actor, hookID); err != nil {
			return err
		}
		var waiting int64
		err := tx.Model(&Delivery{}).Where("webhook_id = ? and kind = ? and next_at is not null", hookID, TestEvent).Count(&waiting).Error
		if err != nil {
			return db.ReadError(err, "deliveries")
		}
		if waiting >= maxWaitingTests {
			return db.Errorf(db.TooMany, "%d tests of this webhook are already waiting.", waiting)
		}
		if err := countManualTry(tx, hookID); err != nil {
			return err
		}
		body, err := json.Marshal(deliveryBody{TestEvent, db.Now(),
			map[string]any{"url": w.siteURL, "webhook": hookID}})
		if err != nil {
			return fmt.Errorf("writing a test: %w", err)
		}
		return queueDelivery(tx, hookID, TestEvent, body)
	})
}

// manualTriesSetting returns the key prefix of the settings with the times of a webhook's manual tests and
// redeliveries.
func manualTriesSetting(hookID int64) string { return fmt.Sprintf("webhooks.asked.%d", hookID) }

// countManualTry counts a manual test or redelivery. It returns an error if there were too many in the last hour.
func countManualTry(tx *gorm.DB, hookID int64) error {
	key, now := manualTriesSetting(hookID), db.Now()
	was, err := db.ReadJSONSettings[[]time.Time](tx.Where("key = ?", key), key)
	if err != nil {
		return err
	}
	asked := slices.DeleteFunc(was[""], func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if len(asked) >= maxManualTriesPerHour {
		return db.Errorf(db.TooMany, "This webhook had %d tests and redeliveries within an hour, the maximum; try again in %s.",
			len(asked), (time.Hour - now.Sub(asked[0])).Round(time.Minute))
	}
	return db.PutJSONSetting(tx, key, append(asked, now))
}

func checkSendable(tx *gorm.DB, actor accounts.User, hookID int64) error {
	hook, err := findWebhook(tx, actor, hookID)
	if err == nil && hook.DisabledAt != nil {
		return db.Errorf(db.Conflict, "Webhook %d is switched off; switch it on first.", hookID)
	}
	return err
}

// SweepDeliveries deletes ended deliveries that are old, or exceed the limit of their webhook.
func (w *Webhooks) SweepDeliveries(ctx context.Context, at time.Time) error {
	err := w.db.WriteStatement(ctx).Where("next_at is null and created_at < ?", db.NormalizeTime(at.Add(-deliveryRetention))).Delete(&Delivery{}).Error
	if err != nil {
		return db.WriteError(err, "old deliveries")
	}
	err = w.db.WriteStatement(ctx).Exec(`delete from webhook_deliveries where next_at is null and id in (select id from (
			select id, row_number() over (partition by webhook_id order by id desc) as place from webhook_deliveries
		) log where place > ?)`, maxDeliveriesPerWebhook).Error
	return db.WriteError(err, "deliveries beyond the newest")
}
