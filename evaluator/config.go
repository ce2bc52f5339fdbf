package evaluator

import (
	"context"
	"log/slog"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun/evaluation"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/sanitizing"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/taskrun"
	"warpboard/evaluator/toolchain"
)

// Conn is a worker's connection to the site; *queue.Conn is the real one.
type Conn interface {
	Receive(ctx context.Context, device string, load func() (busy bool, building int)) (job.Job, error)
	PublishEvent(job.Event) error
	PublishResult(context.Context, job.Result) error
	Sync(context.Context, job.Heartbeat) error
	Cancels(fn func(attemptID string)) error
	Ahead(ctx context.Context, device string, known []int64) (job.Preparation, error)
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
	taskrun.Builder
	evaluation.Builder
	// KeepWarm keeps n Pythons ready at a place until ctx ends.
	KeepWarm(ctx context.Context, place toolchain.Place, n int) error
	// Prepare compiles what belongs to a task, and returns how many units were not compiled yet.
	Prepare(ctx context.Context, p job.Preparation, place toolchain.Place) (made int, err error)
}

// Config is what a Worker needs. Zero times and counts mean the defaults named with them.
type Config struct {
	Name    string // the worker's name, as its credential has it
	Version string // of the program, for the queue page
	Conn    Conn
	Sandbox Sandbox
	Builder Builder
	Tools   toolchain.Toolchain
	Slots   []device.Slot
	// Builds is how many jobs are compiled at the same time; 0 means half of the processors, or as many as half of the memory
	// has room for.
	Builds int
	// Warm is how many Pythons with their imports done are kept ready at each slot; 0 means none.
	Warm int
	// Ahead precompiles what belongs to tasks before anyone submits to them.
	Ahead bool
	// Check says when slots are tested with small known programs; its zero value: never.
	Check Checking
	// Gauge says when idle slots are measured with kernels of our own; its zero value: never.
	Gauge Gauging
	// Measuring says in how many fresh processes a score is measured; its zero value is for everything but tests.
	Measuring taskrun.Measuring
	// Profiler is nil where nothing can be profiled, or nothing shall be.
	Profiler taskrun.Profiler
	// Sanitizer is nil where nothing can be checked with compute-sanitizer.
	Sanitizer *sanitizing.Sanitizer
	// Nsight reads the device metrics of evaluations; nil where none can be read.
	Nsight *profiling.Nsight
	// Probe checks a slot's unit with a small known program, after something failed on it; nil
	// for none. An error takes the slot out of service.
	Probe func(context.Context, device.Slot) error

	// Leave says when the worker ends by itself; its zero value: never.
	Leave Leaving
	// Notice waits for the notice that the machine goes away, and returns the time when results must be delivered; false:
	// ctx ended first. nil: there is no notice, the worker is stopped instead.
	Notice func(ctx context.Context) (until time.Time, ok bool)

	// The site takes a worker for gone after fleet.WorkerTimeout without one; a beat must fit into that several times.
	Beat time.Duration // between syncs; 2 s
	// It has to be shorter than what ends the process by force (systemd, Kubernetes), or jobs are lost instead of handed
	// back.
	Grace time.Duration // for jobs on their slot to end when the worker stops; 30 s
	Log   *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Builds == 0 {
		c.Builds = slots.Builds()
	}
	if c.Beat == 0 {
		c.Beat = 2 * time.Second
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
