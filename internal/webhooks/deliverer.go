package webhooks

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"warpboard/models"
	"warpboard/models/fleet"
	hooks "warpboard/models/webhooks"
	"warpboard/models/work"
)

const (
	lookEvery, remindEvery = time.Second, time.Minute
	// mostAtOnce requests of this process are under way. Half of them are kept for the site's webhooks, and one person's have atOnce at most,
	// so that slow receivers hold up neither the site nor other people.
	mostAtOnce, ofSite, atOnce = 24, 12, 3
	// silentFor is when a worker counts as lost: longer than a site's restart, during which no heartbeat arrives. It is
	// longer than the limit after which the site gives up attempts (fleet.WorkerTimeout): a wrong alarm there costs a run a
	// retry, here a person's sleep.
	silentFor = 30 * time.Second
	// claimFor is after when a try that no one ended is made again.
	// Far longer than a try can last, so that a try under way is never made twice at once; and how late a delivery is
	// after a process died with it.
	claimFor = 6 * answerIn
)

// Config has the parts of a Deliverer.
type Config struct {
	Store   *models.Store
	Allowed []netip.Prefix // networks that the site's webhooks may reach although they are not public
	OfAll   []netip.Prefix // the same for people's, too: for tests, whose receivers are on this machine
	Roots   *x509.CertPool // whose certificates are believed; nil: the system's
	Version string
	// Message says in one text what a body says, for chats, to a person; 0: to all.
	Message func(body []byte, reader int64) (string, error)
	Log     *slog.Logger
	Every   time.Duration    // how often it looks; 0: each second
	Answer  time.Duration    // how long a receiver may take; 0: ten seconds
	Now     func() time.Time // nil: time.Now
}

// Deliverer turns events into deliveries, and sends them.
//
// Run's goroutine looks and claims; each try has its own goroutine, in trying. mu guards now and is never held during a
// call. started and now belong to this process: each of a site's processes delivers, and claims keep them apart.
//
// States of a delivery, in the database: due; claimed until a time (ClaimDelivery), which reads as due again after it;
// ended, or due later (EndTry). A receiver may get an event twice, with the same id; it never misses one after a crash.
type Deliverer struct {
	Config
	sender   sender
	started  time.Time
	reminded time.Time // when remind ran last
	trying   sync.WaitGroup

	mu  sync.Mutex
	now map[int64]int // tries under way, by whose webhook
}

// New makes a Deliverer; Run starts it.
func New(cfg Config) *Deliverer {
	cfg.Every, cfg.Answer = cmp.Or(cfg.Every, lookEvery), cmp.Or(cfg.Answer, answerIn)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Deliverer{Config: cfg, sender: newSender(cfg), started: cfg.Now(), now: map[int64]int{}}
}

