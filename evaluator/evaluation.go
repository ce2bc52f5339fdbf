package evaluator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// extensionFailed is how PyTorch reports an extension that does not compile; without a device nothing
// else that an import says is a verdict.
const extensionFailed = "Error building extension"

// evaluation compiles, checks and times single kernelrun. Extensions are compiled before the slot is
// held; waiting for the slot is not charged to the request's time limit.
func (p *pipeline) evaluation(ctx context.Context) error {
	p.result.Harness = "warpboard/kernel"
	var request kernelrun.Request
	if err := json.Unmarshal(p.job.Evaluation, &request); err != nil {
		return fmt.Errorf("read the evaluation's request: %w", err)
	}
	if python := p.w.cfg.Tools.Python; python == nil || python.Packages["torch"] == "" {
		return rejection{&job.Failure{Ours: true, Reason: fmt.Sprintf("Worker %s has no Python with PyTorch, which evaluations need.", p.w.cfg.Name)}}
	}
	var err error
	if p.job.Task, p.job.Sources, err = request.Task(p.job.Device); err != nil {
		return err
	}
	p.say.taken()
	artifact, built, err := p.extensions(ctx)
	if err != nil {
		return err
	}
	if artifact == nil {
		return p.keep(kernelrun.Refused(built.Stderr))
	}
	waiting := time.Now()
	before, err := p.headStart(ctx, request, artifact)
	if err := p.interrupted(ctx, "", err); err != nil {
		return err
	}
	held, release, err := p.hold(ctx, 1)
	if err != nil {
		return err
	}
	defer release()
	e := evaluation{pipeline: p, request: request, before: before, held: held, began: time.Now()}
	e.deadline = e.began.Add(time.Duration(request.Timeout)*time.Second - built.Ended.Sub(built.Started) - before.took)
	result, err := e.run(ctx, artifact)
	if err != nil {
		return err
	}
	result.Waited = e.began.Sub(waiting).Seconds()
	switch {
	case hasSubmission(p.job):
		result.Cached = &built.Cached
	case p.slot.IsGPU() && request.CompilesAlone():
		result.Cached = &before.known
	}
	return p.keep(result)
}

// extensions builds what compiles when it is imported, on a build place. The artifact is nil when it
// does not compile; the result's Stderr then says why.
func (p *pipeline) extensions(ctx context.Context) (*toolchain.Artifact, job.StageResult, error) {
	place := buildPlace(p.slot, 0)
	if hasSubmission(p.job) {
		select {
		case place.Slot = <-p.w.builds:
			defer func() { p.w.builds <- place.Slot }()
		case <-ctx.Done():
			return nil, job.StageResult{}, context.Cause(ctx)
		}
		p.stageBegins(kernelrun.StageCompiling)
	}
	artifact, result, err := p.w.cfg.Builder.Build(ctx, toolchain.BuildRequest{Job: p.job, Place: place})
	if err := p.interrupted(ctx, "", err); err != nil {
		return nil, result, err
	}
	if ctx.Err() != nil {
		return nil, result, context.Cause(ctx)
	}
	if strings.Contains(result.Stderr, extensionFailed) {
		artifact = nil
	} else if result.Failure != nil {
		result.Stderr = strings.TrimSpace(result.Failure.Reason + "\n" + result.Stderr)
	}
	return artifact, result, nil
}

// hasSubmission tells whether one of the kernels compiles an extension.
func hasSubmission(j job.Job) bool { return slices.ContainsFunc(j.Task.Files, tasks.File.IsSubmission) }

func (p *pipeline) stageBegins(stage string) {
	p.now = job.Stage(stage)
	p.say.stage(p.now, 0)
}

// keep puts the evaluation's result into the job's.
func (p *pipeline) keep(result kernelrun.Result) error {
	m := p.result.Machine
	result.Device, result.Name, result.CUDA = p.job.Device, m.Name, m.CUDA
	result.Slot, result.Worker = p.slot.Index, p.w.cfg.Name
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the evaluation's result: %w", err)
	}
	p.result.Evaluation = data
	return nil
}

