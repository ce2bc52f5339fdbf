package outbox

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"warpboard/models/fleet"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

const (
	deliveryPassInterval, reminderInterval = time.Second, time.Minute
	// maxTries limits the concurrent requests of this process; triesReservedForSite of them are only for webhooks of
	// the site, and each person has at most maxTriesPerPerson, so that slow receivers do not delay the site or other
	// people.
	maxTries, triesReservedForSite, maxTriesPerPerson = 24, 12, 3
	// lostWorkerTimeout is the time without a heartbeat after which a worker is reported as lost: longer than a restart
	// of the site, during which no heartbeat arrives, and longer than fleet.WorkerTimeout, because a false alarm of
	// that one only repeats a run, while this one notifies a person.
	lostWorkerTimeout = 30 * time.Second
	// claimTimeout is the time after which a claimed try is repeated, because its process has ended. It is much longer
	// than a try can last, so that a try in progress is never repeated; it is also the delay of the delivery in this
	// case.
	claimTimeout = 6 * answerTimeout
)

// WebhookConfig configures a WebhookDeliverer.
type WebhookConfig struct {
	LoopConfig
	AllowedForSite   []netip.Prefix // non-public networks that the site's webhooks may reach
	AllowedForPeople []netip.Prefix // the same for people's webhooks; for tests with receivers on this machine
	RootCAs          *x509.CertPool // trusted authorities; nil for the system's
	Version          string
	// ChatMessage describes a body as one text for a chat. reader is a person, or 0 for everyone.
	ChatMessage   func(body []byte, reader int64) (string, error)
	AnswerTimeout time.Duration // time limit of a receiver; 0 for ten seconds
}

// WebhookDeliverer turns events into deliveries, and sends these.
//
// The goroutine of Run finds and claims deliveries; each try has a separate goroutine, which tryGroup counts. mu guards
// triesByOwner and is never held during a call. Both are only about this process: each process of a site sends
// deliveries, and claims keep two processes from sending the same one.
//
// A delivery in the database is due; or claimed until a time (ClaimDelivery), after which it is due again; or ended, or
// due later (RecordTryResult). A receiver may get an event twice, with the same ID, but loses none in a crash.
type WebhookDeliverer struct {
	WebhookConfig
	sender           webhookSender
	startedAt        time.Time
	lastReminderPass time.Time // last run of createReminders
	tryGroup         sync.WaitGroup

	mu           sync.Mutex
	triesByOwner map[int64]int // number of running tries, by owner
}

// NewWebhookDeliverer returns a WebhookDeliverer; call Run.
func NewWebhookDeliverer(cfg WebhookConfig) *WebhookDeliverer {
	cfg.AnswerTimeout = cmp.Or(cfg.AnswerTimeout, answerTimeout)
	return &WebhookDeliverer{
		WebhookConfig: cfg,
		sender:        newSender(cfg),
		startedAt:     cfg.currentTime(),
		triesByOwner:  map[int64]int{},
	}
}

// Run sends deliveries until ctx ends. Another process repeats the tries that are then in progress.
func (d *WebhookDeliverer) Run(ctx context.Context) error {
	defer d.tryGroup.Wait()
	return d.runRepeatedly(ctx, deliveryPassInterval, "delivering to webhooks", func() error { return d.runPass(ctx, d.currentTime()) })
}

// runPass starts all tries that are due, and checks workers and deadlines.
func (d *WebhookDeliverer) runPass(ctx context.Context, at time.Time) error {
	// An error of one function does not stop the others; the next pass, a second later, calls it again.
	watched := d.createWorkerEvents(ctx, at)
	reminded := d.createReminders(ctx, at)
	_, spread := d.Store.Webhooks.CreateDeliveries(ctx)
	return errors.Join(watched, reminded, spread, d.sendDue(ctx, at))
}

// createReminders creates events for deadlines that are near, once a minute.
func (d *WebhookDeliverer) createReminders(ctx context.Context, at time.Time) error {
	if at.Sub(d.lastReminderPass) < reminderInterval {
		return nil
	}
	d.lastReminderPass = at
	return d.Store.AddDeadlineNotices(ctx)
}

// createWorkerEvents creates events for workers without heartbeats and for work that waits too long.
func (d *WebhookDeliverer) createWorkerEvents(ctx context.Context, at time.Time) error {
	if at.Sub(d.startedAt) < lostWorkerTimeout { // heartbeats were missed while the site was down
		return nil
	}
	workers, err := d.Store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	waits, err := d.Store.Work.WaitingDevices(ctx)
	if err != nil {
		return err
	}
	pauses, err := d.Store.Fleet.Pauses(ctx)
	if err != nil {
		return err
	}
	waits = slices.DeleteFunc(waits, func(w work.WaitingWork) bool { _, paused := pauses[w.Device]; return paused })
	return d.Store.Webhooks.WatchWorkersAndQueues(ctx, silentWorkers(workers, at), longWaitingWork(waits), at)
}

