package toolchain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// ProcessRunner runs one untrusted process to its end. The implementation is *sandbox.Sandbox.
type ProcessRunner interface {
	Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error)
}

// Environment is the sandbox environment of a program: its user ID, devices, mounts, and limits.
type Environment struct {
	SandboxSlot       int   // sandbox slot, which determines the user ID
	JudgeSandboxSlot  int   // sandbox slot of the judge
	ExtraSandboxSlots []int // sandbox slots of a stage's further processes
	// sandbox slots for the next programs: as many for each as this program has processes; see AlternateEnvironment
	AlternateSandboxSlots []int
	Arch                  string            // compute capability without the dot, "90"; empty on CPU
	GPUCount              int               // GPUs of a multi-GPU task; becomes POPCORN_GPUS if positive
	DeviceNodes           []string          // device nodes, for running only; builds do not get them
	Mounts                []sandbox.Mount   // driver libraries
	Env                   map[string]string // LD_LIBRARY_PATH and the like
	BuildLimits           sandbox.Limits    // limits of one compiler command
	RunLimits             sandbox.Limits    // limits of a program; WallTime comes from each stage
	// the submission's memory limit in bytes if the task sets one; 0 for that of RunLimits
	MemoryLimit int64
}

// StageRequest describes one stage to run.
type StageRequest struct {
	Mode       string       // harness.EvalMode of the stage: test, benchmark, leaderboard or profile
	Cases      []tasks.Case // cases to run, in order
	Seed       *uint64      // becomes POPCORN_SEED, cut to 31 bits as task programs expect; nil for none
	Timeout    time.Duration
	LingerTime time.Duration     // see judge.RunnerConfig.LingerTime
	Files      map[string][]byte // Python: additional files of the judge, or of the only process, by name
	// OnResultPipe receives data of the result pipe, and OnStdout and OnStderr the output, while the stage runs. Each
	// may be nil. None is called after RunStage has returned. A slice is valid only during the call.
	OnResultPipe, OnStdout, OnStderr func([]byte)
	// NeedsAnotherProcess makes the judge measure in several processes of the submission, one after another. RunStage
	// calls it before each process except the first (number is 1, 2, …); if it returns false, there are no more. It may
	// block until the judge reports something. nil means one process. Only the output of the first process is
	// forwarded.
	NeedsAnotherProcess func(ctx context.Context, number int) bool
	// Processes lists Python processes that run concurrently with one judge, each with a separate user ID. The first
	// can be wrapped. The output of all of them is forwarded. WithoutJudge runs only the first one, with the result
	// pipe.
	Processes    []StageProcess
	WithoutJudge bool
	// KeepsJudge keeps the judge of a Python program, with its initialized state, for a stage of the next program. Such
	// a judge must not run untrusted code.
	KeepsJudge bool
}

// StageProcess is one of several concurrent processes. It gets the task's files and its own, but no submitted file.
type StageProcess struct {
	Arguments     []string
	SubmittedFile string // the submitted file whose compiled extensions it gets
	Files         map[string][]byte
	// PrepareArguments has the arguments of the script's function prepare, which is called ahead, in the process that
	// the next program will use for the same purpose. NeedsNewProcess means that the stage must not use such a process.
	PrepareArguments []string
	NeedsNewProcess  bool
	UsesOneStream    bool // all its work on the device is in one stream; see warm.Python.PrepareStage
}

// Program is a built submission in one sandbox environment. Its stages must run one after another. Only compiled
// kernels pass from one stage to the next.
type Program interface {
	// RunStage runs one stage to its end. The error is an infrastructure error; the StageEnding describes the program's
	// end.
	RunStage(ctx context.Context, req StageRequest) (judge.StageEnding, error)
	// RunWrapped is RunStage for tools that run a command, such as ncu. wrapped runs the submission's process, which is
	// always new, inside the tool. It must pass the result pipe to the process as descriptor 3 (POPCORN_FD=3).
	RunWrapped(ctx context.Context, req StageRequest, wrapped ProcessWrapper) (judge.StageEnding, error)
	// Next reuses this program's processes for another build of the same person. It returns nil if none can be reused.
	// Both programs must be closed.
	Next(a *Artifact) Program
	// PrepareLater begins to prepare the processes of a program after the next one. For 0.4 s it uses the device, so
	// call it when nothing is measured. Only the first call has an effect. Next calls it, too.
	PrepareLater()
	// IsWarm reports whether the first stage runs in a process that had done its imports when the program was opened.
	IsWarm() bool
	// Close ends all remaining processes.
	Close() error
}

