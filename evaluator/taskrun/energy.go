package taskrun

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
)

const (
	// The unit is held in the meantime, and paid for: this bounds what the measurement may cost.
	energyTimeout = 30 * time.Second
	// energyLeast is the part of its measured time that a call takes at least where calls follow each other. One that
	// takes less finds its input in the caches, or does not do the work again.
	energyLeast = 0.8
)

// energy measures the energy of one call of a ranked run's longest case, after the score: a judge sets the number of calls
// in a row and times them, while the GPU's counter is read. It decides nothing, and its failure does not fail the run.
// Weakness: the runner can tell that calls repeat, and only the last answer is checked: a kernel that rests instead of
// working draws less in the same time.
func (r *Run) energy(ctx context.Context, program toolchain.Program) {
	if r.Job.Mode != job.ModeRanked {
		return
	}
	longest, why := r.energyCase()
	if why == "" {
		r.Result.Machine.Energy = r.measureEnergy(ctx, program, longest)
		return
	}
	r.Result.Machine.Energy = &job.Energy{Why: why}
}

// energyCase is the case to measure, or why none can be.
func (r *Run) energyCase() (longest job.CaseResult, why string) {
	counts := false
	// nil without --energy.
	if r.Slot.Energy != nil {
		_, counts = r.Slot.Energy()
	}
	switch {
	case !counts:
		return longest, "The worker does not read an energy counter (--energy), or the device has none."
	case r.Job.Task.OwnHarness:
		return longest, "The task brings its own program."
	case r.Job.Task.MultiGPU:
		return longest, "The task runs on several GPUs."
	}
	for _, stage := range r.Result.Stages {
		if stage.Stage != job.StageRanked {
			continue
		}
		for _, c := range stage.Cases {
			if c.Time() > longest.Time() {
				longest = c
			}
		}
	}
	if longest.Time() == 0 {
		return longest, "The run has no times."
	}
	return longest, ""
}

func (r *Run) measureEnergy(ctx context.Context, program toolchain.Program, longest job.CaseResult) *job.Energy {
	cases := harness.StageCases(r.Job.Task, job.StageRanked)
	i := longest.Index
	if i >= len(cases) {
		return &job.Energy{Why: "The run's longest case is none of the task's."}
	}
	parser := harness.NewParser(nil)
	watch := device.WatchEnergy(ctx, r.Slot.Slot)
	began := time.Now()
	out, err := program.RunStage(ctx, toolchain.StageRequest{
		Mode: harness.ModeEnergy, Cases: cases[i : i+1], Timeout: energyTimeout, OnPipe: func(b []byte) { parser.Write(b) },
	})
	watch.Stop()
	r.Result.ProgramNS += time.Since(began).Nanoseconds()
	if err != nil {
		// The score stands whatever happens here: nothing but a stuck process may touch the slot.
		_ = r.Interrupted(ctx, "", err) // a slot that is stuck is out of service
		r.Log.Warn("energy not measured", "run", r.Job.RunID, "err", err)
		return &job.Energy{Why: "The calls in a row could not be made."}
	}
	parser.Close()
	if status, failure := harness.Judge(out, energyTimeout, parser, cases[i:i+1]); status != job.StatusPass {
		why := "The calls in a row did not pass."
		if failure != nil && r.Job.Declared == nil {
			why += " " + failure.Reason
		}
		return &job.Energy{Why: why}
	}
	return energyOf(parser.Extra(), watch.Watts, longest)
}

// energyOf makes the energy of a call of what the judge reported and the counter showed.
func energyOf(report map[string]string, watts func(begin, end int64) (float64, bool), longest job.CaseResult) *job.Energy {
	read := func(field string) int64 {
		// What cannot be read is 0, which the checks below refuse. The report is the judge's, not the runner's.
		n, _ := strconv.ParseInt(report["benchmark.0.energy."+field], 10, 64)
		return n
	}
	calls, begin, end := read("calls"), read("begin"), read("end")
	if calls <= 0 || end <= begin {
		return &job.Energy{Why: "The judge did not say when the calls were made."}
	}
	e := &job.Energy{Calls: calls, MeanNS: float64(end-begin) / float64(calls), Case: longest.Spec}
	if e.MeanNS < energyLeast*longest.Time() {
		e.Why = fmt.Sprintf("Calls in a row took %v each, where one alone takes %v: they find their input in the caches, or do not do all of the work again.",
			time.Duration(e.MeanNS), time.Duration(longest.Time()))
		return e
	}
	power, ok := watts(begin, end)
	if !ok {
		e.Why = "The device's counter of energy did not move for long enough."
		return e
	}
	e.Watts, e.Joules = power, power*e.MeanNS*1e-9
	return e
}
