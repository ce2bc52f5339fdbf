package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// extensionFailed is how PyTorch reports an extension that does not compile; without a device nothing
// else that an import says is a verdict.
const extensionFailed = "Error building extension"

// Builder builds and runs programs, and caches what they compiled; *toolchain.Builder is the real one.
type Builder interface {
	Build(ctx context.Context, req toolchain.BuildRequest) (*toolchain.Artifact, job.StageResult, error)
	Open(ctx context.Context, a *toolchain.Artifact, place toolchain.Place) (toolchain.Program, error)
	OpenReady(a *toolchain.Artifact, place toolchain.Place) toolchain.Program
	Recall(toolchain.RecallKey) []byte
	Remember(data []byte, k toolchain.RecallKey)
}

// Evaluation is one attempt of an evaluation.
type Evaluation struct {
	*attempt.Attempt
	builder Builder
	nsight  *profiling.Nsight
	torch   bool

	request     kernelrun.Request
	text        []byte // of requestFile
	artifact    *toolchain.Artifact
	built       job.StageResult
	refusal     *kernelrun.Result // the custom kernel's extension does not compile: the reference alone is timed
	precompiled precompiled
	waiting     time.Time // for a unit, since then
	held        *slots.Held
	began       time.Time // on the unit
	deadline    time.Time
	clean       bool            // the program's last stage came to its end
	kept        map[string]kept // the references that the program keeps, as its judge said, by their keys
}

// New returns an evaluation that has not begun. torch says that the worker's Python has PyTorch; nsight is nil if no
// counters can be read.
func New(a *attempt.Attempt, builder Builder, nsight *profiling.Nsight, torch bool) *Evaluation {
	a.Result.Harness = "warpboard/kernel"
	return &Evaluation{Attempt: a, builder: builder, nsight: nsight, torch: torch}
}

// Build readies the evaluation without its unit: extensions are compiled on a build place, and while the unit is
// someone else's also kernels that need none for that. It is not ready when an extension does not compile and there is no
// reference to time, which is a result.
func (e *Evaluation) Build(ctx context.Context) (ready bool, err error) {
	if err := json.Unmarshal(e.Job.Evaluation, &e.request); err != nil {
		return false, fmt.Errorf("read the evaluation's request: %w", err)
	}
	if !e.torch {
		return false, attempt.Rejection{Failure: &job.Failure{Infrastructure: true, Reason: fmt.Sprintf("Worker %s has no Python with PyTorch, which evaluations need.", e.Worker())}}
	}
	if e.Job.Task, e.Job.Sources, e.text, err = taskOf(e.request, e.Job.Device); err != nil {
		return false, err
	}
	e.Taken()
	if err := e.buildExtensions(ctx); err != nil {
		return false, err
	}
	if e.artifact == nil {
		if err := e.refuse(ctx); e.artifact == nil || err != nil {
			return false, err
		}
	}
	e.waiting = time.Now()
	if e.refusal != nil {
		return true, nil
	}
	e.precompiled, err = e.precompile(ctx)
	return true, e.Interrupted(ctx, "", err)
}

// refuse keeps the result of an extension that does not compile. If it is the custom kernel's, the reference is built without it.
func (e *Evaluation) refuse(ctx context.Context) (err error) {
	result, built := refused(e.built.Stderr), e.built
	if err := e.keep(result); e.request.Ref == nil || result.Fault != "" || err != nil {
		return err
	}
	alone := e.request
	alone.Custom.Source = ""
	if e.Job.Task, e.Job.Sources, _, err = taskOf(alone, e.Job.Device); err != nil {
		return err
	}
	e.refusal = &result
	err = e.buildExtensions(ctx)
	e.built.Started = e.built.Started.Add(-built.Ended.Sub(built.Started)) // both are charged
	return err
}

// buildExtensions builds modules that compile when they are imported, on a build place. If one does not compile, there is no
// artifact, and the result's Stderr has the reason.
func (e *Evaluation) buildExtensions(ctx context.Context) error {
	place := e.Pool.BuildPlace(e.Slot, 0)
	if e.hasExtension() {
		number, release, err := e.AcquireBuild(ctx)
		if err != nil {
			return err
		}
		defer release()
		place.Slot = number
		e.begin(kernelrun.StageCompiling)
	}
	artifact, result, err := e.builder.Build(ctx, toolchain.BuildRequest{Job: e.Job, Place: place, Runner: kernelFile, JudgeEnv: e.judgeEnv()})
	if err := e.Interrupted(ctx, "", err); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if strings.Contains(result.Stderr, extensionFailed) {
		artifact = nil
	} else if result.Failure != nil {
		result.Stderr = strings.TrimSpace(result.Failure.Reason + "\n" + result.Stderr)
	}
	e.artifact, e.built = artifact, result
	return nil
}

// judgeEnv leaves a CPU's processors to the kernels: further threads of the judge would spin on them. OpenMP
// reads it when torch is imported. (torch.set_num_threads aborts where there is no /proc.)
func (e *Evaluation) judgeEnv() map[string]string {
	if e.Slot.IsGPU() {
		return nil
	}
	return map[string]string{"OMP_NUM_THREADS": "1"}
}

// hasExtension reports whether one of the kernels compiles an extension.
func (e *Evaluation) hasExtension() bool {
	return slices.ContainsFunc(e.Job.Task.Files, tasks.File.IsSubmission)
}

func (e *Evaluation) begin(stage string) { e.Begin(job.Stage(stage), 0) }

