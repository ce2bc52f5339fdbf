package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/work"
)

// Recorder answers workers: it hands out work, stores their reports, and then notifies watchers.
//
// Several goroutines call Next, Events and Result at the same time; Only Sync, which is not called concurrently, touches
// seen, noted, gauged and the rates. Each request goes to one of a site's processes.
type Recorder struct {
	store    *models.Store
	requests Requests
	notify   Notifier
	wake     func()
	log      *slog.Logger
	now      func() time.Time
	seen     lastTold
	noted    map[string]string               // by worker: the slots that were noted last
	gauged   map[string]map[string]time.Time // by worker: the last sentinel that is kept of each of its units
	news     rates                           // of slots that are noted
	gauges   rates                           // of sentinels that are kept
}

// NewRecorder makes a Recorder; Run starts it. Wake is called whenever a slot may have come free.
func NewRecorder(store *models.Store, requests Requests, notify Notifier, wake func(), log *slog.Logger) *Recorder {
	return &Recorder{
		store: store, requests: requests, notify: notify, wake: wake, log: log, now: time.Now,
		seen: lastTold{}, noted: map[string]string{}, gauged: map[string]map[string]time.Time{},
		news: newRates(noteEvery, noteBurst), gauges: newRates(sentinelEvery, sentinelBurst),
	}
}

// Run answers workers until ctx ends, and then for some seconds what they have asked by then. It fails when the queue cannot be listened to.
func (r *Recorder) Run(ctx context.Context) error { return r.requests.Serve(ctx, r) }

// Events stores events, and returns those of their attempts that no longer count.
func (r *Recorder) Events(ctx context.Context, batch []job.Event) (drop []string, err error) {
	out, stale, err := r.store.Work.AppendEvents(ctx, batch)
	if err != nil {
		return nil, err
	}
	announce(r.notify, out)
	return stale, nil
}

// Result stores a result; after an error the worker sends it again. One that can never be stored is logged
// and dropped: the work is then retried when its worker no longer names the attempt.
// Late or twice is normal: RecordResult finds the attempt ended, or its secret wrong. It is answered once it is stored, so that
// a death in between repeats it.
func (r *Recorder) Result(ctx context.Context, result job.Result) error {
	revoked, err := r.store.Fleet.Revoked(ctx, result.Machine.Worker)
	if err != nil {
		return err
	}
	var found work.Findings
	if revoked {
		result = ofRevoked(result)
	} else if found, err = r.check(ctx, &result); err != nil {
		return err
	}
	ref := result.Ref()
	log := r.log.With(ref.Noun(), ref.ID(), "worker", result.Machine.Worker)
	out, err := r.store.Work.RecordResult(ctx, result, found)
	switch {
	case db.KindOf(err) == db.Forbidden:
		log.Warn("result refused", "err", err)
		return nil
	case err != nil:
		return err
	}
	if out.Accepted {
		log.Info("result recorded", "outcome", result.Outcome, "took", time.Duration(result.WallNS), "retried", out.Retried)
	} else {
		log.Info("result of an attempt that no longer counts", "attempt", result.AttemptID)
	}
	announce(r.notify, out)
	r.wake()
	return nil
}

// ofRevoked hands an attempt back whose worker was revoked since it took it. On a cluster it stays connected for minutes.
func ofRevoked(r job.Result) job.Result {
	return job.Result{RunID: r.RunID, EvaluationID: r.EvaluationID, AttemptID: r.AttemptID, Secret: r.Secret, Outcome: job.OutcomeReturned,
		Failure: &job.Failure{Infrastructure: true, Reason: fmt.Sprintf("Worker %s was revoked before the end.", r.Machine.Worker)}, Machine: job.Machine{Worker: r.Machine.Worker}}
}

// Sync stores a worker's heartbeat, and returns its attempts that no longer count: it may have missed that a run was
// cancelled, deleted or given to another worker.
func (r *Recorder) Sync(ctx context.Context, h job.Heartbeat) (drop []string, err error) {
	known, stale, err := r.store.Work.Known(ctx, h.Worker, h.Attempts)
	if err != nil {
		return nil, err
	}
	h.Attempts = append(known, stale[:min(1, len(stale))]...) // a worker with an attempt, even one that no longer counts, has not left
	// Nothing below is done without it: a worker that is not known to be alive must not be said to have attempts.
	if err := r.store.Fleet.SaveHeartbeat(ctx, h); err != nil {
		return nil, err
	}
	if err := r.noteSlots(ctx, h); err != nil {
		r.log.Error("noting the slots of a worker", "worker", h.Worker, "err", err)
	}
	out, ended, err := r.store.Work.NoteTaken(ctx, h.Worker, known)
	if err != nil {
		return nil, err
	}
	announce(r.notify, out)
	r.keepSentinels(ctx, h)
	if h.Stopping && len(h.Attempts) == 0 {
		r.requests.Kick(h.Worker) // a guest's name is free again soon: its connection must not stay
	}
	if r.seen.changed(h) {
		r.log.Info("worker reports", "worker", h.Worker, "slots", len(h.Slots), "refusing", h.Refusing, "stopping", h.Stopping)
		r.notify.QueueChanged()
		r.wake()
	}
	return append(stale, ended...), nil
}

// noteSlots stores new devices and software. A worker that brings some connects again, because its rights were decided when
// it connected.
func (r *Recorder) noteSlots(ctx context.Context, h job.Heartbeat) error {
	var units strings.Builder
	for _, slot := range h.Slots {
		slot.Machine.Gauge = nil // no news of silicon or software, and printed as an address, which is another one each time
		fmt.Fprintf(&units, "%s %+v %d\n", slot.Device, slot.Machine, slot.Memory)
	}
	// Compared as text, so that a heartbeat that says nothing new costs no transaction.
	if r.noted[h.Worker] == units.String() || !r.news.allow(h.Worker) {
		return nil
	}
	fresh, out, err := r.store.NoteSlots(ctx, h)
	if err != nil {
		return err
	}
	announce(r.notify, out)
	r.noted[h.Worker] = units.String()
	r.wake() // there may be something to measure again, or baselines to run
	// Its permissions in the queue were fixed when it connected, and do not hold the new device's subjects yet.
	if len(fresh) > 0 {
		r.log.Info("new devices", "worker", h.Worker, "devices", fresh)
		r.requests.Kick(h.Worker)
	}
	return nil
}

// lastTold is the last state that watchers of the devices got, by worker.
type lastTold map[string]fleetEntry

type fleetEntry struct {
	slots    int
	refusing string
	stopping bool
}

// changed reports whether the heartbeat says something new. Heartbeats come one after the other.
func (f lastTold) changed(h job.Heartbeat) bool {
	entry := fleetEntry{slots: len(h.Slots), refusing: h.Refusing, stopping: h.Stopping}
	old, known := f[h.Worker]
	f[h.Worker] = entry
	return !known || old != entry
}
