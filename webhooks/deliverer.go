package webhooks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"warpboard/models"
	hooks "warpboard/models/webhooks"
)

const (
	lookEvery = time.Second
	// leaseName is of the one process of the site that delivers; leaseFor is how soon another does after its death.
	leaseName = "site/webhooks"
	leaseFor  = 5 * time.Second
	// mostAtOnce requests are under way, of a person's webhooks atOnce at the most, so that slow receivers hold nobody up.
	mostAtOnce, atOnce = 24, 3
	// silentFor is when a worker counts as lost: longer than a site's restart takes, during which nobody hears it.
	silentFor = 30 * time.Second
	// claimFor is after when a try that nobody ended is made again.
	claimFor = 6 * answerIn
)

// Config is what a Deliverer is made of.
type Config struct {
	Store   *models.Store
	Allowed []netip.Prefix // networks that are dialled although they are not public
	Version string
	Log     *slog.Logger
	Every   time.Duration    // how often it looks; 0: each second
	Answer  time.Duration    // how long a receiver may take; 0: ten seconds
	Now     func() time.Time // nil: time.Now
}

// Deliverer makes deliveries of events, and sends them.
type Deliverer struct {
	Config
	sender  sender
	started time.Time
	trying  sync.WaitGroup

	mu  sync.Mutex
	now map[int64]int // tries under way, by whose webhook
}

// New makes a Deliverer; Run starts it.
func New(cfg Config) *Deliverer {
	cfg.Every, cfg.Answer = cmp.Or(cfg.Every, lookEvery), cmp.Or(cfg.Answer, answerIn)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Deliverer{Config: cfg, sender: newSender(cfg.Allowed, cfg.Version, cfg.Answer), started: cfg.Now(), now: map[int64]int{}}
}

// Run delivers until ctx ends. What is under way then is sent again by whoever delivers next.
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

// look is one pass, of the one process that delivers.
func (d *Deliverer) look(ctx context.Context, at time.Time) error {
	held, err := d.Store.Hold(ctx, []string{leaseName}, leaseFor)
	if err != nil || len(held) == 0 {
		return err
	}
	watched := d.watch(ctx, at)
	_, spread := d.Store.SpreadEvents(ctx)
	return errors.Join(watched, spread, d.sendDue(ctx, at))
}

// watch finds workers that are silent and work that waits.
func (d *Deliverer) watch(ctx context.Context, at time.Time) error {
	if at.Sub(d.started) < silentFor { // workers were not heard while the site was away
		return nil
	}
	workers, err := d.Store.Workers(ctx)
	if err != nil {
		return err
	}
	waits, err := d.Store.Waits(ctx)
	if err != nil {
		return err
	}
	pauses, err := d.Store.Pauses(ctx)
	if err != nil {
		return err
	}
	waits = slices.DeleteFunc(waits, func(w models.Waiting) bool { _, paused := pauses[w.Device]; return paused })
	return d.Store.Watch(ctx, silent(workers, at), longWaits(waits), at)
}

func silent(workers []models.Worker, at time.Time) (list []hooks.Silent) {
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

func longWaits(waits []models.Waiting) (list []hooks.Wait) {
	for _, w := range waits {
		list = append(list, hooks.Wait{Device: w.Device, Waiting: w.Work, Oldest: w.Oldest})
	}
	return list
}

// sendDue begins tries as far as there is room.
func (d *Deliverer) sendDue(ctx context.Context, at time.Time) error {
	due, err := d.Store.DueDeliveries(ctx, at, atOnce, mostAtOnce*2)
	if err != nil {
		return err
	}
	for _, delivery := range due {
		if !d.enter(delivery.UserID) {
			continue
		}
		claimed, err := d.Store.ClaimDelivery(ctx, delivery, at.Add(claimFor))
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
	if ctx.Err() != nil && tried.Problem != "" {
		return // the site stops: the claim ends, and it is sent again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerIn)
	defer cancel()
	if err := d.Store.EndTry(ctx, delivery, tried); err != nil {
		d.Log.Error("a delivery to a webhook cannot be noted: it is sent again", "delivery", delivery.ID, "err", err)
	}
}

// enter takes room for a try, unless this person's webhooks have theirs.
func (d *Deliverer) enter(userID int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := 0
	for _, n := range d.now {
		all += n
	}
	room := atOnce
	if userID == 0 {
		room = mostAtOnce / 2
	}
	if all >= mostAtOnce || d.now[userID] >= room {
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