func silentWorkers(workers []fleet.Worker, at time.Time) (list []webhooks.SilentWorker) {
	for _, w := range workers {
		if w.HasExited || at.Sub(w.SeenAt) < lostWorkerTimeout {
			continue
		}
		lost := webhooks.SilentWorker{Worker: w.Name, LastSeenAt: w.SeenAt, Devices: []string{}}
		for _, slot := range w.Slots {
			if !slices.Contains(lost.Devices, slot.Device) {
				lost.Devices = append(lost.Devices, slot.Device)
			}
		}
		list = append(list, lost)
	}
	return list
}

func longWaitingWork(waits []work.WaitingWork) (list []webhooks.WaitingWork) {
	for _, w := range waits {
		list = append(list, webhooks.WaitingWork{Device: w.Device, WaitingCount: w.WorkCount,
			OldestSince: w.OldestSince})
	}
	return list
}

// sendDue starts as many tries as the limits allow.
func (d *WebhookDeliverer) sendDue(ctx context.Context, at time.Time) error {
	due, err := d.Store.Webhooks.DueDeliveries(ctx, at, d.ownersAtLimit(), triesReservedForSite, maxTries*8)
	if err != nil {
		return err
	}
	// More deliveries are read than can be sent, so that many deliveries of one person do not hide those of others.
	d.sortByOwner(due)
	for _, delivery := range due {
		if !d.beginOwnerTry(delivery.UserID) {
			continue
		}
		claimed, err := d.Store.Webhooks.ClaimDelivery(ctx, delivery, at.Add(claimTimeout))
		// It is not claimed if another process was faster, or if the delivery was deleted.
		if err != nil || !claimed {
			d.endOwnerTry(delivery.UserID)
			if err != nil {
				return err
			}
			continue
		}
		d.tryGroup.Go(func() {
			defer d.endOwnerTry(delivery.UserID)
			d.tryDelivery(ctx, delivery)
		})
	}
	return nil
}

func (d *WebhookDeliverer) tryDelivery(ctx context.Context, delivery webhooks.DueDelivery) {
	tried := d.sender.send(ctx, delivery, d.currentTime())
	// The try is not stored, so it does not count: the restart of the site is not a failure of the receiver.
	if ctx.Err() != nil && tried.Problem != "" {
		return // the site stops: the claim expires, and it is sent again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if err := d.Store.Webhooks.RecordTryResult(ctx, delivery, tried); err != nil {
		d.Log.Error("a delivery to a webhook cannot be noted: it is sent again", "delivery", delivery.ID, "err", err)
	}
}

// maxTriesOfOwner returns the maximum number of concurrent tries for the webhooks of an owner; 0 is the site.
func maxTriesOfOwner(userID int64) int {
	if userID == 0 {
		return triesReservedForSite
	}
	return maxTriesPerPerson
}

// ownersAtLimit returns the owners for whom no try may start at present.
func (d *WebhookDeliverer) ownersAtLimit() (list []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for userID, n := range d.triesByOwner {
		if n >= maxTriesOfOwner(userID) {
			list = append(list, userID)
		}
	}
	return list
}

// sortByOwner sorts deliveries by the number of tries in progress of their owners, fewest first.
func (d *WebhookDeliverer) sortByOwner(due []webhooks.DueDelivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(due, func(a, b webhooks.DueDelivery) int {
		return cmp.Compare(a.OwnerPosition+d.triesByOwner[a.UserID], b.OwnerPosition+d.triesByOwner[b.UserID])
	})
}

// beginOwnerTry counts a try for an owner. It returns false if the webhooks of the owner, or those of all people
// together, have reached their limit.
func (d *WebhookDeliverer) beginOwnerTry(userID int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Key 0 is the site; all other keys are people.
	people := -d.triesByOwner[0]
	for _, n := range d.triesByOwner {
		people += n
	}
	if userID != 0 && people >= maxTries-triesReservedForSite || d.triesByOwner[userID] >= maxTriesOfOwner(userID) {
		return false
	}
	d.triesByOwner[userID]++
	return true
}

func (d *WebhookDeliverer) endOwnerTry(userID int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.triesByOwner[userID]--; d.triesByOwner[userID] == 0 {
		delete(d.triesByOwner, userID)
	}
}
