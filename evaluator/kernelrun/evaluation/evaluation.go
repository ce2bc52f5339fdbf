package evaluation

import (
	"context"
	"encoding/json"
	"errors"
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

// Builder builds and runs programs, and caches compiled kernels. The implementation is *toolchain.Builder.
type Builder interface {
	Build(ctx context.Context, req toolchain.BuildRequest) (*toolchain.Artifact, job.StageResult, error)
	Open(ctx context.Context, a *toolchain.Artifact, place toolchain.Environment) (toolchain.Program, error)
	OpenReady(a *toolchain.Artifact, place toolchain.Environment) toolchain.Program
	LoadKernels(toolchain.KernelCacheKey) []byte
	StoreKernels(data []byte, k toolchain.KernelCacheKey)
}

// Evaluation is one attempt of an evaluation.
type Evaluation struct {
	*attempt.Attempt
	builder  Builder
	nsight   *profiling.Nsight
	hasTorch bool

	request     kernelrun.Request
	requestJSON []byte // content of requestFile
	artifact    *toolchain.Artifact
	buildResult job.StageResult
	// referenceFailed means that the build failed in the reference's file.
	referenceFailed bool
	// extensionFailure is set if the custom kernel's extension does not compile. Then only the reference is timed.
	extensionFailure *kernelrun.Result
	precompiled      precompiledKernels
	waitingSince     time.Time // start of waiting for a slot
	lease            *slots.Lease
	startedAt        time.Time // time at which its processes were open
	deadline         time.Time
	programReusable  bool                     // the program's last stage completed
	keptReferences   map[string]keptReference // references that the program's judge keeps, by key
}

// New returns an evaluation that has not started. torch means that the worker's Python has PyTorch. nsight is nil if
// hardware counters are unavailable.
func New(a *attempt.Attempt, builder Builder, nsight *profiling.Nsight, torch bool) *Evaluation {
	a.Result.HarnessName = "warpboard/kernel"
	return &Evaluation{Attempt: a, builder: builder, nsight: nsight, hasTorch: torch}
}

// Build does the part that needs no slot: it compiles extensions on a build slot and, while the slot is busy, kernels
// that compile without the device. It returns false if an extension does not compile and there is no reference to time;
// this is a result, not an error.
func (e *Evaluation) Build(ctx context.Context) (ready bool, err error) {
	if err := json.Unmarshal(e.Job.Evaluation, &e.request); err != nil {
		return false, fmt.Errorf("read the evaluation's request: %w", err)
	}
	if !e.hasTorch {
		return false, attempt.Rejection{Failure: &job.Failure{
			IsInfrastructureError: true,
			Reason:                fmt.Sprintf("Worker %s has no Python with PyTorch, which evaluations need.", e.WorkerName()),
		}}
	}
	if e.Job.Task, e.Job.Sources, e.requestJSON, err = taskForRequest(e.request, e.Job.Device); err != nil {
		return false, err
	}
	e.AnnounceStart()
	if err := e.buildExtensions(ctx); err != nil {
		return false, err
	}
	if e.artifact == nil {
		if err := e.buildReferenceAlone(ctx); e.artifact == nil || err != nil {
			return false, err
		}
	}
	e.waitingSince = time.Now()
	if e.extensionFailure != nil {
		return true, nil
	}
	e.precompiled, err = e.precompile(ctx)
	return true, e.InterruptionError(ctx, "", err)
}

// buildReferenceAlone stores the result for an extension that does not compile. If the extension is the custom
// kernel's, it then builds the reference alone.
func (e *Evaluation) buildReferenceAlone(ctx context.Context) (err error) {
	result, built := extensionFailureResult(e.buildResult.Stderr, e.referenceFailed), e.buildResult
	if err := e.storeResult(result); e.request.RefKernel == nil || result.Fault != "" || err != nil {
		return err
	}
	alone := e.request
	alone.CustomKernel.Source, alone.CustomKernel.Files = "", nil
	if e.Job.Task, e.Job.Sources, _, err = taskForRequest(alone, e.Job.Device); err != nil {
		return err
	}
	e.extensionFailure = &result
	err = e.buildExtensions(ctx)
	// The caller is charged for both builds.
	e.buildResult.StartedAt = e.buildResult.StartedAt.Add(-built.EndedAt.Sub(built.StartedAt))
	return err
}

// buildExtensions builds modules that compile when they are imported, on a build slot. If one does not compile,
// artifact is nil and the Stderr of the result has the reason.
func (e *Evaluation) buildExtensions(ctx context.Context) error {
	place := e.Slots.BuildEnvironment(e.Slot, 0)
	if e.hasExtension() {
		number, release, err := e.AcquireBuild(ctx)
		if err != nil {
			return err
		}
		defer release()
		place.SandboxSlot = number
		e.beginStage(kernelrun.StageCompiling)
	}
	artifact, result, err := e.builder.Build(ctx, toolchain.BuildRequest{
		Job:             e.Job,
		Environment:     place,
		RunnerScript:    kernelFile,
		MaxTime:         time.Duration(e.request.Timeout) * time.Second,
		JudgeEnv:        e.judgeEnv(),
		AdditionalFiles: additionalFiles(e.request),
	})
	if err := e.InterruptionError(ctx, "", err); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// The file with the error comes from the builder, because the output can contain any text that the kernels print.
	e.referenceFailed = false
	if artifact != nil && artifact.FailedExtension() != "" {
		e.referenceFailed, artifact = artifact.FailedExtension() == refFile, nil
	} else if result.Failure != nil {
		e.referenceFailed = result.Failure.File == refFile
		result.Stderr = strings.TrimSpace(result.Failure.Reason + "\n" + result.Stderr)
	}
	e.artifact, e.buildResult = artifact, result
	return nil
}

// judgeEnv limits the judge's threads, so that the CPU's processors are free for the kernels. OpenMP reads the variable
// when torch is imported. (torch.set_num_threads aborts without /proc.)
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

func (e *Evaluation) beginStage(stage string) { e.BeginStage(job.Stage(stage), 0) }

// SlotCount returns 1: an evaluation needs one slot.
func (e *Evaluation) SlotCount() int { return 1 }

// maxFreeOpenTime limits the time of opening the processes that is not charged. After another caller's evaluation,
// opening closes its processes and waits for new ones.
const maxFreeOpenTime = 10 * time.Second

// Run compiles, checks, and times the kernels on the acquired slot. The request's time limit does not include waiting
// for the slot.
func (e *Evaluation) Run(ctx context.Context, held *slots.Lease) error {
	e.lease = held
	program, err := e.openProgram(ctx)
	if err != nil {
		return err
	}
	e.startedAt = time.Now()
	e.SlotTimeBegan = e.SlotTimeBegan.Add(min(e.startedAt.Sub(e.SlotTimeBegan), maxFreeOpenTime))
	e.deadline = e.startedAt.Add(time.Duration(e.request.Timeout)*time.Second - e.buildResult.EndedAt.Sub(e.buildResult.StartedAt) - e.precompiled.duration)
	defer func() { e.Slot.CachedProgram.KeepProgram(e.Job.Caller, program, e.keptReferences, e.programReusable) }()
	if e.extensionFailure != nil {
		return e.timeReference(ctx, program)
	}
	result, err := e.testKernels(ctx, program)
	if err != nil {
		return err
	}
	if e.request.DeviceMetrics && result.Correctness {
		if err := e.readCounters(ctx, program, &result); err != nil {
			return err
		}
	}
	if err := e.compareBaselines(ctx, program, &result); err != nil {
		return err
	}
	result.RunnerWasReady, result.SlotSeconds, result.WaitSeconds = program.IsWarm(), time.Since(e.startedAt).Seconds(), e.startedAt.Sub(e.waitingSince).Seconds()
	switch {
	case e.hasExtension():
		result.KernelsCached = &e.buildResult.FromCache
	case e.Slot.IsGPU() && canCompileWithoutGPU(e.request):
		result.KernelsCached = &e.precompiled.fromCache
	}
	return e.storeResult(result)
}

// timeReference adds the times of the reference to the result of a custom kernel that does not compile.
func (e *Evaluation) timeReference(ctx context.Context, program toolchain.Program) error {
	report := e.newReaderOfRequest(func(string) {})
	if _, err := e.runProgram(ctx, program, report, e.stageRequest(modeReference, refLabel)); err != nil {
		return err
	}
	e.extensionFailure.RefRuntime = report.result.RefRuntime
	return e.storeResult(*e.extensionFailure)
}

// openProgram opens the program, in the processes of the caller's previous program if possible.
func (e *Evaluation) openProgram(ctx context.Context) (toolchain.Program, error) {
	next, notes := e.Slot.CachedProgram.ReopenFor(e.Job.Caller, e.artifact)
	if err := e.lease.CheckAfterClose(ctx); err != nil {
		if next != nil {
			err = errors.Join(err, next.Close())
		}
		return nil, err
	}
	if next != nil {
		e.keptReferences, _ = notes.(map[string]keptReference)
		return next, nil
	}
	program, err := e.builder.Open(ctx, e.artifact, e.lease.Environment(0))
	return program, e.InterruptionError(ctx, "", err)
}

// testKernels tests both kernels, or the custom kernel against a kept reference.
func (e *Evaluation) testKernels(ctx context.Context, program toolchain.Program) (kernelrun.Result, error) {
	if e.request.ReuseReference {
		result, err := e.testWithReuse(ctx, program)
		if err != nil {
			return kernelrun.Result{}, err
		}
		if result != nil {
			return *result, nil
		}
	}
	report, err := e.testBoth(ctx, program, e.beginStage)
	return report.result, err
}

// compareBaselines compares a correct kernel with each baseline, in an additional stage with its own check. A kernel
// that fails this check is not correct; otherwise it could avoid the comparison with faster baselines.
func (e *Evaluation) compareBaselines(ctx context.Context, program toolchain.Program, result *kernelrun.Result) error {
	if !result.Correctness {
		return nil
	}
	request, text, key := e.request, e.requestJSON, e.precompiled.cacheKey
	defer func() { e.request, e.requestJSON, e.precompiled.cacheKey = request, text, key }()
	eager := *result
	for _, name := range request.Baselines {
		of := eager
		if name != kernelrun.BaselineEager {
			compiled := *request.RefKernel
			compiled.TorchCompile = true
			e.request.RefKernel = &compiled
			var err error
			if _, _, e.requestJSON, err = taskForRequest(e.request, e.Job.Device); err != nil {
				return err
			}
			e.precompiled.cacheKey.SourceText = kernelsKeyText(e.request)
			report, err := e.testBoth(ctx, program, func(string) {})
			if err != nil {
				return err
			}
			if of = report.result; report.customKernelFailed() {
				result.Correctness, result.FirstMismatch = false, of.FirstMismatch
				result.Speedup, result.SpeedupInterval = nil, nil
				result.ValidationError = fmt.Sprintf("Beside the baseline %s, the kernel failed:\n%s", name, kernelrun.ComparisonWithBaseline(of).Error)
			}
		}
		if result.Baselines == nil {
			result.Baselines = map[string]kernelrun.BaselineComparison{}
		}
		result.Baselines[name] = kernelrun.ComparisonWithBaseline(of)
	}
	return nil
}

// newReaderOfRequest returns a reader of the report that a stage of the evaluation's request writes. onStage is called
// for each stage that the report names.
func (e *Evaluation) newReaderOfRequest(onStage func(string)) *reportReader {
	r := newReportReader(onStage)
	r.inputGenerator = inputProcessLabel(e.request)
	return r
}

// runProgram runs the program once and parses its report while the program writes it.
func (e *Evaluation) runProgram(
	ctx context.Context, program toolchain.Program, report *reportReader, req toolchain.StageRequest,
) (judge.StageEnding, error) {
	e.programReusable, req.KeepsJudge = false, true
	if req.Mode != modeKeepReference && len(e.request.Baselines) == 0 && !e.request.DeviceMetrics {
		report.onMayPrepare = program.PrepareLater // nothing is measured after this stage
	}
	req.OnResultPipe = report.read
	req.OnStdout, req.OnStderr = report.stdout, report.stderr
	watch := device.StartWatcher(ctx, e.Slot.Slot)
	out, err := program.RunStage(ctx, req)
	watch.StopAndStore(&e.Result.Machine)
	e.Result.ProgramNS += out.WallTime.Nanoseconds()
	if err := e.InterruptionError(ctx, "", err); err != nil {
		return out, err
	}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	e.programReusable = out.ExitCode == 0 && (out.JudgeOutcome == nil || out.JudgeOutcome.ExitCode == 0)
	if e.programReusable && report.compiledForms != nil {
		e.builder.StoreKernels(marshalPart(report.compiledForms), e.precompiled.cacheKey)
	}
	if (out.Signal != "" || out.ExceededLimit != "" || out.EarlierProcessKilled) && !e.lease.ProbeAfterFailure(ctx) &&
		out.EarlierProcessKilled {
		return out, slots.ErrOutOfService // the earlier evaluation may have broken the device
	}
	return out, nil
}

// conclude completes the report of a program that has ended.
func conclude(report *reportReader, out judge.StageEnding) error {
	if _, err := report.conclude(out); err != nil {
		return attempt.MarkCausedByJob(err) // a kernel may have used up the device's memory, which the judge then lacks
	}
	return nil
}

// readCounters reads the device metrics of each kernel in a separate pass. If that fails, the result has the reason and
// is otherwise unchanged.
func (e *Evaluation) readCounters(ctx context.Context, program toolchain.Program, result *kernelrun.Result) error {
	result.Metrics = map[string]kernelrun.KernelMetrics{}
	for _, label := range kernelLabels(e.request) {
		metrics, err := e.nsight.CollectCounters(ctx, program, e.stageRequest(modeProfile+label, label), e.request.NCUSections, kernelByLabel(e.request, label).JoinedText())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			result.MetricsError = fmt.Sprintf("%s kernel: %s", label, attempt.ErrorSentence(err))
			continue
		}
		result.Metrics[label] = metrics
	}
	return nil
}

// storeResult stores the evaluation's result in the attempt's.
func (e *Evaluation) storeResult(result kernelrun.Result) error {
	m := e.Result.Machine
	result.Device, result.DeviceName, result.CUDA = e.Job.Device, m.DeviceName, m.CUDA
	result.Remarks = slices.Concat(e.request.Remarks, result.Remarks)
	result.SlotIndex, result.Worker = e.Slot.Index, e.WorkerName()
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the evaluation's result: %w", err)
	}
	e.Result.Evaluation = data
	return nil
}
