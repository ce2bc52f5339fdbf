package dispatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/models/catalog"
	"warpboard/models/fleet"
	"warpboard/tasks"
)

// hints records which hints about tasks workers got. After a start, and in each process of the site, all hints are sent
// again; workers skip what they have. It grows only with versions, devices and names of workers: a few bytes each, until the
// process ends.
type hints struct {
	rest int // polls until the next look, after one without a hint to send
	sent map[hinted]bool
	met  map[string]time.Time // worker → when the one of that name started
}

// restPolls is how many polls pass after all hints were sent: looking again reads all workers.
const restPolls = 5

// hinted is a version of a task on one of its devices.
type hinted struct {
	versionID int64
	device    string
}

func newHints() hints { return hints{sent: map[hinted]bool{}, met: map[string]time.Time{}} }

// meet deletes the record of hints for the devices of a worker that has just connected: it did not get them.
func (h *hints) meet(w fleet.Worker, slots map[string]int) {
	if len(slots) == 0 || w.StartedAt.Equal(h.met[w.Name]) {
		return
	}
	h.met[w.Name] = w.StartedAt
	maps.DeleteFunc(h.sent, func(told hinted, _ bool) bool { return slots[told.device] > 0 })
}

// prepare sends the workers of one device a hint about one open task, so that they compile its parts before anyone submits.
// One at a time, because compiling takes longer than the pause between calls. It is called once per poll: after a restart
// workers get at most one hint a second.
func (d *Dispatcher) prepare(ctx context.Context, now time.Time) error {
	workers, err := d.store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		d.hints.meet(w, liveSlots([]fleet.Worker{w}, d.watch.started, now))
	}
	slots := liveSlots(workers, d.watch.started, now)
	open, err := d.store.Catalog.OpenTasks(ctx)
	if err != nil {
		return err
	}
	for _, task := range open {
		for _, device := range task.Devices {
			next := hinted{task.VersionID, device}
			if slots[device] == 0 || d.hints.sent[next] {
				continue
			}
			// Marked before it is sent: a hint that fails is not tried again, for a run compiles what it needs anyway.
			d.hints.sent[next] = true
			if sent, err := d.hint(ctx, task, device); sent || err != nil {
				return err
			}
		}
	}
	d.hints.rest = restPolls
	return nil
}

// hint sends the hint about a task, unless nothing of it can be precompiled or it is too large.
func (d *Dispatcher) hint(ctx context.Context, task catalog.Task, device string) (sent bool, err error) {
	version, err := d.store.Catalog.Version(ctx, task.VersionID)
	if err != nil || !preparable(version.Definition) {
		return false, err
	}
	bundle, err := d.store.Catalog.Bundle(ctx, version.ID)
	if err != nil {
		return false, err
	}
	err = d.jobs.Prepare(job.Preparation{
		Version: job.Version, Device: device, Name: task.Slug, TaskKey: version.Key,
		Task: version.Definition, Sources: ownSources(bundle),
	})
	if errors.Is(err, queue.ErrTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("hinting at task %s for %s: %w", task.Slug, device, err)
	}
	return true, nil
}

// preparable reports whether a part of the task's programs does not hold the submission.
func preparable(def tasks.Definition) bool {
	return slices.ContainsFunc(harness.Assemble(def, nil).Units, func(u harness.Unit) bool { return !u.Submitted })
}

// ownSources gives the task's files by their run-time names.
func ownSources(b *tasks.Bundle) map[string][]byte {
	sources := map[string][]byte{}
	for _, f := range b.Definition.Files {
		if !f.IsSubmission() {
			sources[f.Name] = b.Files[f.Source]
		}
	}
	return sources
}