// Units is how many units an evaluation holds.
func (e *Evaluation) Units() int { return 1 }

// Run compiles, checks and times the kernels on the unit held. Waiting for the unit is not charged to the
// request's time limit.
func (e *Evaluation) Run(ctx context.Context, held *slots.Held) error {
	e.held, e.began = held, time.Now()
	e.deadline = e.began.Add(time.Duration(e.request.Timeout)*time.Second - e.built.Ended.Sub(e.built.Started) - e.precompiled.took)
	program, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer func() { e.Slot.Cached.Keep(e.Job.Caller, program, e.kept, e.clean) }()
	if e.refusal != nil {
		return e.timeReference(ctx, program)
	}
	result, err := e.compare(ctx, program)
	if err != nil {
		return err
	}
	if e.request.DeviceMetrics && result.Correctness {
		if err := e.count(ctx, program, &result); err != nil {
			return err
		}
	}
	result.Warm, result.Seconds, result.Waited = program.Warm(), time.Since(e.began).Seconds(), e.began.Sub(e.waiting).Seconds()
	switch {
	case e.hasExtension():
		result.Cached = &e.built.Cached
	case e.Slot.IsGPU() && compilesAlone(e.request):
		result.Cached = &e.precompiled.known
	}
	return e.keep(result)
}

// timeReference adds the reference's times to the result of a custom kernel that does not compile.
func (e *Evaluation) timeReference(ctx context.Context, program toolchain.Program) error {
	report, stage := e.newReader(func(string) {}), e.stage(modeReference, refLabel)
	stage.Forget = true
	if _, err := e.run(ctx, program, report, stage); err != nil {
		return err
	}
	e.refusal.RefRuntime = report.last.RefRuntime
	return e.keep(*e.refusal)
}

// open readies the program, in the runner that the caller's last evaluation left if there is one.
func (e *Evaluation) open(ctx context.Context) (toolchain.Program, error) {
	if next, notes := e.Slot.Cached.Next(e.Job.Caller, e.artifact); next != nil {
		e.kept, _ = notes.(map[string]kept)
		return next, nil
	}
	program, err := e.builder.Open(ctx, e.artifact, e.held.Place(0))
	return program, e.Interrupted(ctx, "", err)
}

// compare tests the kernels, or the custom one beside a reference that is kept.
func (e *Evaluation) compare(ctx context.Context, program toolchain.Program) (kernelrun.Result, error) {
	if e.request.ReuseReference {
		result, err := e.testReusing(ctx, program)
		if err != nil {
			return kernelrun.Result{}, err
		}
		if result != nil {
			return *result, nil
		}
	}
	report := e.newReader(e.begin)
	out, err := e.run(ctx, program, report, e.stage(ModeTest, labels(e.request)...))
	if err != nil {
		return kernelrun.Result{}, err
	}
	return concluded(report, out)
}

// newReader returns a reader of a stage that runs for the request.
func (e *Evaluation) newReader(onStage func(string)) *reader {
	r := newReader(onStage)
	r.inputs = inputsProcess(e.request)
	return r
}

// run runs the program once, with its report read while it is written.
func (e *Evaluation) run(ctx context.Context, program toolchain.Program, report *reader, req toolchain.StageRequest) (judge.Ending, error) {
	e.clean, req.Resident = false, true
	req.OnPipe = report.read
	req.OnStdout, req.OnStderr = report.stdout, report.stderr
	watch := device.Watch(ctx, e.Slot.Slot)
	out, err := program.RunStage(ctx, req)
	watch.Record(&e.Result.Machine)
	e.Result.ProgramNS += out.Wall.Nanoseconds()
	if err := e.Interrupted(ctx, "", err); err != nil {
		return out, err
	}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	e.clean = out.ExitCode == 0 && (out.Judge == nil || out.Judge.ExitCode == 0)
	if e.clean && report.compiled != nil {
		e.builder.Remember(jsonOf(report.compiled), e.precompiled.key)
	}
	if out.Signal != "" || out.Limit != "" {
		e.held.Check(ctx)
	}
	return out, nil
}

// concluded is the result of a program that has ended.
func concluded(report *reader, out judge.Ending) (kernelrun.Result, error) {
	result, err := report.conclude(out)
	if err != nil {
		err = attempt.Suspected(err) // a kernel can take the device's memory before the judge has any
	}
	return result, err
}

// count reads the device metrics of each kernel in a pass of its own. Without them the result is the same.
func (e *Evaluation) count(ctx context.Context, program toolchain.Program, result *kernelrun.Result) error {
	result.Metrics = map[string]kernelrun.Metrics{}
	for _, label := range labels(e.request) {
		metrics, err := e.nsight.Counters(ctx, program, e.stage(modeProfile+label, label), e.request.Sections, codeOf(e.request, label).Source)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			result.MetricsError = fmt.Sprintf("%s kernel: %s", label, attempt.Sentence(err))
			continue
		}
		result.Metrics[label] = metrics
	}
	return nil
}

// keep puts the evaluation's result into the attempt's.
func (e *Evaluation) keep(result kernelrun.Result) error {
	m := e.Result.Machine
	result.Device, result.Name, result.CUDA = e.Job.Device, m.Name, m.CUDA
	result.Remarks = slices.Concat(e.request.Remarks, result.Remarks)
	result.Slot, result.Worker = e.Slot.Index, e.Worker()
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the evaluation's result: %w", err)
	}
	e.Result.Evaluation = data
	return nil
}
