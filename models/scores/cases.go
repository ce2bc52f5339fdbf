package scores

import (
	"context"
	"encoding/binary"
	"slices"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/work"
	"warpboard/tasks"
)

// Draw chooses values for the ranges in the cases of an attempt's task. Ranked runs get the secret values of their
// board and epoch. Other runs get independent values, which reveal nothing about these.
func (s *Scores) Draw(
	ctx context.Context, attempt work.Attempt, run work.Run, task tasks.Definition,
) (tasks.Definition, error) {
	if !task.HasRanges() {
		return task, nil
	}
	seed := binary.BigEndian.AppendUint64(nil, uint64(attempt.Seed))
	if work.WorkerMode(run.Mode) == job.ModeRanked {
		software, err := s.softwareOf(ctx, attempt.Worker, run.Device, task.Lang)
		if err != nil {
			return task, err
		}
		if seed, err = s.BeginDraw(ctx, attempt.ID, run.VersionID, run.Device, software); err != nil {
			return task, err
		}
	}
	return task.DrawValues(seed), nil
}

// softwareOf returns the software that a worker last reported for a device.
func (s *Scores) softwareOf(ctx context.Context, worker, device string, lang tasks.Lang) (epochs.Software, error) {
	workers, err := s.fleet.Workers(ctx)
	if err != nil {
		return epochs.Software{}, err
	}
	kind := epochs.NativeSoftware
	if lang == tasks.LangPython {
		kind = epochs.PythonSoftware
	}
	for _, w := range workers {
		if i := slices.IndexFunc(w.Slots, func(s job.Slot) bool { return s.Device == device }); w.Name == db.SanitizeText(worker) && i >= 0 {
			machine := w.Slots[i].Machine
			machine.Device = device
			return epochs.SoftwareForKind(machine, kind), nil
		}
	}
	return epochs.Software{}, nil // the worker has left and will not receive this job
}
