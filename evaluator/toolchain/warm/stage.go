package warm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/sandbox"
)

// Stage describes a stage to run in a warm Python.
type Stage struct {
	Argv          []string
	Env           map[string]string
	Files         map[string][]byte // files to write into the working directory, by name
	Extensions    []byte            // archive of compiled extensions, unpacked before the start
	HasResultPipe bool              // provide a result pipe; false for the runner beside a judge
	ExtraFiles    []*os.File        // inherited by the stage as descriptors 4 and up
	OnStarted     func()            // called after the request was sent; may be nil, as may OnOutputClosed
	// called when the stage has closed its output, which may be some time before it has ended
	OnOutputClosed  func()
	NeedsNewProcess bool // start a new process although one was prepared
	UsesOneStream   bool // see PrepareStage
	// keep the stage's process for later stages of the same script; it must not run untrusted code
	KeepsProcess bool

	Timeout        time.Duration // 0 means no time limit
	MaxOutputBytes int64         // limit of both streams together in bytes; 0 for none
	// OnResultPipe receives the report, and OnStdout and OnStderr the output, while the stage runs. Each may be nil.
	OnResultPipe, OnStdout, OnStderr func([]byte)
	Log                              *slog.Logger
}

// runningStage is a stage in progress.
type runningStage struct {
	Stage
	python         *Python
	request        stageRequest
	descriptors    []*os.File // sent with the request
	stdout, stderr sandbox.OutputCapture
	outputBytes    int64
}

// oneStreamDelay is the number of stages, after one that uses several streams, for which no process is prepared for one
// stream.
const oneStreamDelay = 8

// Run sends a request for the stage and waits for its end, which may also be the end of the Python. The error is an
// infrastructure error; the outcome describes the program's end.
func (r *Python) Run(ctx context.Context, stage Stage) (sandbox.Outcome, error) {
	kind := stageRequestFields{HasReport: stage.HasResultPipe, UsesProcessPools: stage.usesProcessPools()}
	content, err := json.Marshal(stageContent{stage.Argv, stage.Env, stage.Files, stage.Extensions, kind})
	if err != nil {
		return sandbox.Outcome{}, err
	}
	file, err := sandbox.NewSealedFile("stage", string(content))
	if err != nil {
		return sandbox.Outcome{}, fmt.Errorf("write a stage's text: %w", err)
	}
	defer file.Close()
	s := &runningStage{Stage: stage, python: r, descriptors: append([]*os.File{file}, stage.ExtraFiles...)}
	s.request = stageRequest{
		DescriptorCount:    len(s.descriptors),
		stageRequestFields: kind,
		KeepsProcess:       stage.KeepsProcess,
		NeedsNewProcess:    stage.NeedsNewProcess || r.preparedForOneStream && !stage.UsesOneStream,
	}
	r.preparedForOneStream, r.stagesToOneStream = false, max(r.stagesToOneStream-1, 0)
	if !stage.UsesOneStream {
		r.stagesToOneStream = oneStreamDelay
	}
	begun := time.Now()
	ended, cut := s.readFrames(ctx)
	took := time.Since(begun)
	if ended != nil && ended.MustNotBeReused {
		s.Log.Info("a stage left what cannot be removed; the next one gets another Python")
		if err := s.python.Stop(); err != nil {
			return sandbox.Outcome{}, err
		}
	}
	return s.stageOutcome(ended, cut, took)
}

// readFrames reads frames up to the stage's end. cut is the reason if the stage was ended early: output, cancelled, or
// wall.
func (s *runningStage) readFrames(ctx context.Context) (ended *stageEndReport, cut string) {
	frames := make(chan frame)
	go s.receiveFrames(frames)
	timeout := ctx.Done()
	var wallTime <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		wallTime = timer.C
	}
	stop := func(why string) {
		cut, timeout, wallTime = why, nil, nil
		s.python.kill()
	}
	for open := true; open; {
		select {
		case f, ok := <-frames:
			if open = ok; ok && cut == "" {
				ended = s.handleFrame(f)
				if s.MaxOutputBytes > 0 && s.outputBytes > s.MaxOutputBytes {
					stop("output")
				}
			}
		case <-timeout:
			stop("cancelled")
		case <-wallTime:
			stop("wall")
		}
	}
	return ended, cut
}