// evaluation is one request on its slot.
type evaluation struct {
	*pipeline
	request  kernelrun.Request
	before   compiled
	held     []*slot
	began    time.Time
	deadline time.Time
	clean    bool // the program came to its end
}

// open readies the program, in the runner that the caller's last evaluation left if there is one.
func (e *evaluation) open(ctx context.Context, artifact *toolchain.Artifact) (toolchain.Program, error) {
	if left := e.slot.spare.take(e.job.Caller); left != nil {
		if next := left.Next(artifact); next != nil {
			return next, nil
		}
		left.Close()
	}
	program, err := e.w.cfg.Builder.Open(ctx, artifact, e.w.place(e.held, 0))
	return program, e.interrupted(ctx, "", err)
}

func (e *evaluation) run(ctx context.Context, artifact *toolchain.Artifact) (kernelrun.Result, error) {
	program, err := e.open(ctx, artifact)
	if err != nil {
		return kernelrun.Result{}, err
	}
	defer func() { e.slot.spare.keep(e.job.Caller, program, e.clean && e.slot.IsGPU()) }()
	result, err := e.test(ctx, program)
	if err != nil {
		return result, err
	}
	if e.request.DeviceMetrics && result.Correctness {
		if err := e.count(ctx, program, &result); err != nil {
			return result, err
		}
	}
	result.Warm, result.Seconds = program.Warm(), time.Since(e.began).Seconds()
	return result, nil
}

// test runs the program once, with its report read while it is written.
func (e *evaluation) test(ctx context.Context, program toolchain.Program) (kernelrun.Result, error) {
	reader := kernelrun.NewReader(e.stageBegins)
	req := toolchain.StageRequest{
		Mode: kernelrun.ModeTest, Timeout: max(time.Until(e.deadline), time.Millisecond),
		OnPipe: func(b []byte) { reader.Write(b) },
	}
	if e.before.archive != nil {
		req.Files = map[string][]byte{kernelrun.CompiledFile: e.before.archive}
	}
	watch := device.Watch(ctx, e.slot.Slot)
	out, err := program.RunStage(ctx, req)
	e.result.Machine.Conditions = watch.Stop()
	e.result.ProgramNS += out.Wall.Nanoseconds()
	if err := e.interrupted(ctx, "", err); err != nil {
		return kernelrun.Result{}, err
	}
	if out.Cancelled {
		return kernelrun.Result{}, context.Cause(ctx)
	}
	e.clean = out.ExitCode == 0
	if archive := reader.Compiled(); e.clean && archive != nil {
		e.w.cfg.Builder.Remember(archive, e.before.key)
	}
	if out.Signal != "" || out.Limit != "" {
		e.w.examine(ctx, e.held)
	}
	return reader.Conclude(ending(out.Outcome))
}

// count reads the device metrics of each kernel in a pass of its own. That they cannot be had changes
// nothing else.
func (e *evaluation) count(ctx context.Context, program toolchain.Program, result *kernelrun.Result) error {
	modes := map[string]string{"custom": kernelrun.ModeProfileCustom}
	if e.request.Ref != nil {
		modes["ref"] = kernelrun.ModeProfileRef
	}
	result.Metrics = map[string]kernelrun.Metrics{}
	for label, mode := range modes {
		limit := time.Until(e.deadline)
		metrics, err := e.w.cfg.Counters.Read(ctx, program, toolchain.StageRequest{Mode: mode, Timeout: limit}, e.request.Sections)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			result.MetricsError = fmt.Sprintf("%s kernel: %s", label, sentence(err))
			continue
		}
		result.Metrics[label] = metrics
	}
	return nil
}

func ending(out sandbox.Outcome) kernelrun.Ending {
	return kernelrun.Ending{ExitCode: out.ExitCode, Signal: out.Signal, Limit: out.Limit, Stdout: out.Stdout, Stderr: out.Stderr}
}
