package toolchain

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// Runner runs one untrusted process to its end; *sandbox.Sandbox is the real one.
type Runner interface {
	Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error)
}

// Place is where programs of one slot run and what they may see there.
type Place struct {
	Slot   int               // the sandbox's slot: its uid
	Judge  int               // the sandbox's slot of the judge beside the program
	Beside []int             // those of further processes of a stage with several
	Arch   string            // compute capability without the dot, "90"; empty on CPU
	GPUs   int               // how many, for a multi-GPU task; becomes POPCORN_GPUS when positive
	Device []string          // device nodes, for running; nothing is built with them
	Mounts []sandbox.Mount   // driver libraries
	Env    map[string]string // LD_LIBRARY_PATH and the like
	Build  sandbox.Limits    // limits of one compiler command
	Run    sandbox.Limits    // limits of a program; Wall comes from each stage
	Most   int64             // bytes of memory that the task leaves to the submission; 0: those of Run
}

// StageRequest asks a program for one stage.
type StageRequest struct {
	Mode    string       // harness.Mode of the stage: test, benchmark, leaderboard or profile
	Cases   []tasks.Case // cases to run, in order
	Seed    *uint64      // becomes POPCORN_SEED, cut to 31 bits as task programs expect; nil for none
	Timeout time.Duration
	Linger  time.Duration     // judge.Runners.Linger
	Files   map[string][]byte // Python: of the judge, or of the only process, beside the job's own, by name
	// OnPipe sees the result pipe, OnStdout and OnStderr the program's output, as they come; each
	// may be nil. None of them is called after RunStage has returned, and a slice is theirs only
	// during the call.
	OnPipe, OnStdout, OnStderr func([]byte)
	// More has a judge measure in several fresh processes of the submission, one after another: it is asked before
	// each process but the first (1, 2, …) whether there is to be another one, and may wait for what the judge
	// reports; nil means one process. Only the first one's output is seen while it runs.
	More func(ctx context.Context, number int) bool
	// Processes are several processes of a Python program, each with its own uid, that run with one judge at the same time;
	// the first can be wrapped. The output of all is shown while they run. Alone says that the first runs without a judge,
	// with the result pipe.
	Processes []Process
	Alone     bool
	// Forget says that the stages after this one find nothing that its processes compiled.
	Forget bool
	// Resident has the judge of a Python program stay for the next program's stage, with what it has set up. It must run no one's
	// code.
	Resident bool
}

// Process is one of several that live together. It finds no submitted file, but the task's files and its own.
type Process struct {
	Arguments []string
	File      string // the submitted file whose compiled extensions it finds
	Files     map[string][]byte
}

// Program is a built submission at one place. Its stages run one after another, and nothing
// that one stage leaves behind reaches the next but compiled kernels.
type Program interface {
	// RunStage runs one stage to its end. The error is an infrastructure error; the outcome describes the program's end.
	RunStage(ctx context.Context, req StageRequest) (judge.Ending, error)
	// RunWrapped is RunStage for tools that wrap a command line (ncu): wrapped runs the submission's process, which is a
	// fresh one here. Its Pipe is left to wrapped: POPCORN_FD is 3.
	RunWrapped(ctx context.Context, req StageRequest, wrapped Wrapped) (judge.Ending, error)
	// Next makes another build of the same person run at this place with what is ready, and takes this
	// program's place. It is nil when nothing can be kept; both end with Close.
	Next(a *Artifact) Program
	// Warm reports whether a runner that had already imported everything serves the stages.
	Warm() bool
	// Close ends whatever still runs.
	Close() error
}

// Wrapped runs a process inside another tool.
type Wrapped func(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error)

const (
	casesName  = "cases.txt"
	resultFD   = 3
	seedBits   = 1<<31 - 1
	pipeBuffer = 64 << 10
)

// environment is what every eval program gets.
func (p Place) environment(req StageRequest) map[string]string {
	env := map[string]string{"POPCORN_FD": strconv.Itoa(resultFD)}
	if req.Seed != nil {
		env["POPCORN_SEED"] = strconv.FormatUint(*req.Seed&seedBits, 10)
	}
	if p.GPUs > 0 {
		env["POPCORN_GPUS"] = strconv.Itoa(p.GPUs)
	}
	maps.Copy(env, p.Env)
	return env
}

// Judges is the place of the judge beside a program of this one. The memory that the two share is files to the kernel.
func (p Place) Judges() Place {
	p.Slot, p.Run.FileSize, p.Most = p.Judge, p.Run.Memory, 0
	return p
}

// Other is the place of a further process beside the program, of a number from 1 on.
func (p Place) Other(number int) Place {
	p.Slot = p.Beside[number-1]
	return p
}

// spec is a program of this place, without its command line and files.
func (p Place) spec(req StageRequest) sandbox.Spec {
	s := sandbox.Spec{
		Slot: p.Slot, Env: p.environment(req), Mounts: p.Mounts,
		Device: p.Device, Proc: len(p.Device) > 0, Limits: p.Run, Interfaces: p.GPUs > 0,
		OnStdout: req.OnStdout, OnStderr: req.OnStderr,
	}
	if s.Limits.Wall = req.Timeout; p.Most > 0 {
		s.Limits.Memory = min(s.Limits.Memory, p.Most)
	}
	return s
}

