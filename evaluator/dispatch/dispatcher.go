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
	pollInterval        = time.Second // maximum delay of a run after a lost wake-up
	joinedSweepInterval = 5 * time.Minute
	sweepInterval       = time.Hour
)

// Dispatcher handles the requests of workers (queue.Handler): it gives them work, stores their reports, and notifies
// viewers. Run announces waiting work, preempts profiles and reruns for people's work, and requeues the work of lost
// workers.
//
// Only the goroutine of Run uses watch, and only Sync uses workers; everything else is safe for concurrent use. Each
// process of a site has a Dispatcher; transactions coordinate them.
type Dispatcher struct {
	store           *models.Store
	queue           Queue
	notifier        Notifier
	log             *slog.Logger
	now             func() time.Time
	wakeSignal      chan struct{}
	failedPassCount atomic.Int64 // passes that returned an error
	lossDetector    lossDetector
	workerStates    map[string]*workerState // by worker name
}

// NewDispatcher returns a Dispatcher. Pass it to queue.Queue.Serve, and call Run.
func NewDispatcher(store *models.Store, queue Queue, notify Notifier, log *slog.Logger) *Dispatcher {
	return &Dispatcher{
		store: store, queue: queue, notifier: notify, log: log, now: time.Now,
		wakeSignal: make(chan struct{}, 1), lossDetector: newLossDetector(time.Now()), workerStates: map[string]*workerState{},
	}
}

