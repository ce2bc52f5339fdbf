package dispatch

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/work"
	"warpboard/tasks"
)

// draw gives a job values for the ranges in its task's cases. Runs that are ranked get those of their board's epoch, which are
// secret. Any other run gets its own, which tell nothing of these.
func (d *Dispatcher) draw(ctx context.Context, attempt work.Attempt, run work.Run, j *job.Job) error {
	if !j.Task.Drawn() {
		return nil
	}
	seed := binary.BigEndian.AppendUint64(nil, uint64(attempt.Seed))
	if j.Mode == job.ModeRanked {
		software, err := d.softwareOf(ctx, attempt.Worker, run.Device, j.Task.Lang)
		if err != nil {
			return err
		}
		if seed, err = d.store.Draws.Begin(ctx, attempt.ID, run.VersionID, run.Device, software); err != nil {
			return err
		}
		j.Declared = &job.Cases{Tests: j.Task.Tests, Benchmarks: j.Task.Benchmarks}
	}
	j.Task = j.Task.Draw(seed)
	return nil
}

// softwareOf is what a worker last said of the software of its slots of a device.
func (d *Dispatcher) softwareOf(ctx context.Context, worker, device string, lang tasks.Lang) (epochs.Software, error) {
	workers, err := d.store.Fleet.Workers(ctx)
	if err != nil {
		return epochs.Software{}, err
	}
	kind := epochs.Native
	if lang == tasks.LangPython {
		kind = epochs.Python
	}
	for _, w := range workers {
		if i := slices.IndexFunc(w.Slots, func(s job.Slot) bool { return s.Device == device }); w.Name == db.Sanitize(worker) && i >= 0 {
			machine := w.Slots[i].Machine
			machine.Device = device
			return epochs.SoftwareFor(machine, kind), nil
		}
	}
	return epochs.Software{}, nil // it has left: its job is never taken
}

// drawnFor is the task of a ranked result with the values that its job had. It turns a result into a lost attempt whose cases were
// drawn for other software than it was measured with: its board compares it with runs of other cases.
func (d *Dispatcher) drawnFor(ctx context.Context, def tasks.Definition, result *job.Result) (drawn tasks.Definition, lost bool, err error) {
	if !def.Drawn() {
		return def, false, nil
	}
	seed, same, err := d.store.Draws.Used(ctx, result.AttemptID, epochs.SoftwareOf(result.Machine))
	if err != nil || same {
		return def.Draw(seed), false, err
	}
	result.Outcome, result.Suspect = job.OutcomeLost, true
	result.Failure = &job.Failure{Infrastructure: true,
		Reason: fmt.Sprintf("The software of worker %s changed before it measured the run, whose cases were drawn for the software before.", result.Machine.Worker)}
	return def, true, nil
}
