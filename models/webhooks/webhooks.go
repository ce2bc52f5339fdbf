package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// EventKind is the kind of an event, as messages name it.
type EventKind string

// Kinds of events.
const (
	RunEnded    EventKind = "run.ended"    // a run requested by a person has ended
	RecordTaken EventKind = "record.taken" // a board has a new 1st place
	WorkerLost  EventKind = "worker.lost"  // a worker sends no heartbeats, but has not left
	WaitLong    EventKind = "wait.long"    // work has waited for a device for longer than the webhook's limit
	TestEvent   EventKind = "test"         // requested by a person

	PlaceLost    EventKind = "place.lost"    // another person passed the person on a board
	CommentAdded EventKind = "comment.added" // someone commented in a thread of the person's
	DeadlineNear EventKind = "deadline.near" // a task closes soon

	// Webhooks cannot select these kinds. Callbacks.NotifyInboxes decides who is notified of them.
	PlaceTaken   EventKind = "place.taken"
	CommentMade  EventKind = "comment.made"
	DeadlineCame EventKind = "deadline.came"
)

// PersonalKinds lists the kinds that a person's webhooks can select: about their own runs, records, and notices.
func PersonalKinds() []EventKind {
	return []EventKind{RunEnded, RecordTaken, PlaceLost, CommentAdded, DeadlineNear}
}

// SiteKinds lists the kinds that the site's webhooks can select.
func SiteKinds() []EventKind { return []EventKind{RunEnded, RecordTaken, WorkerLost, WaitLong} }

const (
	maxWebhooksPerPerson = 5
	maxSiteWebhooks      = 50
	maxURLLength         = 500
	// secretPrefix is the prefix of secrets. It and the length of the key follow standardwebhooks.com.
	secretPrefix = "whsec_"
	secretBytes  = 32

	minLongWait, defaultLongWait, maxLongWait = time.Minute, 30 * time.Minute, 7 * 24 * time.Hour
)

// Webhooks reads and stores webhooks in one database.
type Webhooks struct {
	db              *db.DB
	siteURL         string // URL of the site, for links
	allowedNetworks AllowedNetworks
	callbacks       Callbacks
}

// Callbacks has functions of package models that this package cannot import.
type Callbacks struct {
	// CanSeeRun reports whether a person may see a run.
	CanSeeRun func(tx *gorm.DB, userID, runID int64) (bool, error) `gorm:"column:sees"`
	// OutcomeFor returns the outcome of a run on its board for a webhook of a person (receiver) or of the site (0); nil
	// if the run has no rank.
	OutcomeFor func(tx *gorm.DB, receiver, runID int64) (any, error) `gorm:"column:outcome"`
	// NotifyInboxes adds notices about an event to the inboxes of the people concerned, and returns messages for their
	// webhooks.
	NotifyInboxes func(tx *gorm.DB, e WebhookEvent) ([]PersonalMessage, error) `gorm:"column:tell"`
}

// PersonalMessage is a message for the webhooks of one person.
type PersonalMessage struct {
	UserID int64
	Kind   EventKind
	Data   any
}

// AllowedNetworks lists networks that webhooks may connect to although they are not public. URLs in the networks of
// ForSite may use http://.
type AllowedNetworks struct {
	ForSite   []netip.Prefix // the site's webhooks
	ForPeople []netip.Prefix // people's: for tests, whose receivers are on this machine
}

// New returns the webhooks in a database.
func New(database *db.DB, site string, reach AllowedNetworks, rules Callbacks) *Webhooks {
	return &Webhooks{database, site, reach, rules}
}

// Webhook is a URL that receives events.
type Webhook struct {
	ID                  int64
	UserID              int64 // owner; 0 for the site's
	URL                 string
	EventKinds          []EventKind `gorm:"column:events;serializer:json"`
	LongWaitSeconds     int         `gorm:"column:wait_seconds"` // seconds that work waits before the event wait.long
	Secret              string      // key of the signatures
	ConsecutiveFailures int         `gorm:"column:failures"` // number of consecutive failed deliveries
	CreatedAt           time.Time
	DisabledAt          *time.Time
	DisabledReason      string `gorm:"column:disabled_why"`
}

