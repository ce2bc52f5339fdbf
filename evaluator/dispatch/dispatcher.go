package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"warpboard/models"
	"warpboard/models/fleet"
	"warpboard/models/work"
)

const (
	pollEvery   = time.Second // the longest that a missed wake-up can delay a run
	guestsEvery = 5 * time.Minute
	sweepEvery  = time.Hour
)

// Dispatcher answers workers: it hands out work, stores their reports, and then notifies watchers (queue.Desk). Its Run announces
// waiting work, preempts follow-ups for it, and takes work back from workers that are gone.
//
// watch belongs to the goroutine of Run, and heard to that of Sync; all else is safe for all goroutines. Each process of a site has
// a Dispatcher: the transactions keep them out of each other's way.
type Dispatcher struct {
	store  *models.Store
	queue  Queue
	notify Notifier
	log    *slog.Logger
	now    func() time.Time
	wake   chan struct{}
	errors atomic.Int64 // passes that failed
	watch  watch
	heard  map[string]*heard // by worker
}

// NewDispatcher makes a Dispatcher; queue.Queue.Serve has it answer, and Run starts the rest.
func NewDispatcher(store *models.Store, queue Queue, notify Notifier, log *slog.Logger) *Dispatcher {
	return &Dispatcher{
		store: store, queue: queue, notify: notify, log: log, now: time.Now,
		wake: make(chan struct{}, 1), watch: newWatch(time.Now()), heard: map[string]*heard{},
	}
}

// Wake makes Run look for work at once: after a submission, a heartbeat, a result. It never blocks.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Errors is how many passes have failed.
func (d *Dispatcher) Errors() int64 { return d.errors.Load() }

// Run watches until ctx ends, and sweeps the store now and then.
// Failures of the database or the queue are logged and tried again.
func (d *Dispatcher) Run(ctx context.Context) error {
	poll, guests, sweep := time.NewTicker(pollEvery), time.NewTicker(guestsEvery), time.NewTicker(sweepEvery)
	defer poll.Stop()
	defer guests.Stop()
	defer sweep.Stop()
	for {
		now := time.Now()
		d.watch.looks(now)
		if err := d.pass(ctx, now); err != nil && ctx.Err() == nil {
			// A pass that failed is repeated after pollEvery at the latest; nothing is carried over from it.
			d.errors.Add(1)
			d.log.Error("looking at the queue", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.wake:
		case <-poll.C:
		case <-guests.C:
			if err := d.dismissGuests(ctx, time.Now()); err != nil && ctx.Err() == nil {
				d.log.Error("dismissing silent workers", "err", err)
			}
		case <-sweep.C:
			if err := d.store.Sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
				d.log.Error("sweeping", "err", err)
			}
		}
	}
}

// dismissGuests disconnects workers that joined and have been silent for too long.
func (d *Dispatcher) dismissGuests(ctx context.Context, now time.Time) error {
	silent, err := d.store.Fleet.RevokeSilentGuests(ctx, now)
	for _, worker := range silent {
		d.queue.Kick(worker)
	}
	return err
}

// pass announces work that could begin, takes back lost attempts, and preempts follow-ups that block others. It decides on
// the state that it read at its beginning. If that has changed since, the store refuses (Conflict, or not Accepted), and the
// next pass sees the change. Errors are collected, so that one attempt does not block the others.
func (d *Dispatcher) pass(ctx context.Context, now time.Time) error {
	ready, live, workers, err := d.read(ctx, now)
	if err != nil {
		d.watch.resetClock(now)
	}
	if err != nil || len(ready)+len(live) == 0 {
		return err
	}
	slots := liveSlots(workers, d.watch.started, now)
	loads := loadsOf(ready, live)
	var errs []error
	for _, r := range ready {
		if loads[r.Device].attempts <= slots[r.Device].Usable {
			errs = append(errs, d.queue.WorkFor(r.Device))
		}
	}
	// Taking back comes before all else that writes: it looks how long a write takes.
	errs = append(errs, d.takeBack(ctx, d.watch.lost(live, workers, now), now), d.store.HurryLegs(ctx, now))
	// A profile takes minutes, and someone watches the work that waits. All follow-ups of the device are preempted at once, however
	// few wait: they are queued again, and begin again where there is room.
	for _, a := range live {
		if a.Priority < work.PriorityFollowUp || !loads[a.Device].exceeds(slots[a.Device].Usable) {
			continue
		}
		errs = append(errs, d.follow(d.store.Work.PreemptAttempt(ctx, a.ID)))
	}
	return errors.Join(errs...)
}

// read gives what could begin on devices that are not paused, what is live, and the workers.
func (d *Dispatcher) read(ctx context.Context, now time.Time) (ready []work.Ready, live []work.LiveAttempt, workers []fleet.Worker, err error) {
	if ready, err = d.store.Work.Ready(ctx, now); err != nil {
		return
	}
	if live, err = d.store.Work.LiveAttempts(ctx); err != nil {
		return
	}
	if len(ready)+len(live) == 0 { // each second of a site that rests
		if _, known := d.store.Fleet.Lately(now); known {
			return
		}
	}
	if workers, err = d.store.Fleet.Workers(ctx); err != nil {
		return
	}
	pauses, err := d.store.Fleet.Pauses(ctx)
	ready = slices.DeleteFunc(ready, func(r work.Ready) bool { _, paused := pauses[r.Device]; return paused })
	return ready, live, workers, err
}

// load is what wants the slots of a device.
type load struct {
	attempts int // live ones
	people   int // work of people that waits, and attempts that are no follow-ups
	all      int // both
}

func loadsOf(ready []work.Ready, live []work.LiveAttempt) map[string]load {
	loads := map[string]load{}
	for _, r := range ready {
		loads[r.Device] = load{people: r.People, all: r.People}
	}
	for _, a := range live {
		l := loads[a.Device]
		l.attempts, l.all = l.attempts+1, l.all+1
		if a.Priority < work.PriorityFollowUp {
			l.people++
		}
		loads[a.Device] = l
	}
	return loads
}

// exceeds reports whether people want more slots than are left beside follow-ups: profiles, legs of confirmations, reruns and
// baselines.
func (l load) exceeds(slots int) bool { return l.all > slots && l.people > 0 }

// takeBack gives up attempts because of infrastructure errors; their work waits again. Where the database takes no writes, the
// workers seemed silent because no one could note what they said: nothing is taken back then.
func (d *Dispatcher) takeBack(ctx context.Context, lost map[string]loss, now time.Time) error {
	if len(lost) == 0 {
		return nil
	}
	// The question whether the database writes is asked only when something would be given up: a loss costs a run one of
	// its three lives.
	begun := time.Now()
	err := d.store.CanWrite(ctx)
	if took := time.Since(begun); err != nil || took > d.watch.writeFor {
		d.log.Warn("the database was slow to write or failed: workers get time to be heard again", "took", took, "err", err)
		d.watch.resetClock(now.Add(took))
		return err
	}
	var errs []error
	for attemptID, lost := range lost {
		out, err := d.store.Work.FailAttempt(ctx, attemptID, lost.reason, lost.counts)
		if err == nil && out.Accepted {
			d.log.Warn("attempt taken back", "attempt", attemptID, "reason", lost.reason, "retried", out.Retried)
		}
		errs = append(errs, d.follow(out, err)) // it may only have been silent: a unit is not held for a result that no one takes
	}
	return errors.Join(errs...)
}