// Wake makes Run check the queue at once, for example after a submission, a heartbeat, or a result. It never blocks.
func (d *Dispatcher) Wake() {
	select {
	case d.wakeSignal <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// FailedPassCount returns the number of failed passes of Run.
func (d *Dispatcher) FailedPassCount() int64 { return d.failedPassCount.Load() }

// Run makes passes over the queue until ctx ends, and periodically deletes old data. Database and queue errors are
// logged, and the next pass retries.
func (d *Dispatcher) Run(ctx context.Context) error {
	poll, guests, sweep := time.NewTicker(pollInterval), time.NewTicker(joinedSweepInterval), time.NewTicker(sweepInterval)
	defer poll.Stop()
	defer guests.Stop()
	defer sweep.Stop()
	for {
		now := time.Now()
		d.lossDetector.beginPass(now)
		if err := d.runPass(ctx, now); err != nil && ctx.Err() == nil {
			// A failed pass leaves no state; it is repeated after at most pollInterval.
			d.failedPassCount.Add(1)
			d.log.Error("looking at the queue", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.wakeSignal:
		case <-poll.C:
		case <-guests.C:
			if err := d.disconnectSilentJoined(ctx, time.Now()); err != nil && ctx.Err() == nil {
				d.log.Error("dismissing silent workers", "err", err)
			}
		case <-sweep.C:
			if err := d.store.DeleteExpired(ctx, time.Now()); err != nil && ctx.Err() == nil {
				d.log.Error("sweeping", "err", err)
			}
		}
	}
}

// disconnectSilentJoined disconnects workers that joined with a token and have been silent for too long.
func (d *Dispatcher) disconnectSilentJoined(ctx context.Context, now time.Time) error {
	silent, err := d.store.Fleet.RevokeSilentGuests(ctx, now)
	for _, worker := range silent {
		d.queue.DisconnectWorker(worker)
	}
	return err
}

// runPass announces work that can start, requeues lost attempts, and preempts profiles and reruns that block people's
// work. It decides on the state that it reads first. If that has changed since, the store refuses the change
// (Conflict), and the next pass sees the new state. Errors are collected, so that one attempt does not block others.
func (d *Dispatcher) runPass(ctx context.Context, now time.Time) error {
	ready, live, workers, err := d.readQueueState(ctx, now)
	if err != nil {
		d.lossDetector.restartSilence(now)
	}
	if err != nil || len(ready)+len(live) == 0 {
		return err
	}
	slots := liveSlots(workers, d.lossDetector.startedAt, now)
	loads := loadByDevice(ready, live)
	var errs []error
	for _, r := range ready {
		if loads[r.Device].liveAttempts <= slots[r.Device].AcceptingJobs {
			errs = append(errs, d.queue.AnnounceWork(r.Device))
		}
	}
	// requeueLost must be the first write of the pass, because it measures the duration of a write.
	errs = append(errs, d.requeueLost(ctx, d.lossDetector.lostAttempts(live, workers, now), now),
		d.store.PrioritizeOverdueTurns(ctx, now))
	// A profile takes minutes while a person waits. All profiles and reruns on the device are preempted at once,
	// however little work waits; they are queued again and start when slots are free.
	for _, a := range live {
		if a.Priority < work.PriorityFollowUp || !loads[a.Device].exceedsFreeSlots(slots[a.Device].AcceptingJobs) {
			continue
		}
		errs = append(errs, d.announceEffect(d.store.Work.PreemptAttempt(ctx, a.ID)))
	}
	return errors.Join(errs...)
}

// readQueueState reads the work that can start on devices that are not paused, the live attempts, and the workers.
func (d *Dispatcher) readQueueState(
	ctx context.Context, now time.Time,
) (ready []work.ReadyDevice, live []work.LiveAttempt, workers []fleet.Worker, err error) {
	if ready, err = d.store.Work.ReadyDevices(ctx, now); err != nil {
		return
	}
	if live, err = d.store.Work.LiveAttempts(ctx); err != nil {
		return
	}
	if len(ready)+len(live) == 0 { // saves a query each second on an idle site
		if _, known := d.store.Fleet.RecentWorkers(now); known {
			return
		}
	}
	if workers, err = d.store.Fleet.Workers(ctx); err != nil {
		return
	}
	pauses, err := d.store.Fleet.Pauses(ctx)
	ready = slices.DeleteFunc(ready, func(r work.ReadyDevice) bool { _, paused := pauses[r.Device]; return paused })
	return ready, live, workers, err
}

// jobLoad counts the work that needs slots of a device.
type jobLoad struct {
	liveAttempts int // number of attempts in progress
	// peoplesWork counts waiting work of people, and attempts without follow-ups: profiles, confirmations, reruns, and
	// baselines.
	peoplesWork int
	totalWork   int // waiting work of people, and all attempts
}

func loadByDevice(ready []work.ReadyDevice, live []work.LiveAttempt) map[string]jobLoad {
	loads := map[string]jobLoad{}
	for _, r := range ready {
		loads[r.Device] = jobLoad{peoplesWork: r.PeoplesWorkCount, totalWork: r.PeoplesWorkCount}
	}
	for _, a := range live {
		l := loads[a.Device]
		l.liveAttempts, l.totalWork = l.liveAttempts+1, l.totalWork+1
		if a.Priority < work.PriorityFollowUp {
			l.peoplesWork++
		}
		loads[a.Device] = l
	}
	return loads
}

// exceedsFreeSlots reports whether people's work needs more slots than profiles, confirmations, reruns, and baselines
// leave free.
func (l jobLoad) exceedsFreeSlots(slots int) bool { return l.totalWork > slots && l.peoplesWork > 0 }

// requeueLost ends lost attempts with infrastructure errors and queues their work again. If the database cannot write,
// it requeues nothing, because workers may only seem silent if their heartbeats cannot be stored.
func (d *Dispatcher) requeueLost(ctx context.Context, lost map[string]attemptLoss, now time.Time) error {
	if len(lost) == 0 {
		return nil
	}
	// The check is made only if there are lost attempts, because a loss uses up one of a run's three attempts.
	begun := time.Now()
	err := d.store.CanWrite(ctx)
	if took := time.Since(begun); err != nil || took > d.lossDetector.slowWriteTime {
		d.log.Warn("the database was slow to write or failed: workers get more time to report", "took", took, "err", err)
		d.lossDetector.restartSilence(now.Add(took))
		return err
	}
	var errs []error
	for attemptID, lost := range lost {
		out, err := d.store.Work.FailAttempt(ctx, attemptID, lost.reason, lost.lossKind)
		if err == nil && out.AttemptAccepted {
			d.log.Warn("attempt taken back", "attempt", attemptID, "reason", lost.reason, "retried", out.WorkRetried)
		}
		errs = append(errs, d.announceEffect(out, err)) // stop the attempt, in case the worker was only silent
	}
	return errors.Join(errs...)
}