// Run delivers until ctx ends. What is under way then is sent again by the process that delivers next.
func (d *Deliverer) Run(ctx context.Context) error {
	defer d.trying.Wait()
	tick := time.NewTicker(d.Every)
	defer tick.Stop()
	for {
		if err := d.look(ctx, d.Now()); err != nil && ctx.Err() == nil {
			d.Log.Error("delivering to webhooks", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look is one pass.
func (d *Deliverer) look(ctx context.Context, at time.Time) error {
	// A failure of one does not stop the others; it is repeated a second later.
	watched := d.watch(ctx, at)
	reminded := d.remind(ctx, at)
	_, spread := d.Store.Webhooks.SpreadEvents(ctx)
	return errors.Join(watched, reminded, spread, d.sendDue(ctx, at))
}

// remind finds deadlines that are near, once a minute.
func (d *Deliverer) remind(ctx context.Context, at time.Time) error {
	if at.Sub(d.reminded) < remindEvery {
		return nil
	}
	d.reminded = at
	return d.Store.Remind(ctx)
}

// watch finds workers that are silent and work that waits.
func (d *Deliverer) watch(ctx context.Context, at time.Time) error {
	if at.Sub(d.started) < silentFor { // workers were not heard while the site was away
		return nil
	}
	workers, err := d.Store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	waits, err := d.Store.Work.Waits(ctx)
	if err != nil {
		return err
	}
	pauses, err := d.Store.Fleet.Pauses(ctx)
	if err != nil {
		return err
	}
	waits = slices.DeleteFunc(waits, func(w work.Waiting) bool { _, paused := pauses[w.Device]; return paused })
	return d.Store.Webhooks.Watch(ctx, silent(workers, at), longWaits(waits), at)
}

func silent(workers []fleet.Worker, at time.Time) (list []hooks.Silent) {
	for _, w := range workers {
		if w.Stopping || at.Sub(w.SeenAt) < silentFor {
			continue
		}
		lost := hooks.Silent{Worker: w.Name, Seen: w.SeenAt, Devices: []string{}}
		for _, slot := range w.Slots {
			if !slices.Contains(lost.Devices, slot.Device) {
				lost.Devices = append(lost.Devices, slot.Device)
			}
		}
		list = append(list, lost)
	}
	return list
}

func longWaits(waits []work.Waiting) (list []hooks.Wait) {
	for _, w := range waits {
		list = append(list, hooks.Wait{Device: w.Device, Waiting: w.Work, Oldest: w.Oldest})
	}
	return list
}

// sendDue begins tries as far as there is room.
func (d *Deliverer) sendDue(ctx context.Context, at time.Time) error {
	due, err := d.Store.Webhooks.DueDeliveries(ctx, at, d.busy(), ofSite, mostAtOnce*8)
	if err != nil {
		return err
	}
	// More are read than there is room for, so that a person's backlog does not fill the list and hide everyone else.
	d.sort(due)
	for _, delivery := range due {
		if !d.enter(delivery.UserID) {
			continue
		}
		claimed, err := d.Store.Webhooks.ClaimDelivery(ctx, delivery, at.Add(claimFor))
		// Not claimed: another process was quicker, or the delivery is gone.
		if err != nil || !claimed {
			d.leave(delivery.UserID)
			if err != nil {
				return err
			}
			continue
		}
		d.trying.Go(func() {
			defer d.leave(delivery.UserID)
			d.try(ctx, delivery)
		})
	}
	return nil
}

func (d *Deliverer) try(ctx context.Context, delivery hooks.DueDelivery) {
	tried := d.sender.send(ctx, delivery, d.Now())
	// Without a note the try does not count as one, and the receiver is not blamed for the site's restart.
	if ctx.Err() != nil && tried.Problem != "" {
		return // the site stops: the claim ends, and it is sent again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerIn)
	defer cancel()
	if err := d.Store.Webhooks.EndTry(ctx, delivery, tried); err != nil {
		d.Log.Error("a delivery to a webhook cannot be noted: it is sent again", "delivery", delivery.ID, "err", err)
	}
}

// room is how many tries an owner's webhooks may have at once.
func room(userID int64) int {
	if userID == 0 {
		return ofSite
	}
	return atOnce
}

// busy lists the owners that may begin no try.
func (d *Deliverer) busy() (list []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for userID, n := range d.now {
		if n >= room(userID) {
			list = append(list, userID)
		}
	}
	return list
}

// sort puts first whose owner has the fewest tries under way: who has none comes before the next of a backlog.
func (d *Deliverer) sort(due []hooks.DueDelivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(due, func(a, b hooks.DueDelivery) int {
		return cmp.Compare(a.Place+d.now[a.UserID], b.Place+d.now[b.UserID])
	})
}

// enter takes room for a try, unless this owner's webhooks or all people's together have theirs.
func (d *Deliverer) enter(userID int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	// 0 is the site's own webhooks; the rest is people's.
	people := -d.now[0]
	for _, n := range d.now {
		people += n
	}
	if userID != 0 && people >= mostAtOnce-ofSite || d.now[userID] >= room(userID) {
		return false
	}
	d.now[userID]++
	return true
}

func (d *Deliverer) leave(userID int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now[userID]--; d.now[userID] == 0 {
		delete(d.now, userID)
	}
}
