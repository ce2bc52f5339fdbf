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
	passInterval, remindInterval = time.Second, time.Minute
	// maxTriesOf limits the concurrent requests of this process. Half of them are reserved for the site's webhooks, and
	// each person's webhooks have at most maxTriesPerPerson, so that slow receivers delay neither the site nor other
	// people.
	maxTries, reservedForSite, maxTriesPerPerson = 24, 12, 3
	// lostWorkerTimeout is the time after which a silent worker is reported as lost: longer than a restart of the site,
	// during which no heartbeat arrives, and longer than fleet.WorkerTimeout: a false alarm there costs a run a retry,
	// here it wakes a person.
	lostWorkerTimeout = 30 * time.Second
	// claimTimeout is the time after which a claimed try is repeated if its process died. It is far longer than a try
	// can last, so that a running try is never repeated; it is also the delay of a delivery after such a death.
	claimTimeout = 6 * answerTimeout
)

// WebhookConfig configures a Deliverer.
type WebhookConfig struct {
	Loop
	AllowedForSite   []netip.Prefix // non-public networks that the site's webhooks may reach
	AllowedForPeople []netip.Prefix // the same for people's webhooks; for tests with receivers on this machine
	RootCAs          *x509.CertPool // trusted authorities; nil for the system's
	Version          string
	// ChatMessage describes a body in one text for chats, for the given reader; 0 means everyone.
	ChatMessage   func(body []byte, reader int64) (string, error)
	AnswerTimeout time.Duration // time limit of a receiver; 0 for ten seconds
}

// Deliverer turns events into deliveries, and sends them.
//
// Run's goroutine finds and claims deliveries; each try has its own goroutine, in trying. mu guards now and is never
// held during a call. started and now belong to this process: each of a site's processes delivers, and claims keep them
// from sending a delivery twice.
//
// States of a delivery in the database: due; claimed until a time (ClaimDelivery), after which it counts as due again;
// ended, or due later (EndTry). A receiver may get an event twice, with the same ID, but never misses one after a
// crash.
type Deliverer struct {
	WebhookConfig
	sender       webhookSender
	startedAt    time.Time
	remindedAt   time.Time // last run of remind
	runningTries sync.WaitGroup

	mu           sync.Mutex
	triesByOwner map[int64]int // number of running tries, by owner
}

// NewDeliverer returns a Deliverer; call Run.
func NewDeliverer(cfg WebhookConfig) *Deliverer {
	cfg.AnswerTimeout = cmp.Or(cfg.AnswerTimeout, answerTimeout)
	return &Deliverer{
		WebhookConfig: cfg,
		sender:        newSender(cfg),
		startedAt:     cfg.currentTime(),
		triesByOwner:  map[int64]int{},
	}
}

// Run delivers until ctx ends. Tries that are running then are repeated by the next process.
func (d *Deliverer) Run(ctx context.Context) error {
	defer d.runningTries.Wait()
	return d.repeat(ctx, passInterval, "delivering to webhooks", func() error { return d.runPass(ctx, d.currentTime()) })
}

// runPass makes one pass.
func (d *Deliverer) runPass(ctx context.Context, at time.Time) error {
	// An error of one does not stop the others; the next pass, a second later, repeats it.
	watched := d.watchWorkers(ctx, at)
	reminded := d.remind(ctx, at)
	_, spread := d.Store.Webhooks.SpreadEvents(ctx)
	return errors.Join(watched, reminded, spread, d.sendDue(ctx, at))
}

// remind finds deadlines that are near, once a minute.
func (d *Deliverer) remind(ctx context.Context, at time.Time) error {
	if at.Sub(d.remindedAt) < remindInterval {
		return nil
	}
	d.remindedAt = at
	return d.Store.AddDeadlineNotices(ctx)
}

// watchWorkers finds silent workers and work that waits.
func (d *Deliverer) watchWorkers(ctx context.Context, at time.Time) error {
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
	return d.Store.Webhooks.Watch(ctx, silentWorkers(workers, at), longWaitsOf(waits), at)
}

func silentWorkers(workers []fleet.Worker, at time.Time) (list []webhooks.SilentWorker) {
	for _, w := range workers {
		if w.Stopping || at.Sub(w.SeenAt) < lostWorkerTimeout {
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

func longWaitsOf(waits []work.WaitingWork) (list []webhooks.WaitingWork) {
	for _, w := range waits {
		list = append(list, webhooks.WaitingWork{Device: w.Device, WaitingCount: w.Work, OldestSince: w.Oldest})
	}
	return list
}

// sendDue starts as many tries as the limits allow.
func (d *Deliverer) sendDue(ctx context.Context, at time.Time) error {
	due, err := d.Store.Webhooks.DueDeliveries(ctx, at, d.busyOwners(), reservedForSite, maxTries*8)
	if err != nil {
		return err
	}
	// More deliveries are read than can be sent, so that one person's backlog does not hide everyone else's.
	d.sortByOwner(due)
	for _, delivery := range due {
		if !d.reserveOwner(delivery.UserID) {
			continue
		}
		claimed, err := d.Store.Webhooks.ClaimDelivery(ctx, delivery, at.Add(claimTimeout))
		// Not claimed: another process was faster, or the delivery was deleted.
		if err != nil || !claimed {
			d.releaseOwner(delivery.UserID)
			if err != nil {
				return err
			}
			continue
		}
		d.runningTries.Go(func() {
			defer d.releaseOwner(delivery.UserID)
			d.tryDelivery(ctx, delivery)
		})
	}
	return nil
}

func (d *Deliverer) tryDelivery(ctx context.Context, delivery webhooks.DueDelivery) {
	tried := d.sender.send(ctx, delivery, d.currentTime())
	// Without a record, the try does not count, and the receiver is not blamed for the site's restart.
	if ctx.Err() != nil && tried.Problem != "" {
		return // the site stops: the claim expires, and it is sent again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if err := d.Store.Webhooks.EndTry(ctx, delivery, tried); err != nil {
		d.Log.Error("a delivery to a webhook cannot be noted: it is sent again", "delivery", delivery.ID, "err", err)
	}
}

// maxTriesOf returns the maximum number of concurrent tries for an owner's webhooks.
func maxTriesOf(userID int64) int {
	if userID == 0 {
		return reservedForSite
	}
	return maxTriesPerPerson
}

// busyOwners returns the owners for whom no try may start.
func (d *Deliverer) busyOwners() (list []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for userID, n := range d.triesByOwner {
		if n >= maxTriesOf(userID) {
			list = append(list, userID)
		}
	}
	return list
}

// sortByOwner orders deliveries by the number of running tries of their owners, fewest first.
func (d *Deliverer) sortByOwner(due []webhooks.DueDelivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(due, func(a, b webhooks.DueDelivery) int {
		return cmp.Compare(a.OwnerPosition+d.triesByOwner[a.UserID], b.OwnerPosition+d.triesByOwner[b.UserID])
	})
}

// reserveOwner reserves a try for the owner, unless the owner's webhooks or all people's together have reached their
// limit.
func (d *Deliverer) reserveOwner(userID int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Key 0 is the site's own webhooks; the others are people's.
	people := -d.triesByOwner[0]
	for _, n := range d.triesByOwner {
		people += n
	}
	if userID != 0 && people >= maxTries-reservedForSite || d.triesByOwner[userID] >= maxTriesOf(userID) {
		return false
	}
	d.triesByOwner[userID]++
	return true
}

func (d *Deliverer) releaseOwner(userID int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.triesByOwner[userID]--; d.triesByOwner[userID] == 0 {
		delete(d.triesByOwner, userID)
	}
}