// receiveFrames sends the request for the stage, and passes its frames on until the stage or the Python ends.
func (s *runningStage) receiveFrames(frames chan<- frame) {
	defer close(frames)
	if err := s.python.sendRequest(s.request, s.descriptors); err != nil {
		return // the Python has ended; its outcome has the reason
	}
	callIfSet(s.OnStarted)
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

// handleFrame handles one frame. It returns the end of the stage for the last frame, otherwise nil.
func (s *runningStage) handleFrame(f frame) *stageEndReport {
	switch f.kind {
	case frameStdout:
		s.outputBytes += int64(len(f.data))
		_, _ = s.stdout.Write(f.data)
		passData(s.OnStdout, f.data)
	case frameStderr:
		s.outputBytes += int64(len(f.data))
		_, _ = s.stderr.Write(f.data)
		passData(s.OnStderr, f.data)
	case frameResult:
		passData(s.OnResultPipe, f.data)
	case frameOutputClosed:
		callIfSet(s.OnOutputClosed)
	case frameStageEnded:
		var e stageEndReport
		if json.Unmarshal(f.data, &e) == nil {
			return &e
		}
	}
	return nil
}

func callIfSet(f func()) {
	if f != nil {
		f()
	}
}

func passData(see func([]byte), data []byte) {
	if see != nil {
		see(data)
	}
}

// stageOutcome returns the outcome of the stage. After a failed stage the Python is stopped, because the counters of
// its sandbox (memory, processes) contain the reason.
func (s *runningStage) stageOutcome(ended *stageEndReport, cut string, wallTime time.Duration) (sandbox.Outcome,
	error) {
	var o sandbox.Outcome
	if ended == nil || ended.Signal != 0 || (ended.ExitCode != 0 && ended.ExitCode != exitValidationFailed) {
		if err := s.python.Stop(); err != nil {
			return o, err
		}
		if s.python.err != nil && cut == "" {
			return s.python.outcome, s.python.err
		}
		o = s.python.outcome
		_, _ = s.stderr.Write([]byte(o.Stderr)) // the last output of the Python itself
	}
	if ended != nil {
		o.ExitCode, o.CPU, o.MemoryPeak = ended.ExitCode, time.Duration(ended.CPU), max(o.MemoryPeak, ended.MaxRSS)
		o.Signal = ""
		if ended.Signal != 0 {
			o.ExitCode, o.Signal = 128+ended.Signal, unix.SignalName(syscall.Signal(ended.Signal))
		}
		o.ExceededLimit = exceededLimit(o)
	}
	o.Cancelled = cut == "cancelled"
	if cut != "" && !o.Cancelled {
		o.ExceededLimit = cut
	}
	o.WallTime, o.Stdout, o.Stderr = wallTime, s.stdout.String(), s.stderr.String()
	return o, nil
}

// exitValidationFailed is the exit code of a program that completed and found a wrong answer.
const exitValidationFailed = 112

// exceededLimit returns the limit that the sandbox reports, or that the signal implies.
func exceededLimit(o sandbox.Outcome) string {
	switch {
	case o.ExceededLimit != "":
		return o.ExceededLimit
	case o.Signal == "SIGXCPU":
		return "cpu"
	case o.Signal == "SIGXFSZ":
		return "file size"
	}
	return ""
}

// stageRequest requests one stage from warm.py. Its first descriptor contains the text, which only the stage's process
// reads, because later stages can find in memory whatever the warm process has read.
type stageRequest struct {
	// DescriptorCount is the number of descriptors sent with the request. The second becomes descriptor 4 of the stage.
	DescriptorCount int `json:"descriptors"`
	stageRequestFields
	// KeepsProcess keeps the process of this stage for later stages of the same script.
	KeepsProcess     bool `json:"resident"`
	NeedsNewProcess  bool `json:"unprepared"`
	OnlyPreparesNext bool `json:"prepare"` // run no stage; only prepare the process of the next one
}

// stageContent is the part of a stage request that is sent as JSON in a descriptor. Only the stage's own process reads
// it.
type stageContent struct {
	Argv       []string          `json:"argv"`
	Env        map[string]string `json:"env"`
	Files      map[string][]byte `json:"files"`
	Extensions []byte            `json:"extensions"`
	stageRequestFields
}

// stageRequestFields has the fields of both parts of a request.
type stageRequestFields struct {
	HasReport        bool `json:"report"` // false for a process without a report: the runner beside a judge
	UsesProcessPools bool `json:"pools"`  // the script forks, and a forked process cannot use the CUDA context
}

// stageEndReport is warm.py's report about an ended stage.
type stageEndReport struct {
	ExitCode int   `json:"exit_code"`
	Signal   int   `json:"signal"`
	CPU      int64 `json:"cpu_ns"`
	MaxRSS   int64 `json:"max_rss"`
	// MustNotBeReused means that the stage left something that cannot be removed, so the Python must not run another
	// one.
	MustNotBeReused bool `json:"spent"`
}

// PrepareStage starts the process of the next stage, which creates a CUDA context while it waits. If argv has arguments
// for it, it also imports the script's modules from files, and calls the script's function prepare. It begins when the
// current stage has ended; do not call it if something is measured from then on that needs that stage's process to be
// gone, because the new process uses the device.
//
// oneStream means that the stage will queue all its work on the device in one stream. The context then has one
// connection to the device in place of eight. On an H200, it is created and destroyed in 0.10 s in place of 0.21. During
// this time, the driver makes the processes of all GPUs of the machine wait. A stage that uses several streams does not
// get such a process, because kernels in different streams would wait for each other. Dropping it takes 0.1 s, so none
// is prepared soon after such a stage.
func (r *Python) PrepareStage(argv []string, files map[string][]byte, oneStream bool) error {
	content := stageContent{Argv: argv, Files: files}
	if oneStream && r.stagesToOneStream == 0 {
		content.Env = map[string]string{"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
		r.preparedForOneStream = true // it stays true if a process that was prepared earlier is kept
	}
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	file, err := sandbox.NewSealedFile("prepare", string(text))
	if err != nil {
		return fmt.Errorf("write the text for the next stage's process: %w", err)
	}
	defer file.Close()
	return r.sendRequest(stageRequest{DescriptorCount: 1, OnlyPreparesNext: true}, []*os.File{file})
}

// usesProcessPools reports whether the stage may fork processes with multiprocessing or concurrent.futures.
func (s *Stage) usesProcessPools() bool {
	for _, file := range s.Files {
		if bytes.Contains(file, []byte("multiprocessing")) || bytes.Contains(file, []byte("ProcessPool")) {
			return true
		}
	}
	return false
}

// sendRequest sends a request with its descriptors.
func (r *Python) sendRequest(req stageRequest, files []*os.File) error {
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	numbers := make([]int, len(files))
	for i, f := range files {
		numbers[i] = int(f.Fd())
	}
	_, _, err = r.stdin.WriteMsgUnix(append(line, '\n'), unix.UnixRights(numbers...), nil)
	return err
}
