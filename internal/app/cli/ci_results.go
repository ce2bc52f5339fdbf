package cli

import (
	"bytes"
	"context"
	"path/filepath"

	"warpboard/clients/go"
	"warpboard/tasks"
)

// compareAllWithReference compares a kernel with its reference on each device of the kernel, unless both are unchanged
// since the base commit.
func (r *projectRunner) compareAllWithReference(
	ctx context.Context, k kernelConfig, path string, same bool,
) (all []ciResult, err error) {
	now, err := readInsideFolder(r.project.dir, k.Reference, tasks.MaxSubmission)
	if err != nil {
		return nil, err
	}
	if same {
		before, err := r.fileAtBase(ctx, k.Reference)
		if err != nil {
			return nil, err
		}
		if before != nil && bytes.Equal(before, now) {
			return []ciResult{{File: k.File, ComparedWith: k.Reference, State: stateUnchanged}}, nil
		}
	}
	devices := r.project.kernelConfigFor(path).Devices
	if len(devices) == 0 {
		devices = []string{""} // "" lets the site choose any device
	}
	for _, device := range devices {
		one, err := r.compareWithReference(ctx, k, path, device)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// compareWithReference compares a kernel with a reference on a device, without a task.
func (r *projectRunner) compareWithReference(
	ctx context.Context, k kernelConfig, path, device string,
) (one ciResult, err error) {
	o := evaluateOptions{reference: filepath.Join(r.project.dir, k.Reference), trials: 100, device: device}
	request, err := o.request(path)
	if err != nil {
		return one, err
	}
	e, err := evaluateAndWait(ctx, r.site, request, func(*client.Evaluation) {})
	if err != nil {
		return one, err
	}
	one = ciResult{
		File:         k.File,
		ComparedWith: k.Reference,
		Device:       e.Device,
		State:        statePassed,
		URL:          evaluationPage(r.site, e.ID),
	}
	if ok, why := checkKernelPassed(e); !ok {
		one.State, one.Reason = stateFailed, why
		return one, nil
	}
	found := decodeResult(e).Result
	if one.Speedup = found.Speedup; found.Stats != nil {
		// convert milliseconds to nanoseconds
		mean := found.Stats.Mean * 1e6
		one.Current = &mean
	}
	return one, nil
}

// decodeResults relates the runs of a submission to those of the base commit; before is nil if there are none.
func decodeResults(file string, before, after *client.Submission) (all []ciResult) {
	for _, run := range after.Runs {
		one := ciResult{
			File: file, ComparedWith: after.Task, Device: run.Device, State: statePassed,
			Current: run.ScoreNS, URL: after.URL,
		}
		if run.State != "done" {
			one.State, one.Reason = stateFailed, run.State
			if run.Failure != nil {
				one.Reason = run.Failure.Reason
			}
		}
		if before != nil {
			// Runs are compared by device, because the task may have additional devices since the base commit.
			for _, old := range before.Runs {
				if one.State == statePassed && old.Device == run.Device && old.ScoreNS != nil && run.ScoreNS != nil {
					times := *old.ScoreNS / *run.ScoreNS
					one.Base, one.Change, one.Speedup = old.ScoreNS, scoreChangeOf(old, run), &times
				}
			}
		}
		all = append(all, one)
	}
	return all
}
