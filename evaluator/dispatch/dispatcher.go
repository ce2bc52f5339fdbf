package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/work"
)

const (
	// It is also how often the lease is renewed, and must stay well below leaseFor.
	pollEvery  = time.Second // the longest that a missed wake-up can delay a run
	sweepEvery = time.Hour
)

// Dispatcher sends waiting work to the queue in fair order, no more than free slots can take
// soon, and takes work back from workers that are gone.
//
// watch, hints, lease and offers belong to the goroutine of Run alone. Wake, Errors and the functions of cancel.go may be
// called by anybody. Several processes of a site run one each; the lease says which of them sends a device's work.
type Dispatcher struct {
	store  *models.Store
	jobs   Jobs
	notify Notifier
	log    *slog.Logger
	wake   chan struct{}
	errors atomic.Int64 // passes that failed
	watch  watch
	hints  hints
	lease  lease
	offers map[string][]string // by device: the live workers that take jobs for it, as the last pass saw them
}

// NewDispatcher makes a Dispatcher; Run starts it.
func NewDispatcher(store *models.Store, jobs Jobs, notify Notifier, log *slog.Logger) *Dispatcher {
	return &Dispatcher{
		store: store, jobs: jobs, notify: notify, log: log,
		wake: make(chan struct{}, 1), watch: newWatch(time.Now()), hints: newHints(),
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

// Run dispatches until ctx ends, tells workers of tasks before they are submitted to, and sweeps the store now and then.
// Failures of the database or the queue are logged and tried again.
func (d *Dispatcher) Run(ctx context.Context) error {
	poll, sweep := time.NewTicker(pollEvery), time.NewTicker(sweepEvery)
	defer poll.Stop()
	defer sweep.Stop()
	defer d.letGo(ctx)
	for {
		if err := d.look(ctx, time.Now()); err != nil && ctx.Err() == nil {
			// A pass that failed is repeated after pollEvery at the latest; nothing is carried over from it.
			d.errors.Add(1)
			d.log.Error("dispatching", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.wake:
		case <-poll.C:
			if err := d.prepare(ctx, time.Now()); err != nil && ctx.Err() == nil {
				d.log.Error("telling workers of tasks", "err", err)
			}
		case <-sweep.C:
			if err := d.sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
				d.log.Error("sweeping", "err", err)
			}
		}
	}
}

// sweep removes old data, and disconnects workers that joined and have been silent for too long.
func (d *Dispatcher) sweep(ctx context.Context, now time.Time) error {
	silent, err := d.store.Fleet.RevokeSilentGuests(ctx, now)
	for _, worker := range silent {
		d.jobs.Kick(worker)
	}
	return errors.Join(err, d.store.Sweep(ctx, now))
}

// look is a pass that knows how long ago the last one was.
func (d *Dispatcher) look(ctx context.Context, now time.Time) error {
	d.watch.looks(now)
	return d.pass(ctx, now)
}

// pass takes back what is lost, then fills the queue: of the devices that no other process of the site has. It decides by what
// it read at its beginning, and by what it began itself; what has changed since then is refused by the guards of the store
// (Conflict, or not Accepted) and seen by the next pass. Devices and attempts that fail do not keep others from their turn:
// errors are collected.
func (d *Dispatcher) pass(ctx context.Context, now time.Time) error {
	workers, err := d.store.Fleet.Workers(ctx)
	if err != nil {
		d.watch.resetClock(now)
		return err
	}
	live, err := d.store.Work.LiveAttempts(ctx)
	if err != nil {
		return err
	}
	pauses, err := d.store.Fleet.Pauses(ctx)
	if err != nil {
		return err
	}
	slots := liveSlots(workers, d.watch.started, now)
	if err := d.holdAt(ctx, devicesOf(slots, live), now); err != nil {
		return err
	}
	d.offers = offers(workers, d.watch.started, now)
	errs := []error{d.store.HurryLegs(ctx, now), d.takeBack(ctx, d.ours(d.watch.lost(live, workers, slots, now), live), now)}
	// Attempts on devices of another process are its business. Those that were just taken back are still among the rest:
	// this pass counts them as if they held a slot, which errs on the side of sending too little, and takeBack wakes the
	// next one.
	live = slices.DeleteFunc(live, func(a work.LiveAttempt) bool { return !d.lease.held[a.Device] })
	for _, a := range live {
		if a.PublishedAt == nil && a.TakenAt == nil { // a process died between the two, or the queue may have lost it (QueueMayBeEmpty)
			errs = append(errs, d.publish(ctx, a.Attempt))
		}
	}
	for device, n := range slots {
		if _, paused := pauses[device]; paused || !d.lease.held[device] {
			continue
		}
		begun, err := d.fill(ctx, device, capacity(device, n, live), rerunRoom(device, n, live), now)
		live, errs = append(live, begun...), append(errs, err)
	}
	return errors.Join(append(errs, d.preemptProfiles(ctx, slots, live))...)
}

// preemptProfiles stops what follows ranked runs on devices where others wait for a slot: profiles, legs of confirmations and
// reruns, and baselines. A profile takes minutes, and somebody watches the work that waits.
func (d *Dispatcher) preemptProfiles(ctx context.Context, slots map[string]int, live []work.LiveAttempt) error {
	var errs []error
	for _, a := range live {
		if a.Priority < work.PriorityFollowUp || !overloaded(a.Device, slots[a.Device], live) {
			continue
		}
		// All of them that are in the way go at once, not as many as others wait for: they are queued again, and fill
		// sends back what fits.
		out, err := d.store.Work.PreemptAttempt(ctx, a.ID)
		if err == nil && out.Accepted {
			announce(d.notify, out)
			err = d.stop(ctx, a.ID)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// overloaded reports whether more attempts than the device has slots are live, one of them no profile.
func overloaded(device string, slots int, live []work.LiveAttempt) bool {
	all, others := 0, 0
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

// capacity is how many more jobs a device may have in the queue: one for each free slot, and one so
// that a slot that comes free finds the next job waiting.
func capacity(device string, slots int, live []work.LiveAttempt) int {
	if slots == 0 {
		return 0
	}
	// Every live attempt counts, taken or not. The one that waits is built on a GPU while another runs (slots.newSlot).
	n := slots + 1
	for _, a := range live {
		if a.Device == device {
			n--
		}
	}
	return max(n, 0)
}

// rerunRoom is how many more runs a device may measure again: one slot is always left for people. Where there is only one,
// a rerun has it while nobody else wants it.
func rerunRoom(device string, slots int, live []work.LiveAttempt) int {
	room := max(slots-1, 1)
	for _, a := range live {
		if a.Device == device && a.Priority == work.PriorityRerun {
			room--
		}
	}
	return room
}

// fill sends up to n units of work to the queue of a device, no more than reruns of them runs that are measured again. It
// returns the attempts that it began, for preemptProfiles: what is in their way would keep them waiting until the next pass.
func (d *Dispatcher) fill(ctx context.Context, device string, n, reruns int, now time.Time) (begun []work.LiveAttempt, err error) {
	if n == 0 {
		return nil, nil
	}
	next, err := d.store.Work.NextWork(ctx, device, n, now)
	if err != nil {
		return nil, err
	}
	for i, unit := range next {
		// n-i is the room that is left, this unit included: the last place is the one beyond the slots.
		if unit.Priority >= work.PriorityFollowUp && n-i < 2 {
			break // a profile or a baseline takes a free slot, and never the place of the run that comes next
		}
		if unit.Priority == work.PriorityRerun {
			if reruns--; reruns < 0 {
				break // they are the last in the order
			}
		}
		attempt, err := d.store.Work.StartAttempt(ctx, unit.Ref())
		if db.KindOf(err) == db.Conflict {
			continue // cancelled a moment ago
		}
		if err != nil {
			return begun, err
		}
		begun = append(begun, work.LiveAttempt{Attempt: attempt, Device: device, Priority: unit.Priority})
		// The attempt stays live and unpublished; the next pass publishes it. It takes room (capacity), so that a queue that
		// is down leaves no more of them than a device has slots, and one.
		if err := d.publish(ctx, attempt); err != nil {
			return begun, err
		}
	}
	if len(next) > 0 {
		d.notify.QueueChanged()
	}
	return begun, nil
}

// takeBack gives up attempts because of infrastructure errors; their work waits again. Where the database takes no writes, the
// workers seemed silent because nobody could note what they said: nothing is taken back then.
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
		// The worker may only have been silent. Stopping it keeps a unit from being held for a result that nobody takes.
		errs = append(errs, d.stop(ctx, attemptID))
		d.Wake() // the capacities of this pass still count it
	}
	return errors.Join(errs...)
}
