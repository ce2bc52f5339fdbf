package dispatch

import (
	"context"
	"errors"
	"log/slog"
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

// Dispatcher announces waiting work to workers, preempts follow-ups for it, and takes work back from workers that are gone.
// Workers fetch work themselves: see Recorder.Next.
//
// watch belongs to the goroutine of Run. Wake, Errors and the functions of cancel.go are safe for all goroutines.
// Each process of a site runs a Dispatcher: the transactions keep them out of each other's way.
type Dispatcher struct {
	store  *models.Store
	jobs   Jobs
	notify Notifier
	log    *slog.Logger
	wake   chan struct{}
	errors atomic.Int64 // passes that failed
	watch  watch
}

// NewDispatcher makes a Dispatcher; Run starts it.
func NewDispatcher(store *models.Store, jobs Jobs, notify Notifier, log *slog.Logger) *Dispatcher {
	return &Dispatcher{
		store: store, jobs: jobs, notify: notify, log: log,
		wake: make(chan struct{}, 1), watch: newWatch(time.Now()),
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
		if err := d.look(ctx, time.Now()); err != nil && ctx.Err() == nil {
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
		d.jobs.Kick(worker)
	}
	return err
}

// look makes a pass and measures how long ago the last one was.
func (d *Dispatcher) look(ctx context.Context, now time.Time) error {
	d.watch.looks(now)
	return d.pass(ctx, now)
}

// pass announces work that could begin, takes back lost attempts, and preempts follow-ups that block others. It decides on
// the state that it read at its beginning. If that has changed since, the store refuses (Conflict, or not Accepted), and the
// next pass sees the change. Errors are collected, so that one attempt does not block the others.
func (d *Dispatcher) pass(ctx context.Context, now time.Time) error {
	ready, err := d.store.Work.Ready(ctx, now)
	if err != nil {
		d.watch.resetClock(now)
		return err
	}
	live, err := d.store.Work.LiveAttempts(ctx)
	if err != nil {
		d.watch.resetClock(now)
		return err
	}
	if len(ready)+len(live) == 0 { // each second of a site that rests
		if _, known := d.store.Fleet.Lately(now); known {
			return nil
		}
	}
	workers, err := d.store.Fleet.Workers(ctx)
	if err != nil {
		d.watch.resetClock(now)
		return err
	}
	pauses, err := d.store.Fleet.Pauses(ctx)
	if err != nil {
		return err
	}
	slots := liveSlots(workers, d.watch.started, now)
	var errs []error
	for _, r := range ready {
		if _, paused := pauses[r.Device]; !paused && count(live, r.Device) <= slots[r.Device] {
			errs = append(errs, d.jobs.WorkFor(r.Device))
		}
	}
	// Taking back comes before all else that writes: it looks how long a write takes.
	errs = append(errs, d.takeBack(ctx, d.watch.lost(live, workers, now), now), d.store.HurryLegs(ctx, now),
		d.preempt(ctx, slots, live, ready, pauses))
	return errors.Join(errs...)
}

func count(live []work.LiveAttempt, device string) (n int) {
	for _, a := range live {
		if a.Device == device {
			n++
		}
	}
	return n
}

// preempt stops what follows ranked runs on devices where others wait for a slot: profiles, legs of confirmations and
// reruns, and baselines. A profile takes minutes, and someone watches the work that waits.
func (d *Dispatcher) preempt(ctx context.Context, slots map[string]int, live []work.LiveAttempt, ready []work.Ready, pauses map[string]fleet.Pause) error {
	var errs []error
	for _, a := range live {
		people := 0
		for _, r := range ready {
			if _, paused := pauses[r.Device]; r.Device == a.Device && !paused {
				people = r.People
			}
		}
		if a.Priority < work.PriorityFollowUp || !overloaded(a.Device, slots[a.Device], live, people) {
			continue
		}
		// All follow-ups of the device are preempted at once, however few wait: they are queued again, and begin again where
		// there is room.
		out, err := d.store.Work.PreemptAttempt(ctx, a.ID)
		if err == nil && out.Accepted {
			announce(d.notify, out)
			d.Wake()
			err = d.jobs.Cancel(a.ID)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// overloaded reports whether people's work waits for a device and, with the live attempts, exceeds its slots.
func overloaded(device string, slots int, live []work.LiveAttempt, people int) bool {
	all, others := people, people
	for _, a := range live {
		if a.Device != device {
			continue
		}
		if all++; a.Priority < work.PriorityFollowUp {
			others++
		}
	}
	return all > slots && others > 0
}

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
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !out.Accepted {
			continue
		}
		d.log.Warn("attempt taken back", "attempt", attemptID, "reason", lost.reason, "retried", out.Retried)
		announce(d.notify, out)
		// The worker may only have been silent. Stopping it keeps a unit from being held for a result that no one takes.
		errs = append(errs, d.jobs.Cancel(attemptID))
		d.Wake() // its work waits again
	}
	return errors.Join(errs...)
}