// runWithPipe runs one process and reads its result pipe while it runs.
func runWithPipe(ctx context.Context, runner Runner, spec sandbox.Spec, onPipe func([]byte)) (sandbox.Outcome, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return sandbox.Outcome{}, fmt.Errorf("make the result pipe: %w", err)
	}
	spec.Pipe = write
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		drain(read, onPipe)
	}()
	outcome, err := run(ctx, runner, spec)
	write.Close() // every other writer is dead
	<-drained
	return outcome, err
}

// run is Runner.Run, except that a run that was cancelled before it began is not an error.
func run(ctx context.Context, runner Runner, spec sandbox.Spec) (sandbox.Outcome, error) {
	outcome, err := runner.Run(ctx, spec)
	if err != nil && ctx.Err() != nil {
		return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
	}
	return outcome, err
}

// drain reads to the end, even without a receiver: a full pipe would stop its writer.
func drain(from *os.File, see func([]byte)) {
	defer from.Close()
	buffer := make([]byte, pipeBuffer)
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

// nativeProgram is executables, started again for every stage.
type nativeProgram struct {
	runner  Runner
	place   Place
	program []byte
	judge   []byte // nil where program judges itself
}

func (p *nativeProgram) RunStage(ctx context.Context, req StageRequest) (judge.Ending, error) {
	if p.judge != nil {
		return p.runJudged(ctx, req, p.runner.Run)
	}
	outcome, err := runWithPipe(ctx, p.runner, p.spec(req), req.OnPipe)
	return judge.Ending{Outcome: outcome}, err
}

func (p *nativeProgram) RunWrapped(ctx context.Context, req StageRequest, wrapped Wrapped) (judge.Ending, error) {
	if p.judge != nil {
		return p.runJudged(ctx, req, wrapped)
	}
	outcome, err := wrapped(ctx, p.spec(req))
	return judge.Ending{Outcome: outcome}, err
}

// runners are the processes of one submission, as the request says: several together, or one after the other, each with its
// number of ranks.
func (req StageRequest) runners(ranks int, side func(number int) judge.Side) judge.Runners {
	if n := len(req.Processes); n > 0 {
		return judge.Runners{Together: n, Linger: req.Linger, Next: func(_ context.Context, number int) judge.Side {
			if number >= n {
				return nil
			}
			return side(number)
		}}
	}
	return judge.Runners{Ranks: ranks, Linger: req.Linger, Next: func(ctx context.Context, number int) judge.Side {
		if number > 0 && (req.More == nil || !req.More(ctx, number)) {
			return nil
		}
		return side(number)
	}}
}

// ofRunner is what is asked of the submission's process of a number beside a judge.
func (req StageRequest) ofRunner(number int) StageRequest {
	theirs := StageRequest{Timeout: req.Timeout}
	if number == 0 || len(req.Processes) > 0 {
		theirs.OnStdout, theirs.OnStderr = req.OnStdout, req.OnStderr
	}
	return theirs
}

// runJudged runs a stage as a judge and runners; the submission's processes in a way of their own.
func (p *nativeProgram) runJudged(ctx context.Context, req StageRequest, submitted Wrapped) (judge.Ending, error) {
	judging := func(ctx context.Context, files []*os.File, started func()) (sandbox.Outcome, error) {
		spec := p.place.Judges().spec(StageRequest{Timeout: req.Timeout})
		spec.Argv = []string{"/in/judge", req.Mode, "/in/" + casesName}
		spec.Files = map[string][]byte{"judge": p.judge, casesName: harness.CasesFile(req.Cases)}
		spec.ExtraFiles, spec.Started = files, started
		return runWithPipe(ctx, p.runner, spec, req.OnPipe)
	}
	return judge.Run(ctx, judging, req.runners(1, func(number int) judge.Side {
		return func(ctx context.Context, files []*os.File, _ func()) (sandbox.Outcome, error) {
			spec := p.place.spec(req.ofRunner(number))
			delete(spec.Env, "POPCORN_FD")
			spec.Argv, spec.Files = []string{"/in/runner"}, map[string][]byte{"runner": p.program}
			spec.ExtraFiles = files
			outcome, err := submitted(ctx, spec)
			if err != nil && ctx.Err() != nil {
				return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
			}
			return outcome, err
		}
	}))
}

func (p *nativeProgram) spec(req StageRequest) sandbox.Spec {
	spec := p.place.spec(req)
	spec.Argv = []string{"/in/eval.out", req.Mode, "/in/" + casesName}
	spec.Files = map[string][]byte{"eval.out": p.program, casesName: harness.CasesFile(req.Cases)}
	return spec
}

func (p *nativeProgram) Warm() bool { return false }

func (p *nativeProgram) Next(*Artifact) Program { return nil }

func (p *nativeProgram) Close() error { return nil }
