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

// Events stores events, and returns those of their attempts that no longer count.
func (d *Dispatcher) Events(ctx context.Context, batch []job.Event) (drop []string, err error) {
	out, stale, err := d.store.Work.AppendEvents(ctx, batch)
	return stale, d.follow(out, err)
}

// Result stores a result; after an error the worker sends it again. One that can never be stored is logged
// and dropped: the work is then retried when its worker no longer names the attempt.
// Late or twice is normal: RecordResult finds the attempt ended, or its secret wrong. It is answered once it is stored, so that
// a death in between repeats it.
func (d *Dispatcher) Result(ctx context.Context, result job.Result) error {
	revoked, err := d.store.Fleet.Revoked(ctx, result.Machine.Worker)
	if err != nil {
		return err
	}
	var found work.Findings
	if revoked {
		result = ofRevoked(result)
	} else if found, err = d.store.Scores.Check(ctx, &result); err != nil {
		return err
	}
	ref := result.Ref()
	log := d.log.With(ref.Noun(), ref.ID(), "worker", result.Machine.Worker)
	out, err := d.store.Work.RecordResult(ctx, result, found)
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
	d.Wake()
	return d.follow(out, nil)
}

// ofRevoked hands an attempt back whose worker was revoked since it took it. On a cluster it stays connected for minutes.
func ofRevoked(r job.Result) job.Result {
	return job.Result{RunID: r.RunID, EvaluationID: r.EvaluationID, AttemptID: r.AttemptID, Secret: r.Secret, Outcome: job.OutcomeReturned,
		Failure: &job.Failure{Infrastructure: true, Reason: fmt.Sprintf("Worker %s was revoked before the end.", r.Machine.Worker)}, Machine: job.Machine{Worker: r.Machine.Worker}}
}

// Sync stores a worker's heartbeat, and returns its attempts that no longer count: it may have missed that a run was
// cancelled, deleted or given to another worker.
func (d *Dispatcher) Sync(ctx context.Context, h job.Heartbeat) (drop []string, err error) {
	known, fresh, stale, err := d.store.Work.Known(ctx, h.Worker, h.Attempts)
	if err != nil {
		return nil, err
	}
	h.Attempts = append(known, stale[:min(1, len(stale))]...) // a worker with an attempt, even one that no longer counts, has not left
	// Nothing below is done without it: a worker that is not known to be alive must not be said to have attempts.
	if err := d.store.Fleet.SaveHeartbeat(ctx, h); err != nil {
		return nil, err
	}
	before := d.heardOf(h.Worker)
	if err := d.noteSlots(ctx, h, before); err != nil {
		d.log.Error("noting the slots of a worker", "worker", h.Worker, "err", err)
	}
	if err := d.follow(d.store.Work.NoteTaken(ctx, h.Worker, fresh...)); err != nil {
		return nil, err
	}
	d.keepSentinels(ctx, h, before)
	if h.Stopping && len(h.Attempts) == 0 {
		d.queue.Kick(h.Worker) // a guest's name is free again soon: its connection must not stay
	}
	if now := (state{len(h.Slots), h.Refusing, h.Stopping}); now != before.told {
		before.told = now
		d.log.Info("worker reports", "worker", h.Worker, "slots", len(h.Slots), "refusing", h.Refusing, "stopping", h.Stopping)
		d.notify.QueueChanged()
		d.Wake()
	}
	return stale, nil
}

// noteSlots stores new devices and software. A worker that brings some connects again, because its rights were decided when
// it connected.
func (d *Dispatcher) noteSlots(ctx context.Context, h job.Heartbeat, before *heard) error {
	var units strings.Builder
	for _, slot := range h.Slots {
		slot.Machine.Gauge = nil // no news of silicon or software, and printed as an address, which is another one each time
		fmt.Fprintf(&units, "%s %+v %d\n", slot.Device, slot.Machine, slot.Memory)
	}
	// Compared as text, so that a heartbeat that says nothing new costs no transaction.
	if before.slots == units.String() || !before.news.Allow() {
		return nil
	}
	fresh, out, err := d.store.NoteSlots(ctx, h)
	if err := d.follow(out, err); err != nil {
		return err
	}
	before.slots = units.String()
	d.Wake() // there may be something to measure again, or baselines to run
	// Its permissions in the queue were fixed when it connected, and do not hold the new device's subjects yet.
	if len(fresh) > 0 {
		d.log.Info("new devices", "worker", h.Worker, "devices", fresh)
		d.queue.Kick(h.Worker)
	}
	return nil
}

// What one worker may have stored of its slots. Silicon and software are new after a start and an update; a machine of 16 units
// gauges each every minute at most.
const (
	noteEvery, noteBurst         = 5 * time.Minute, 20
	sentinelEvery, sentinelBurst = 3 * time.Second, 64
)

// heard is what the site has dealt with of a worker's heartbeats.
type heard struct {
	told   state
	slots  string               // that were noted last
	gauged map[string]time.Time // by unit: the last sentinel that is kept
	news   *rate.Limiter        // of slots that are noted
	gauges *rate.Limiter        // of sentinels that are kept
}

// state is what watchers of the devices are told.
type state struct {
	slots    int
	refusing string
	stopping bool
}

// heardOf is what was dealt with of a worker. Only Sync, which is not called concurrently, uses it.
func (d *Dispatcher) heardOf(worker string) *heard {
	if d.heard[worker] == nil {
		d.heard[worker] = &heard{
			told: state{slots: -1}, news: rate.NewLimiter(rate.Every(noteEvery), noteBurst), gauges: rate.NewLimiter(rate.Every(sentinelEvery), sentinelBurst),
		}
	}
	return d.heard[worker]
}
