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

// Conn is a worker's connection to the site. The implementation is *queue.Conn.
type Conn interface {
	Receive(ctx context.Context, device string, load func() job.WorkRequest, changed <-chan struct{}) (job.Job, error)
	PublishEvent(job.Event) error
	PublishResult(context.Context, job.Result) error
	Sync(context.Context, job.Heartbeat) error
	SubscribeCancellations(fn func(attemptID string)) error
	NextPrecompileJob(ctx context.Context, device string, known []int64) (job.PrecompileJob, error)
	// MaxMessage returns the size of the largest message, in bytes.
	MaxMessage() int
}

// Sandbox isolates untrusted programs and can test its isolation. The implementation is *sandbox.Sandbox.
type Sandbox interface {
	SelfTest(ctx context.Context) []job.SelfTestResult
	Name() string
}

// Builder builds jobs and opens the programs. The implementation is *toolchain.Builder.
type Builder interface {
	taskrun.Builder
	evaluation.Builder
	evaluation.Inspector
	// KeepWarm keeps n Pythons ready in a sandbox environment until ctx ends.
	KeepWarm(ctx context.Context, place toolchain.Environment, n int) error
	// PrecompileTask compiles a task's own files and returns the number of newly compiled ones.
	PrecompileTask(ctx context.Context, p job.PrecompileJob, place toolchain.Environment) (made int, err error)
}

// Config configures a Worker. Zero durations and counts mean the defaults in the comments.
type Config struct {
	Name      string // the worker's name, as in its credential
	Version   string // version of the program, for the queue page
	Conn      Conn
	Sandbox   Sandbox
	Builder   Builder
	Toolchain toolchain.Toolchain
	Slots     []device.Slot
	// ConcurrentBuilds is the number of jobs compiled at the same time. The default is half of the processors, or fewer
	// if half of the memory does not suffice.
	ConcurrentBuilds int
	// WarmPythons is the number of Pythons kept ready at each slot, with their imports done. The default is none.
	WarmPythons int
	// Precompile enables precompiling tasks before anyone submits to them.
	Precompile bool
	// SelfTest configures self-tests of slots. The zero value disables them.
	SelfTest SelfTestConfig
	// SlotBenchmarks configures benchmarks of idle slots. The zero value disables them.
	SlotBenchmarks SlotBenchmarkConfig
	// MeasureConfig sets the number of processes that measure a score. Only tests change the zero value.
	MeasureConfig taskrun.MeasureConfig
	// Profiler is nil if profiling is unavailable or disabled.
	Profiler taskrun.Profiler
	// Sanitizer is nil if compute-sanitizer is unavailable.
	Sanitizer *sanitizing.Sanitizer
	// Nsight reads the device metrics of evaluations; nil if unavailable.
	Nsight *profiling.Nsight
	// ProbeDevice checks a slot's device with a small program after a failed job. An error takes the slot out of
	// service. nil means no check.
	ProbeDevice func(context.Context, device.Slot) error

	// ExitConditions configures when the worker exits by itself. The zero value means never.
	ExitConditions ExitConditions
	// WaitForShutdownNotice waits for the notice that the machine will be shut down, and returns the time by which
	// results must be delivered. It returns false if ctx ended first. Nil means that there is no notice, and the worker
	// is stopped instead.
	WaitForShutdownNotice func(ctx context.Context) (until time.Time, ok bool)

	// The site considers a worker dead after fleet.WorkerTimeout without a heartbeat, so the interval must be several
	// times shorter.
	HeartbeatEvery time.Duration // interval of heartbeats; 2 s
	// StopTimeout must be shorter than the time after which the service manager (systemd, Kubernetes) kills the
	// process. Otherwise jobs are lost instead of handed back.
	StopTimeout time.Duration // time for running jobs to end when the worker stops; 30 s
	Log         *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.ConcurrentBuilds == 0 {
		c.ConcurrentBuilds = slots.ConcurrentBuilds()
	}
	if c.HeartbeatEvery == 0 {
		c.HeartbeatEvery = 2 * time.Second
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = 30 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = c.Log.With("part", "worker", "worker", c.Name)
	return c
}
