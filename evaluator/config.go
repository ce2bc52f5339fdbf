package evaluator

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// Conn is a worker's connection to the site; *queue.Conn is the real one.
type Conn interface {
	Prefetch(ctx context.Context, device string, busy func() bool) (*queue.Delivery, error)
	PublishEvent(job.Event) error
	PublishResult(context.Context, job.Result) error
	Heartbeat(job.Heartbeat) error
	Cancels(fn func(attemptID string)) (stop func(), err error)
	Preparations(ctx context.Context, devices []string) (<-chan job.Preparation, error)
	// MaxMessage is the largest message in bytes.
	MaxMessage() int
}

// Sandbox proves that untrusted programs are held; *sandbox.Sandbox is the real one.
type Sandbox interface {
	SelfTest(ctx context.Context) []job.CheckLine
	Name() string
}

// Builder builds jobs and makes them run; *toolchain.Builder is the real one.
type Builder interface {
	Build(ctx context.Context, req toolchain.BuildRequest) (*toolchain.Artifact, job.StageResult, error)
	Open(ctx context.Context, a *toolchain.Artifact, place toolchain.Place) (toolchain.Program, error)
	OpenReady(a *toolchain.Artifact, place toolchain.Place) toolchain.Program
	KeepWarm(ctx context.Context, place toolchain.Place, n int) error
	Recall(toolchain.RecallKey) []byte
	Remember(data []byte, k toolchain.RecallKey)
	Prepare(ctx context.Context, p job.Preparation, place toolchain.Place) (made int, err error)
}

// ProfileRequest asks for a profile of what was just built, on the slot that it holds.
type ProfileRequest struct {
	Job     job.Job
	Program toolchain.Program
	Place   toolchain.Place
	Cases   []tasks.Case
	// OnLog sees output as it comes; stream is "stdout" or "stderr". OnCase sees each case as it ends.
	OnLog  func(stream string, text []byte)
	OnCase func(job.CaseResult)
}

// Profiler profiles a program on its device; *Nsight is the real one. What goes wrong with the program is in the stage's
// Status and Failure; the error is ours.
type Profiler interface {
	Profile(ctx context.Context, req ProfileRequest) (job.StageResult, []job.Artifact, error)
}

// Config is what a Worker needs. Zero times and counts mean the defaults named with them.
type Config struct {
	Name    string // the worker's name, as its credential has it
	Version string // of the program, for the devices page
	Conn    Conn
	Sandbox Sandbox
	Builder Builder
	Tools   toolchain.Toolchain
	Slots   []device.Slot
	// Builds is how many jobs are compiled at the same time; 0 means half of the processors.
	Builds int
	// Warm is how many Pythons wait at each slot with their imports done; 0 means none.
	Warm int
	// Ahead has what belongs to tasks compiled before anybody submits to them.
	Ahead bool
	// Profiler is nil where nothing can be profiled, or nothing shall be.
	Profiler Profiler
	// Counters reads the device metrics of evaluations; nil where nothing can.
	Counters *Counters
	// Probe checks a slot's unit with a small known program, after something failed on it; nil
	// for none. An error takes the slot out of service.
	Probe func(context.Context, device.Slot) error

	Beat   time.Duration // between heartbeats; 2 s
	Extend time.Duration // between signs of life for a job in hand; 8 s
	Grace  time.Duration // for jobs on their slot to end when the worker stops; 30 s
	Log    *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Builds == 0 {
		c.Builds = max(1, runtime.NumCPU()/2)
	}
	if c.Beat == 0 {
		c.Beat = 2 * time.Second
	}
	if c.Extend == 0 {
		c.Extend = 8 * time.Second
	}
	if c.Grace == 0 {
		c.Grace = 30 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = c.Log.With("part", "worker", "worker", c.Name)
	return c
}
