package cli

import (
	"bytes"
	"context"
	"path/filepath"

	"warpboard/clients/go"
	"warpboard/tasks"
)

// referenced compares a kernel with its reference on each of its devices, unless both are unchanged since the base.
func (r *ciRun) referenced(ctx context.Context, k kernelConfig, path string, same bool) (all []checkResult, err error) {
	now, err := readBelow(r.project.dir, k.Reference, tasks.MaxSubmission)
	if err != nil {
		return nil, err
	}
	if same {
		before, err := r.fileAtBase(ctx, k.Reference)
		if err != nil {
			return nil, err
		}
		if before != nil && bytes.Equal(before, now) {
			return []checkResult{{File: k.File, For: k.Reference, State: stateUnchanged}}, nil
		}
	}
	devices := r.project.of(path).Devices
	if len(devices) == 0 {
		devices = []string{""} // any device
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
func (r *ciRun) compareWithReference(ctx context.Context, k kernelConfig, path, device string) (one checkResult, err error) {
	o := evaluation{reference: filepath.Join(r.project.dir, k.Reference), trials: 100, device: device}
	request, err := o.request(path)
	if err != nil {
		return one, err
	}
	e, err := evaluateAndWait(ctx, r.site, request, func(*client.Evaluation) {})
	if err != nil {
		return one, err
	}
	one = checkResult{File: k.File, For: k.Reference, Device: e.Device, State: statePassed, URL: evaluationPage(r.site, e.ID)}
	if ok, why := passes(e); !ok {
		one.State, one.Why = stateFailed, why
		return one, nil
	}
	found := resultOf(e).Result
	if one.Speedup = found.Speedup; found.Stats != nil {
		// Milliseconds to nanoseconds.
		mean := found.Stats.Mean * 1e6
		one.Current = &mean
	}
	return one, nil
}

// resultsOf matches a submission's runs with those of the base, which may be nil.
func resultsOf(file string, before, after *client.Submission) (all []checkResult) {
	for _, run := range after.Runs {
		one := checkResult{File: file, For: after.Task, Device: run.Device, State: statePassed, Current: run.ScoreNS, URL: after.URL}
		if run.State != "done" {
			one.State, one.Why = stateFailed, run.State
			if run.Failure != nil {
				one.Why = run.Failure.Reason
			}
		}
		if before != nil {
			// By device, because the task may have new devices since the base.
			for _, old := range before.Runs {
				if one.State == statePassed && old.Device == run.Device && old.ScoreNS != nil && run.ScoreNS != nil {
					times := *old.ScoreNS / *run.ScoreNS
					one.Base, one.Change, one.Speedup = old.ScoreNS, changeOf(old, run), &times
				}
			}
		}
		all = append(all, one)
	}
	return all
}