// WantsKind reports whether the webhook receives events of a kind.
func (h Webhook) WantsKind(kind EventKind) bool { return slices.Contains(h.EventKinds, kind) }

// NewWebhook describes a webhook to create.
type NewWebhook struct {
	ForWholeSite bool `gorm:"column:site"` // for the site instead of the person
	URL          string
	EventKinds   []EventKind
	LongWait     time.Duration `gorm:"column:wait"` // wait of work before the event wait.long; 0 for half an hour
}

func (w *Webhooks) checkNew(n NewWebhook) error {
	known := PersonalKinds()
	if n.ForWholeSite {
		known = SiteKinds()
	}
	if len(n.EventKinds) == 0 {
		return db.Errorf(db.Invalid, "Choose at least one event.")
	}
	for _, kind := range n.EventKinds {
		if !slices.Contains(known, kind) {
			return db.Errorf(db.Invalid, "%q is not an event of such a webhook; choose from %s.", kind, JoinEventKinds(known))
		}
	}
	if n.LongWait < minLongWait || n.LongWait > maxLongWait {
		return db.Errorf(db.Invalid, "The limit of a wait is a minute to a week.")
	}
	if n.ForWholeSite {
		return checkURL(n.URL, slices.Concat(w.allowedNetworks.ForSite, w.allowedNetworks.ForPeople), len(w.allowedNetworks.ForSite) > 0)
	}
	return checkURL(n.URL, w.allowedNetworks.ForPeople, false)
}

// checkURL returns an error for a URL that no delivery could reach. Host names are checked when a delivery connects.
func checkURL(text string, allowed []netip.Prefix, plain bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || len(text) > maxURLLength || u.Fragment != "":
		return db.Errorf(db.Invalid, "The address of a webhook is like https://example.org/hook, with at most %d characters.", maxURLLength)
	case u.User != nil:
		return db.Errorf(db.Invalid, "The address of a webhook cannot have a name and password: the receiver checks the signature instead.")
	case u.Scheme != "https" && (u.Scheme != "http" || !plain):
		return db.Errorf(db.Invalid, "The address of a webhook must begin with https://.")
	case NewGuard(allowed).CheckHost(u.Hostname(), cmp.Or(u.Port(), defaultPort(u.Scheme))) != nil:
		return db.Errorf(db.Invalid, "Webhooks reach only public addresses on ports 80, 443, and 1024 and above, not %s.", u.Host)
	}
	return nil
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// JoinEventKinds lists kinds in a sentence.
func JoinEventKinds(kinds []EventKind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}

// CreateWebhook creates a webhook and returns its secret, which is not shown again.
func (w *Webhooks) CreateWebhook(ctx context.Context, actor accounts.User, n NewWebhook) (hook Webhook, err error) {
	hook = Webhook{
		UserID:    actor.ID,
		URL:       strings.TrimSpace(db.SanitizeText(n.URL)),
		CreatedAt: db.Now(),
		Secret:    newSecret(),
	}
	most := int64(maxWebhooksPerPerson)
	if n.ForWholeSite {
		hook.UserID, most = 0, maxSiteWebhooks
	}
	if !actor.SignedIn() {
		return hook, db.Errorf(db.Forbidden, "Sign in to make a webhook.")
	}
	if err := actor.CheckPermission(accounts.ManageWebhook, accounts.OwnerIDs{OwnerID: hook.UserID}); err != nil {
		return hook, err
	}
	if n.LongWait == 0 {
		n.LongWait = defaultLongWait
	}
	n.URL, n.EventKinds = hook.URL, slices.Compact(slices.Sorted(slices.Values(n.EventKinds)))
	if err := w.checkNew(n); err != nil {
		return hook, err
	}
	hook.EventKinds, hook.LongWaitSeconds = n.EventKinds, int(n.LongWait.Seconds())
	return hook, w.db.Write(ctx, func(tx *gorm.DB) error {
		var there int64
		if err := tx.Model(&Webhook{}).Where("user_id = ?", hook.UserID).Count(&there).Error; err != nil {
			return db.ReadError(err, "webhooks")
		}
		if there >= most {
			return db.Errorf(db.Conflict, "There are already %d webhooks, the maximum: delete one first.", there)
		}
		if err := tx.Create(&hook).Error; err != nil {
			return db.WriteError(err, "webhook")
		}
		return hook.writeAuditEntry(tx, actor, "create webhook")
	})
}

