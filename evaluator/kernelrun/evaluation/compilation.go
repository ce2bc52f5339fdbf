package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/toolchain"
)

// Inspector compiles sources and lists their code. The implementation is *toolchain.Builder.
type Inspector interface {
	Inspect(ctx context.Context, req toolchain.BuildRequest, file string) (toolchain.GeneratedCode, error)
}

// Compilation is an attempt at a request that only compiles. It ends with its build and needs no slot.
type Compilation struct {
	*attempt.Attempt
	inspector Inspector
}

// NewCompilation returns a compilation that has not started.
func NewCompilation(a *attempt.Attempt, compilers Inspector) *Compilation {
	a.Result.HarnessName = "warpboard/kernel"
	return &Compilation{a, compilers}
}

// Build compiles the source on a build slot, and stores the result.
func (c *Compilation) Build(ctx context.Context) (ready bool, err error) {
	var request kernelrun.Request
	if err := json.Unmarshal(c.Job.Evaluation, &request); err != nil {
		return false, fmt.Errorf("read the evaluation's request: %w", err)
	}
	c.AnnounceStart()
	number, release, err := c.AcquireBuild(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if err := c.BeginStageUnlessEnded(ctx, job.Stage(kernelrun.StageCompiling), 0); err != nil {
		return false, err
	}
	place := c.Slots.BuildEnvironment(c.Slot, number)
	place.BuildLimits.WallTime = min(place.BuildLimits.WallTime, time.Duration(request.Timeout)*time.Second)
	done, err := c.inspector.Inspect(ctx, toolchain.BuildRequest{Job: c.Job, Environment: place},
		c.Job.Task.SubmissionName())
	if err := c.InterruptionError(ctx, "", err); err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	c.Result.ProgramNS = done.BuildResult.EndedAt.Sub(done.BuildResult.StartedAt).Nanoseconds()
	c.Result.Evaluation, err = json.Marshal(c.result(done))
	return false, err
}

// result returns the evaluation's result.
func (c *Compilation) result(done toolchain.GeneratedCode) kernelrun.Result {
	build, m := done.BuildResult, c.Result.Machine
	seconds := build.EndedAt.Sub(build.StartedAt).Seconds()
	out := kernelrun.Result{LastStage: kernelrun.StageCompiling, Device: c.Job.Device, DeviceName: m.DeviceName, CUDA: m.CUDA, SlotIndex: c.Slot.Index, Worker: c.WorkerName(),
		StageSeconds: map[string]float64{kernelrun.StageCompiling: seconds},
		Report: kernelrun.Report{Compiled: build.Status == job.StatusPass, CompileSeconds: map[string]float64{customLabel: seconds}, Compilation: &kernelrun.CompilationResult{
			File: c.Job.Task.SubmissionName(), Command: build.Command, PTXASFacts: build.ExtraKeys, Seconds: seconds,
			CompilerMessages: strings.TrimSpace(build.Stdout + "\n" + build.Stderr),
		}}}
	if build.Failure != nil {
		out.CompilationError, out.ExceededLimit, out.TimedOut = build.Failure.Reason, build.Failure.Limit, build.Failure.Limit == "wall"
	}
	for _, form := range slices.Sorted(maps.Keys(done.Listings)) {
		listing := kernelrun.CodeListing{Language: form, Code: []kernelrun.CodeLine{}}
		for _, line := range done.Listings[form] {
			listing.Code = append(listing.Code, kernelrun.CodeLine(line))
		}
		out.Compilation.Listings = append(out.Compilation.Listings, listing)
	}
	return out
}

// SlotCount returns 0, because nothing runs.
func (c *Compilation) SlotCount() int { return 0 }

// Run does nothing.
func (c *Compilation) Run(context.Context, *slots.Lease) error { return nil }