// ProcessWrapper runs a process inside another tool.
type ProcessWrapper func(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error)

const (
	casesFileName   = "cases.txt"
	resultPipeFD    = 3
	seedMask        = 1<<31 - 1
	pipeBufferBytes = 64 << 10
)

// environmentVariables returns the environment variables of an eval program.
func (p Environment) environmentVariables(req StageRequest) map[string]string {
	env := map[string]string{"POPCORN_FD": strconv.Itoa(resultPipeFD)}
	if req.Seed != nil {
		env["POPCORN_SEED"] = strconv.FormatUint(*req.Seed&seedMask, 10)
	}
	if p.GPUCount > 0 {
		env["POPCORN_GPUS"] = strconv.Itoa(p.GPUCount)
	}
	maps.Copy(env, p.Env)
	return env
}

// JudgeEnvironment returns the sandbox environment of the judge. Memory that it shares with the program counts as
// files.
func (p Environment) JudgeEnvironment() Environment {
	p.SandboxSlot, p.RunLimits.FileSize, p.MemoryLimit = p.JudgeSandboxSlot, p.RunLimits.Memory, 0
	return p
}

// ExtraEnvironment returns the sandbox environment of an additional process, numbered from 1.
func (p Environment) ExtraEnvironment(number int) Environment {
	p.SandboxSlot = p.ExtraSandboxSlots[number-1]
	return p
}

// AlternateEnvironment returns the sandbox environment for the same person's next program. It has other user IDs, and
// its processes are prepared while this program runs. Repeated calls cycle through all environments. It returns false
// if all programs use the same environment.
func (p Environment) AlternateEnvironment() (Environment, bool) {
	if len(p.AlternateSandboxSlots) == 0 {
		return p, false
	}
	n := 1 + len(p.ExtraSandboxSlots)
	places := slices.Concat(p.AlternateSandboxSlots, []int{p.SandboxSlot}, p.ExtraSandboxSlots)
	p.SandboxSlot, p.ExtraSandboxSlots, p.AlternateSandboxSlots = places[0], places[1:n:n], places[n:]
	return p, true
}

// AlternateEnvironments returns the environments that take turns with this one, in their order.
func (p Environment) AlternateEnvironments() (all []Environment) {
	for next, ok := p.AlternateEnvironment(); ok && next.SandboxSlot != p.SandboxSlot; next, _ = next.AlternateEnvironment() {
		all = append(all, next)
	}
	return all
}

// sandboxSpec returns the sandbox spec for a program in this environment, without command line and files.
func (p Environment) sandboxSpec(req StageRequest) sandbox.Spec {
	s := sandbox.Spec{
		SandboxSlot: p.SandboxSlot, Env: p.environmentVariables(req), Mounts: p.Mounts,
		DeviceNodes: p.DeviceNodes, MountProc: len(p.DeviceNodes) > 0, Limits: p.RunLimits, AllowInternetSockets: p.GPUCount > 0,
		OnStdout: req.OnStdout, OnStderr: req.OnStderr,
	}
	if s.Limits.WallTime = req.Timeout; p.MemoryLimit > 0 {
		s.Limits.Memory = min(s.Limits.Memory, p.MemoryLimit)
	}
	return s
}

// runWithResultPipe runs one process and forwards the data of its result pipe while it runs.
func runWithResultPipe(ctx context.Context, runner ProcessRunner, spec sandbox.Spec, onPipe func([]byte)) (sandbox.Outcome, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return sandbox.Outcome{}, fmt.Errorf("make the result pipe: %w", err)
	}
	spec.ResultPipe = write
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		readPipe(read, onPipe)
	}()
	outcome, err := runProcess(ctx, runner.Run, spec)
	write.Close() // all other processes that could write have ended
	<-drained
	return outcome, err
}

// runProcess runs a process with run, but returns a cancelled outcome instead of an error if ctx ended before the start.
func runProcess(ctx context.Context, run ProcessWrapper, spec sandbox.Spec) (sandbox.Outcome, error) {
	outcome, err := run(ctx, spec)
	if err != nil && ctx.Err() != nil && !errors.Is(err, sandbox.ErrProcessStuck) {
		return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
	}
	return outcome, err
}