func newSecret() string {
	key := make([]byte, secretBytes)
	rand.Read(key) // rand.Read never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// writeAuditEntry adds an action on a webhook to the audit log if the webhook is the site's, or if an admin acts on
// another person's. It records only the host of the URL, which may contain a secret.
func (h Webhook) writeAuditEntry(tx *gorm.DB, actor accounts.User, act string) error {
	if h.UserID == actor.ID {
		return nil
	}
	host := ""
	if u, err := url.Parse(h.URL); err == nil {
		host = u.Host
	}
	return accounts.WriteAudit(tx, actor, act, fmt.Sprintf("webhook %d", h.ID), strings.TrimSpace(host+" "+JoinEventKinds(h.EventKinds)))
}

// Webhooks lists a person's own webhooks, or the site's, oldest first.
func (w *Webhooks) Webhooks(ctx context.Context, actor accounts.User, site bool) (list []Webhook, err error) {
	owner := actor.ID
	if site {
		owner = 0
	}
	if err := actor.CheckPermission(accounts.ManageWebhook, accounts.OwnerIDs{OwnerID: owner}); err != nil {
		return nil, err
	}
	err = w.db.Read(ctx).Where("user_id = ?", owner).Order("id").Find(&list).Error
	return list, db.ReadError(err, "webhooks")
}

// Webhook reads a webhook that the actor may manage.
func (w *Webhooks) Webhook(ctx context.Context, actor accounts.User, id int64) (Webhook, error) {
	return findWebhook(w.db.Read(ctx), actor, id)
}

// findWebhook reads a webhook. It returns NotFound for another person's webhook.
func findWebhook(tx *gorm.DB, actor accounts.User, id int64) (hook Webhook, err error) {
	if err := tx.Take(&hook, id).Error; err != nil {
		return hook, db.ReadError(err, "webhook %d", id)
	}
	if !actor.CanPerform(accounts.ManageWebhook, accounts.OwnerIDs{OwnerID: hook.UserID}) {
		return Webhook{}, db.Errorf(db.NotFound, "There is no webhook %d.", id)
	}
	return hook, nil
}

// DeleteWebhook deletes a webhook and its deliveries.
func (w *Webhooks) DeleteWebhook(ctx context.Context, actor accounts.User, id int64) error {
	return w.changeWebhook(ctx, actor, id, "delete webhook", func(tx *gorm.DB, hook *Webhook) error {
		if err := tx.Where("webhook_id = ?", id).Delete(&Delivery{}).Error; err != nil {
			return db.WriteError(err, "deliveries of webhook %d", id)
		}
		if _, err := db.DeleteSetting(tx, manualTriesSetting(id)); err != nil {
			return err
		}
		return db.WriteError(tx.Delete(hook).Error, "webhook %d", id)
	})
}

// EnableWebhook switches on a webhook that was switched off because deliveries failed. Events from that time are not
// delivered.
func (w *Webhooks) EnableWebhook(ctx context.Context, actor accounts.User, id int64) error {
	return w.changeWebhook(ctx, actor, id, "enable webhook", func(tx *gorm.DB, hook *Webhook) error {
		return db.WriteError(tx.Model(hook).Updates(map[string]any{"disabled_at": nil, "disabled_why": "", "failures": 0}).Error, "webhook %d", id)
	})
}

func (w *Webhooks) changeWebhook(
	ctx context.Context, actor accounts.User, id int64, act string, do func(*gorm.DB, *Webhook) error,
) error {
	return w.db.Write(ctx, func(tx *gorm.DB) error {
		hook, err := findWebhook(tx, actor, id)
		if err != nil {
			return err
		}
		if err := do(tx, &hook); err != nil {
			return err
		}
		return hook.writeAuditEntry(tx, actor, act)
	})
}
