package warm

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/sandbox"
)

// Stage is one stage to run in a Python.
type Stage struct {
	Argv       []string
	Env        map[string]string
	Files      map[string][]byte // in the working directory, by name
	Extensions []byte            // archive of compiled extensions, unpacked before the start
	HasReport  bool              // provide a result pipe; false for the runner beside a judge
	ExtraFiles []*os.File        // its descriptors from 4 on
	Started    func()            // called after the request was sent
	Resident   bool              // keep its process for later stages of the same script; it must not run untrusted code

	Timeout time.Duration // 0 for none
	Output  int64         // limit of both streams together in bytes; 0 for none
	// OnPipe receives the report, OnStdout and OnStderr the output, while the stage runs; each may be nil.
	OnPipe, OnStdout, OnStderr func([]byte)
	Log                        *slog.Logger
}

// runningStage is a stage in progress.
type runningStage struct {
	Stage
	python         *Python
	stdout, stderr sandbox.Capture
	outputBytes    int64
}

// Run sends the request and follows the stage to its end, which may also be the Python's. An error is an infrastructure
// error; the outcome describes the program's end.
func (r *Python) Run(ctx context.Context, stage Stage) (sandbox.Outcome, error) {
	req := stageRequest{
		Argv: stage.Argv, Env: stage.Env, Files: stage.Files, Extensions: stage.Extensions, WireCount: len(stage.ExtraFiles),
		HasReport: stage.HasReport, Resident: stage.Resident,
	}
	s := &runningStage{Stage: stage, python: r}
	return s.run(ctx, req)
}

func (s *runningStage) run(ctx context.Context, req stageRequest) (sandbox.Outcome, error) {
	begun := time.Now()
	ended, cut := s.follow(ctx, req)
	took := time.Since(begun)
	if ended != nil && ended.MustNotBeReused {
		s.Log.Info("a stage left what cannot be removed; the next one gets another Python")
		s.python.Stop()
	}
	return s.conclude(ended, cut, took)
}

// follow reads frames up to the stage's end. cut names the reason if the stage was ended early: output, cancelled, or
// wall.
func (s *runningStage) follow(ctx context.Context, req stageRequest) (ended *stageEnd, cut string) {
	frames := make(chan frame)
	go s.receive(req, frames)
	timeout := ctx.Done()
	var wall <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		wall = timer.C
	}
	stop := func(why string) {
		cut, timeout, wall = why, nil, nil
		s.python.kill()
	}
	for open := true; open; {
		select {
		case f, ok := <-frames:
			if open = ok; ok && cut == "" {
				ended = s.observe(f)
				if s.Output > 0 && s.outputBytes > s.Output {
					stop("output")
				}
			}
		case <-timeout:
			stop("cancelled")
		case <-wall:
			stop("wall")
		}
	}
	return ended, cut
}

// receive requests the stage and passes on its frames until the stage or the Python ends.
func (s *runningStage) receive(req stageRequest, frames chan<- frame) {
	defer close(frames)
	if err := s.python.send(req, s.ExtraFiles); err != nil {
		return // the Python has ended; its outcome has the reason
	}
	s.Started()
	for {
		f, err := readFrame(s.python.controlSocket)
		if err != nil {
			return
		}
		frames <- f
		if f.kind == frameStageEnded {
			return
		}
	}
}

// observe handles one frame. It returns the ending for the stage's last frame, otherwise nil.
func (s *runningStage) observe(f frame) *stageEnd {
	switch f.kind {
	case frameStdout:
		s.outputBytes += int64(len(f.data))
		_, _ = s.stdout.Write(f.data)
		callIfSet(s.OnStdout, f.data)
	case frameStderr:
		s.outputBytes += int64(len(f.data))
		_, _ = s.stderr.Write(f.data)
		callIfSet(s.OnStderr, f.data)
	case frameResult:
		callIfSet(s.OnPipe, f.data)
	case frameStageEnded:
		var e stageEnd
		if json.Unmarshal(f.data, &e) == nil {
			return &e
		}
	}
	return nil
}

func callIfSet(see func([]byte), data []byte) {
	if see != nil {
		see(data)
	}
}

// conclude returns the stage's outcome. After a failed stage the Python is stopped, because the sandbox's counters
// (memory, processes) show the reason.
func (s *runningStage) conclude(ended *stageEnd, cut string, wall time.Duration) (sandbox.Outcome, error) {
	var o sandbox.Outcome
	if ended == nil || ended.Signal != 0 || (ended.ExitCode != 0 && ended.ExitCode != exitValidationFailed) {
		s.python.Stop()
		if s.python.err != nil && cut == "" {
			return o, s.python.err
		}
		o = s.python.outcome
		_, _ = s.stderr.Write([]byte(o.Stderr)) // the Python's own last output
	}
	if ended != nil {
		o.ExitCode, o.CPU, o.MemoryMax = ended.ExitCode, time.Duration(ended.CPU), max(o.MemoryMax, ended.MaxRSS)
		o.Signal = ""
		if ended.Signal != 0 {
			o.ExitCode, o.Signal = 128+ended.Signal, unix.SignalName(syscall.Signal(ended.Signal))
		}
		o.Limit = exceededLimit(o)
	}
	o.Cancelled = cut == "cancelled"
	if cut != "" && !o.Cancelled {
		o.Limit = cut
	}
	o.Wall, o.Stdout, o.Stderr = wall, s.stdout.String(), s.stderr.String()
	return o, nil
}

// exitValidationFailed is the exit code of a program that completed and found a wrong answer.
const exitValidationFailed = 112

// exceededLimit returns the limit that the sandbox recorded, or the one that the signal implies.
func exceededLimit(o sandbox.Outcome) string {
	switch {
	case o.Limit != "":
		return o.Limit
	case o.Signal == "SIGXCPU":
		return "cpu"
	case o.Signal == "SIGXFSZ":
		return "file size"
	}
	return ""
}

// stageRequest asks warm.py for one stage.
type stageRequest struct {
	Argv       []string          `json:"argv"`
	Env        map[string]string `json:"env"`
	Files      map[string][]byte `json:"files"`
	Extensions []byte            `json:"extensions"`
	// WireCount is the number of descriptors sent with the request; they become the stage's from 4 on.
	WireCount int `json:"wires"`
	// HasReport is false for a process without a report: the runner beside a judge.
	HasReport bool `json:"report"`
	// Resident keeps the process of this stage for others of the same script.
	Resident bool `json:"resident"`
}

// stageEnd is warm.py's report on a finished stage.
type stageEnd struct {
	ExitCode int   `json:"exit_code"`
	Signal   int   `json:"signal"`
	CPU      int64 `json:"cpu_ns"`
	MaxRSS   int64 `json:"max_rss"`
	// MustNotBeReused means that the stage left something that cannot be removed: the Python must not serve another
	// one.
	MustNotBeReused bool `json:"spent"`
}

// send sends the request; wires go with its first byte.
func (r *Python) send(req stageRequest, wires []*os.File) error {
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if len(wires) > 0 {
		numbers := make([]int, len(wires))
		for i, f := range wires {
			numbers[i] = int(f.Fd())
		}
		n, _, err := r.stdin.WriteMsgUnix(line[:1], unix.UnixRights(numbers...), nil)
		if err != nil {
			return err
		}
		line = line[n:]
	}
	_, err = r.stdin.Write(line)
	return err
}
