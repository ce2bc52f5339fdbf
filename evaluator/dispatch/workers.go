package dispatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/work"
)

// StoreEvents stores events. It returns the attempts that no longer count, which the worker must stop.
func (d *Dispatcher) StoreEvents(ctx context.Context, batch []job.Event) (drop []string, err error) {
	out, stale, err := d.store.Work.AppendEvents(ctx, batch)
	return stale, d.announceEffect(out, err)
}

// StoreResult stores a result. If it returns an error, the worker sends the result again. A result that can never be
// stored is logged and dropped; its work is tried again when the worker no longer lists the attempt. Late and repeated
// results are normal: RecordResult ignores ended attempts and wrong secrets. The worker gets its response only after
// the commit, so that it repeats the result if this process ends before that.
func (d *Dispatcher) StoreResult(ctx context.Context, result job.Result) error {
	revoked, err := d.store.Fleet.IsRevoked(ctx, result.Machine.Worker)
	if err != nil {
		return err
	}
	var found work.ResultFindings
	if revoked {
		result = handBackIfRevoked(result)
	} else if found, err = d.store.Scores.ScoreResult(ctx, &result); err != nil {
		return err
	}
	ref := result.WorkRef()
	log := d.log.With(ref.KindName(), ref.ID(), "worker", result.Machine.Worker)
	out, err := d.store.Work.RecordResult(ctx, result, found)
	switch {
	case db.KindOf(err) == db.Forbidden:
		log.Warn("result refused", "err", err)
		return nil
	case err != nil:
		return err
	}
	if out.AttemptAccepted {
		log.Info("result recorded", "outcome", result.Outcome, "took", time.Duration(result.WallNS), "retried", out.WorkRetried)
	} else {
		log.Info("result of an attempt that no longer counts", "attempt", result.AttemptID)
	}
	d.Wake()
	return d.announceEffect(out, nil)
}

// handBackIfRevoked replaces the result of a worker whose credential was revoked after it received the attempt by one
// that returns the work. Such a worker may stay connected to a NATS cluster for minutes.
func handBackIfRevoked(r job.Result) job.Result {
	return job.Result{RunID: r.RunID, EvaluationID: r.EvaluationID, AttemptID: r.AttemptID, AttemptSecret: r.AttemptSecret, Outcome: job.OutcomeHandedBack,
		Failure: &job.Failure{IsInfrastructureError: true, Reason: fmt.Sprintf("Worker %s was revoked before the end.", r.Machine.Worker)}, Machine: job.Machine{Worker: r.Machine.Worker}}
}

// Sync stores a worker's heartbeat. It returns the worker's attempts that no longer count, because the worker may have
// missed that a run was cancelled, deleted, or given to another worker.
func (d *Dispatcher) Sync(ctx context.Context, h job.Heartbeat) (drop []string, err error) {
	known, fresh, stale, err := d.store.Work.ClassifyAttempts(ctx, h.Worker, h.Attempts)
	if err != nil {
		return nil, err
	}
	// A stopping worker counts as gone when it lists no attempts, so one stale attempt stays in the list.
	h.Attempts = append(known, stale[:min(1, len(stale))]...)
	// If this fails, Sync must stop: a worker that is not stored as live must not own attempts.
	if err := d.store.Fleet.SaveHeartbeat(ctx, h); err != nil {
		return nil, err
	}
	state := d.workerStateOf(h.Worker)
	if err := d.recordSlots(ctx, h, state); err != nil {
		d.log.Error("noting the slots of a worker", "worker", h.Worker, "err", err)
	}
	if err := d.announceEffect(d.store.Work.RecordAttemptsReceived(ctx, h.Worker, fresh...)); err != nil {
		return nil, err
	}
	d.storeSlotBenchmarks(ctx, h, state)
	if h.IsStopping && len(h.Attempts) == 0 {
		d.queue.DisconnectWorker(h.Worker) // a worker with a join token frees its name soon, so its connection must end
	}
	if now := (shownWorkerState{len(h.Slots), h.NoJobsReason, h.IsStopping}); now != state.lastShownState {
		state.lastShownState = now
		d.log.Info("worker reports", "worker", h.Worker, "slots", len(h.Slots), "refusing", h.NoJobsReason, "stopping", h.IsStopping)
		d.notifier.QueueChanged()
		d.Wake()
	}
	return stale, nil
}

// recordSlots stores new devices and software. A worker with new devices must reconnect, because its permissions were
// set when it connected.
func (d *Dispatcher) recordSlots(ctx context.Context, h job.Heartbeat, state *workerState) error {
	var text strings.Builder
	for _, slot := range h.Slots {
		slot.Machine.SlotBenchmark = nil // the benchmark is neither hardware nor software
		fmt.Fprintf(&text, "%s %+v %d\n", slot.Device, slot.Machine, slot.MemoryBytes)
	}
	// The state is compared as text, so that an unchanged heartbeat causes no transaction.
	if state.slots == text.String() || !state.slotWriteLimit.Allow() {
		return nil
	}
	fresh, out, err := d.store.RecordSlots(ctx, h)
	if err := d.announceEffect(out, err); err != nil {
		return err
	}
	state.slots = text.String()
	d.Wake() // new software may have queued reruns or baselines
	// The worker's permissions in the queue were set when it connected and lack the new device's subjects.
	if len(fresh) > 0 {
		d.log.Info("new devices", "worker", h.Worker, "devices", fresh)
		d.queue.DisconnectWorker(h.Worker)
	}
	return nil
}

// Rate limits for storing data about one worker's slots. Hardware and software change only at a start or an update; a
// machine with 16 slots benchmarks each of them at most once a minute.
const (
	slotWriteInterval, slotWriteBurst           = 5 * time.Minute, 20
	benchmarkWriteInterval, benchmarkWriteBurst = 3 * time.Second, 64
)

// workerState is the state stored from a worker's heartbeats.
type workerState struct {
	lastShownState      shownWorkerState
	slots               string               // slots that were stored last, as text
	benchmarkStoredAt   map[string]time.Time // time of the last stored benchmark, by device hash
	slotWriteLimit      *rate.Limiter        // rate limit for storing slots
	benchmarkWriteLimit *rate.Limiter        // rate limit for storing benchmarks
}

// shownWorkerState is the part of a worker's state that the page of devices shows.
type shownWorkerState struct {
	slotCount    int
	noJobsReason string
	isStopping   bool
}

// workerStateOf returns the state of a worker. Only Sync, whose calls are sequential, may call it.
func (d *Dispatcher) workerStateOf(worker string) *workerState {
	if d.workerStates[worker] == nil {
		d.workerStates[worker] = &workerState{
			lastShownState: shownWorkerState{slotCount: -1}, slotWriteLimit: rate.NewLimiter(rate.Every(slotWriteInterval), slotWriteBurst), benchmarkWriteLimit: rate.NewLimiter(rate.Every(benchmarkWriteInterval), benchmarkWriteBurst),
		}
	}
	return d.workerStates[worker]
}