// readPipe reads a pipe to its end, even if see is nil, because a full pipe would block its writer.
func readPipe(from *os.File, see func([]byte)) {
	defer from.Close()
	buffer := make([]byte, pipeBufferBytes)
	for {
		n, err := from.Read(buffer)
		if n > 0 && see != nil {
			see(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// nativeProgram runs executables, which are started again for every stage.
type nativeProgram struct {
	runner               ProcessRunner
	environment          Environment
	submissionExecutable []byte
	judgeExecutable      []byte // nil without a judge
}

func (p *nativeProgram) RunStage(ctx context.Context, req StageRequest) (judge.StageEnding, error) {
	if p.judgeExecutable != nil {
		return p.runWithJudge(ctx, req, p.runner.Run)
	}
	outcome, err := runWithResultPipe(ctx, p.runner, p.spec(req), req.OnResultPipe)
	return judge.StageEnding{Outcome: outcome}, err
}

func (p *nativeProgram) RunWrapped(ctx context.Context, req StageRequest, wrapped ProcessWrapper) (judge.StageEnding,
	error) {
	if p.judgeExecutable != nil {
		return p.runWithJudge(ctx, req, wrapped)
	}
	outcome, err := wrapped(ctx, p.spec(req))
	return judge.StageEnding{Outcome: outcome}, err
}

// runners returns the submission's processes that the request describes: several concurrent ones, or successive ones
// with the given number of ranks each.
func (req StageRequest) runners(ranks int, side func(number int) judge.ProcessFunc) judge.RunnerConfig {
	if n := len(req.Processes); n > 0 {
		return judge.RunnerConfig{MaxConcurrent: n, LingerTime: req.LingerTime,
			NextRunner: func(_ context.Context, number int) judge.ProcessFunc {
				if number >= n {
					return nil
				}
				return side(number)
			}}
	}
	return judge.RunnerConfig{RanksPerRunner: ranks, LingerTime: req.LingerTime,
		NextRunner: func(ctx context.Context, number int) judge.ProcessFunc {
			if number > 0 && (req.NeedsAnotherProcess == nil || !req.NeedsAnotherProcess(ctx, number)) {
				return nil
			}
			return side(number)
		}}
}

// forRunner returns the request for the submission's process with a number. Of successive processes only the first
// forwards its output.
func (req StageRequest) forRunner(number int) StageRequest {
	theirs := StageRequest{Timeout: req.Timeout}
	if number == 0 || len(req.Processes) > 0 {
		theirs.OnStdout, theirs.OnStderr = req.OnStdout, req.OnStderr
	}
	return theirs
}

// runWithJudge runs a stage with a judge and runners. submitted runs the submission's processes.
func (p *nativeProgram) runWithJudge(ctx context.Context, req StageRequest,
	submitted ProcessWrapper) (judge.StageEnding, error) {
	judging := func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		spec := p.environment.JudgeEnvironment().sandboxSpec(StageRequest{Timeout: req.Timeout})
		spec.Argv = []string{"/in/judge", req.Mode, "/in/" + casesFileName}
		spec.Files = map[string][]byte{"judge": p.judgeExecutable, casesFileName: harness.CasesFile(req.Cases)}
		spec.ExtraFiles, spec.OnStarted = files, on.OnStarted
		return runWithResultPipe(ctx, p.runner, spec, req.OnResultPipe)
	}
	return judge.Run(ctx, judging, req.runners(1, func(number int) judge.ProcessFunc {
		return func(ctx context.Context, files []*os.File, _ judge.ProcessCallbacks) (sandbox.Outcome, error) {
			spec := p.environment.sandboxSpec(req.forRunner(number))
			delete(spec.Env, "POPCORN_FD")
			spec.Argv, spec.Files = []string{"/in/runner"}, map[string][]byte{"runner": p.submissionExecutable}
			spec.ExtraFiles = files
			return runProcess(ctx, submitted, spec)
		}
	}))
}

func (p *nativeProgram) spec(req StageRequest) sandbox.Spec {
	spec := p.environment.sandboxSpec(req)
	spec.Argv = []string{"/in/eval.out", req.Mode, "/in/" + casesFileName}
	spec.Files = map[string][]byte{"eval.out": p.submissionExecutable, casesFileName: harness.CasesFile(req.Cases)}
	return spec
}

func (p *nativeProgram) IsWarm() bool { return false }

func (p *nativeProgram) Next(*Artifact) Program { return nil }

func (p *nativeProgram) PrepareLater() {}

func (p *nativeProgram) Close() error { return nil }
