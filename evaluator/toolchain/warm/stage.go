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

// Stage is one stage that a Python serves.
type Stage struct {
	Argv       []string
	Env        map[string]string
	Files      map[string][]byte // in its working directory, by name
	Extensions []byte            // archive of compiled extensions, unpacked before it starts
	Report     bool              // whether it gets a pipe for its report; the runner beside a judge has none
	Wires      []*os.File        // become its descriptors from 4 on
	Started    func()            // is called when the request was sent
	Forget     bool              // later stages do not find what it compiled, no matter which was first
	Resident   bool              // its process stays for later stages of the same script; it must run no one's code

	Timeout time.Duration // 0 for none
	Output  int64         // limit of both streams together in bytes; 0 for none
	// OnPipe sees the report, OnStdout and OnStderr the output, as they come; each may be nil.
	OnPipe, OnStdout, OnStderr func([]byte)
	Log                        *slog.Logger
}

// running is a stage under way.
type running struct {
	Stage
	python         *Python
	stdout, stderr sandbox.Capture
	output         int64
}

// Run sends the request and follows the stage to its end, which may be the Python's too. The error is about the machine; the
// outcome describes the program's end.
func (r *Python) Run(ctx context.Context, stage Stage) (sandbox.Outcome, error) {
	req := request{
		Argv: stage.Argv, Env: stage.Env, Files: stage.Files, Extensions: stage.Extensions, Wires: len(stage.Wires),
		Report: stage.Report, Keep: !r.served && !stage.Forget, First: !r.served, Resident: stage.Resident,
	}
	r.served = true
	s := &running{Stage: stage, python: r}
	return s.run(ctx, req)
}

func (s *running) run(ctx context.Context, req request) (sandbox.Outcome, error) {
	begun := time.Now()
	ended, cut := s.follow(ctx, req)
	took := time.Since(begun)
	if ended != nil && ended.Kept != nil && ended.Kept.Files > 0 {
		s.Log.Debug("later stages find what this one compiled", "files", ended.Kept.Files, "bytes", ended.Kept.Bytes, "sha256", ended.Kept.SHA256)
	}
	if ended != nil && ended.Spent {
		s.Log.Info("a stage left what cannot be removed; the next one gets another Python")
		s.python.Stop()
	}
	return s.conclude(ended, cut, took)
}

// follow reads a stage to its last frame. Cut says what ended it before its own end: output, cancelled or wall.
func (s *running) follow(ctx context.Context, req request) (ended *ending, cut string) {
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
				ended = s.see(f)
				if s.Output > 0 && s.output > s.Output {
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

// receive asks for the stage and hands on its frames, to the last one of the stage or the Python.
func (s *running) receive(req request, frames chan<- frame) {
	defer close(frames)
	if err := s.python.send(req, s.Wires); err != nil {
		return // the Python is gone; its outcome says why
	}
	s.Started()
	for {
		f, err := readFrame(s.python.control)
		if err != nil {
			return
		}
		frames <- f
		if f.kind == frameEnded {
			return
		}
	}
}

// see takes one frame; the stage has ended when it returns something.
func (s *running) see(f frame) *ending {
	switch f.kind {
	case frameStdout:
		s.output += int64(len(f.data))
		_, _ = s.stdout.Write(f.data)
		call(s.OnStdout, f.data)
	case frameStderr:
		s.output += int64(len(f.data))
		_, _ = s.stderr.Write(f.data)
		call(s.OnStderr, f.data)
	case frameResult:
		call(s.OnPipe, f.data)
	case frameEnded:
		var e ending
		if json.Unmarshal(f.data, &e) == nil {
			return &e
		}
	}
	return nil
}

func call(see func([]byte), data []byte) {
	if see != nil {
		see(data)
	}
}

// conclude says how the stage ended. A stage that failed takes its Python with it: what the
// sandbox counted in the meantime (memory, processes) says why.
func (s *running) conclude(ended *ending, cut string, wall time.Duration) (sandbox.Outcome, error) {
	var o sandbox.Outcome
	if ended == nil || ended.Signal != 0 || (ended.ExitCode != 0 && ended.ExitCode != exitValidateFail) {
		s.python.Stop()
		if s.python.err != nil && cut == "" {
			return o, s.python.err
		}
		o = s.python.outcome
		_, _ = s.stderr.Write([]byte(o.Stderr)) // what the Python itself said before it ended
	}
	if ended != nil {
		o.ExitCode, o.CPU, o.MemoryMax = ended.ExitCode, time.Duration(ended.CPU), max(o.MemoryMax, ended.MaxRSS)
		o.Signal = ""
		if ended.Signal != 0 {
			o.ExitCode, o.Signal = 128+ended.Signal, unix.SignalName(syscall.Signal(ended.Signal))
		}
		o.Limit = limitOf(o)
	}
	o.Cancelled = cut == "cancelled"
	if cut != "" && !o.Cancelled {
		o.Limit = cut
	}
	o.Wall, o.Stdout, o.Stderr = wall, s.stdout.String(), s.stderr.String()
	return o, nil
}

// exitValidateFail is the exit code of a program that ran in order and found a wrong answer.
const exitValidateFail = 112

// limitOf keeps the limit that the sandbox saw, and adds those that a signal stands for.
func limitOf(o sandbox.Outcome) string {
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

// request asks for one stage; warm.py reads it.
type request struct {
	Argv       []string          `json:"argv"`
	Env        map[string]string `json:"env"`
	Files      map[string][]byte `json:"files"`
	Extensions []byte            `json:"extensions"`
	// Wires is how many descriptors come along, which become the stage's from 4 on.
	Wires int `json:"wires"`
	// Report is false for a process that has nothing to report: the runner beside a judge.
	Report bool `json:"report"`
	// First is true of a job's first stage: it finds nothing compiled.
	First bool `json:"first"`
	// Keep has later stages find what this one compiled. Only a job's first stage may have it: what other stages compile reaches no
	// one.
	Keep bool `json:"keep"`
	// Resident has the process that serves this stage stay for others of the same script.
	Resident bool `json:"resident"`
}

// ending is what warm.py says of a stage that has ended.
type ending struct {
	ExitCode int   `json:"exit_code"`
	Signal   int   `json:"signal"`
	CPU      int64 `json:"cpu_ns"`
	MaxRSS   int64 `json:"max_rss"`
	// Spent says that the stage left something that cannot be removed: the Python must not serve another one.
	Spent bool `json:"spent"`
	// Kept is what later stages find of compiled kernels; the hash is over the names, sizes and hashes of the files.
	Kept *struct {
		Files  int    `json:"files"`
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	} `json:"kept"`
}

// send asks for a stage; wires go with its first byte.
func (r *Python) send(req request, wires []*os.File) error {
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
