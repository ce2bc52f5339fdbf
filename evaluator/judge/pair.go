package judge

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"warpboard/evaluator/sandbox"
)

// ProcessFunc runs one process of a stage to its end, with files as its descriptors from 4 on, until ctx ends. The
// error is an infrastructure error.
type ProcessFunc func(ctx context.Context, files []*os.File, on ProcessCallbacks) (sandbox.Outcome, error)

// ProcessCallbacks has functions that a ProcessFunc calls, each at most once, while its process runs. Each may be nil.
type ProcessCallbacks struct {
	OnStarted      func() // the process has its descriptors
	OnOutputClosed func() // the process has closed its output; a ProcessFunc may omit this call
}

// RunnerConfig describes the runners of a stage.
type RunnerConfig struct {
	// MaxConcurrent is the number of concurrent runners: two that are compared, or one per GPU. When one ends, the next
	// starts. 0 means one, so that a measured process runs alone.
	MaxConcurrent int
	// RanksPerRunner is the number of parts of a runner that make calls together, each with its own channel, one per
	// GPU. 0 means one.
	RanksPerRunner int
	// LingerTime is the time for which a runner may continue after its last call or the judge's end. Its output in this
	// time is kept. 0 means two seconds.
	LingerTime time.Duration
	// ReturnEarly makes Run return before the runners exit: when the judge has succeeded and needs no runner any more,
	// and all runners have closed their output. StageEnding.LeftProcesses then has the remaining processes.
	ReturnEarly bool
	// MemoryShare is the memory in bytes that the processes of the stage, each with a limit of its own, can rely on
	// together; 0 means no share. If the machine runs out of memory, a stage that used as much has reached its limit:
	// this is not an infrastructure error.
	MemoryShare int64
	// NextRunner returns the runner with this number (from 0), or nil if there are no more runners. It may block until
	// the judge has reported a result, or until ctx ends.
	NextRunner func(ctx context.Context, number int) ProcessFunc
}

// StageEnding describes the end of a stage.
type StageEnding struct {
	// Outcome describes the submission's process; of several, the first that failed, or else the last. WallTime is the
	// duration of the stage, and other counts are sums over the runners.
	sandbox.Outcome
	JudgeOutcome *sandbox.Outcome // nil if there was no separate judge (a bundle's own program)
	// RunnerKilledFirst means that the runner was killed and then the judge, which was busy with the task's own code,
	// was stopped. The stage ended because of the runner.
	RunnerKilledFirst bool
	RunnerCount       int            // number of runners
	LeftProcesses     *LeftProcesses // processes that are still ending; nil if there are none
	// BesideEarlier means that processes of an earlier stage were still ending when this stage began.
	BesideEarlier bool
	// EarlierProcessKilled means that a process of an earlier stage did not exit, and was killed before or during this
	// stage.
	EarlierProcessKilled bool
}

// lingerTimeout is the default of RunnerConfig.LingerTime. It also limits the time in which the judge must notice a
// killed runner.
const lingerTimeout = 2 * time.Second

// Run starts the judge and its runners, and returns when all of them have ended, or earlier (see
// RunnerConfig.ReturnEarly). The judge decides when a runner gets no more calls (its turn ends), and when the stage
// ends, which also ends the runners. The judge notices the end of a runner by the end of its channel.
func Run(ctx context.Context, judge ProcessFunc, runners RunnerConfig) (StageEnding, error) {
	d, err := newJudgeSocket()
	if err != nil {
		return StageEnding{}, err
	}
	s := &stage{
		judgeSocket: d, runnerConfig: runners, concurrent: max(runners.MaxConcurrent,
			1), liveRunners: map[int]*liveRunner{},
		judgeEnds: make(chan processEnd, 1), runnerEnds: make(chan processEnd), newRunners: make(chan ProcessFunc), endedTurns: make(chan int),
		closedOutputs: make(chan int), allEnded: make(chan struct{}), timeout: time.NewTimer(0),
	}
	<-s.timeout.C
	return s.run(ctx, judge)
}

// processEnd is the end of one process.
type processEnd struct {
	runnerNumber int
	outcome      sandbox.Outcome
	err          error
}

// liveRunner is a runner whose process has not ended.
type liveRunner struct {
	stop         context.CancelFunc
	turnEnded    bool // the judge has no more calls for it
	outputClosed bool // the process has closed its output
}

// stage is one stage in progress. Only one goroutine at a time uses its fields: first that of Run, then that of
// waitForLeft.
type stage struct {
	judgeSocket  *judgeSocket
	runnerConfig RunnerConfig
	concurrent   int

	judgeEnds, runnerEnds     chan processEnd
	newRunners                chan ProcessFunc
	endedTurns, closedOutputs chan int      // each sends numbers of runners
	allEnded                  chan struct{} // closed when all processes of the stage have ended
	timeout                   *time.Timer   // limits waiting for the remaining processes
	cancelRunners, stopJudge  context.CancelFunc

	nextNumber     int // number of the next runner
	liveRunners    map[int]*liveRunner
	awaitingRunner bool // a goroutine waits for RunnerConfig.NextRunner
	noMoreRunners  bool // no further runner follows
	judgeAlive     bool
	outcomeFixed   bool  // ending.Outcome comes from a failed runner
	runnerFailed   bool  // a signal or a limit ended a runner
	runnersPeak    int64 // memory that the runners used, in bytes; of successive ones, the highest
	ending         StageEnding
	failure        error
}

func (s *stage) run(ctx context.Context, judge ProcessFunc) (StageEnding, error) {
	begun := time.Now()
	both, stop := context.WithCancel(context.WithoutCancel(ctx)) // LeftProcesses may continue after the end of ctx
	unlink := context.AfterFunc(ctx, stop)
	judging, stopJudge := context.WithCancel(both)
	s.cancelRunners, s.stopJudge = stop, stopJudge
	s.startJudge(judging, judge)
	for s.ending.LeftProcesses == nil && s.waitForEvent(both) {
		if s.canReturn() {
			var err error
			s.ending.LeftProcesses, err = newLeftProcesses()
			s.recordFailure(err)
		}
	}
	unlink()
	s.ending.RunnerKilledFirst = s.ending.RunnerKilledFirst && s.ending.JudgeOutcome.Cancelled && ctx.Err() == nil
	if s.ending.RunnerCount > 1 || s.ending.LeftProcesses != nil {
		s.ending.WallTime = time.Since(begun)
	}
	if s.ending.LeftProcesses == nil {
		s.close()
		if s.usedItsShare() && errors.Is(s.failure, sandbox.ErrMachineMemory) {
			s.failure = nil
		}
		return s.ending, s.failure
	}
	ending := s.ending
	go s.waitForLeft(both)
	return ending, nil
}

// usedItsShare reports whether the processes of the stage used their share of the machine's memory.
func (s *stage) usedItsShare() bool {
	share := s.runnerConfig.MemoryShare
	return share > 0 && s.runnersPeak+s.ending.JudgeOutcome.MemoryPeak >= share
}

// waitForLeft waits until the processes that were still running when Run returned have ended.
func (s *stage) waitForLeft(ctx context.Context) {
	for s.waitForEvent(ctx) {
	}
	s.close()
	if s.failure == nil && s.runnerFailed {
		s.failure = ErrKilledLate
	}
	s.ending.LeftProcesses.recordAllEnded(s.failure)
}

// close releases everything of the stage.
func (s *stage) close() {
	close(s.allEnded)
	s.cancelRunners()
	s.timeout.Stop()
	s.judgeSocket.close()
}

// waitForEvent waits for the next event of the stage. It returns false if no process of the stage is left.
func (s *stage) waitForEvent(ctx context.Context) bool {
	s.requestRunner(ctx)
	if !s.judgeAlive && len(s.liveRunners) == 0 {
		return false
	}
	select {
	case got := <-s.judgeEnds:
		s.judgeAlive, s.noMoreRunners = false, true
		*s.ending.JudgeOutcome = got.outcome
		s.recordFailure(got.err)
		s.timeout.Reset(s.timeoutAfterJudge(got.outcome))
	case runner := <-s.newRunners:
		s.awaitingRunner = false
		s.recordFailure(s.startRunner(ctx, runner))
	case number := <-s.endedTurns:
		s.endTurn(number)
	case number := <-s.closedOutputs:
		if t := s.liveRunners[number]; t != nil {
			t.outputClosed = true
		}
	case got := <-s.runnerEnds:
		s.recordFailure(got.err)
		if s.recordRunnerEnd(got) {
			s.timeout.Reset(lingerTimeout)
		}
	case <-s.timeout.C:
		s.stopRemaining()
	}
	return true
}

// canReturn reports whether Run may return early: the stage has its result, and its remaining runners need not be
// awaited.
func (s *stage) canReturn() bool {
	j := s.ending.JudgeOutcome
	if !s.runnerConfig.ReturnEarly || s.judgeAlive || j.Cancelled || !succeededOrCancelled(*j) || s.failure != nil || s.outcomeFixed || len(s.liveRunners) == 0 {
		return false
	}
	for _, t := range s.liveRunners {
		if !t.turnEnded || !t.outputClosed {
			return false
		}
	}
	return true
}

// startJudge starts the judge, and a goroutine that reads its messages.
func (s *stage) startJudge(ctx context.Context, judge ProcessFunc) {
	s.ending.JudgeOutcome, s.judgeAlive = &sandbox.Outcome{}, true
	go func() {
		o, err := judge(ctx, []*os.File{s.judgeSocket.judgeEnd}, ProcessCallbacks{OnStarted: func() { s.judgeSocket.judgeEnd.Close() }})
		s.judgeSocket.judgeEnd.Close()
		s.judgeEnds <- processEnd{outcome: o, err: err}
	}()
	go s.judgeSocket.forEachEndedTurn(func(number int) { s.reportRunner(s.endedTurns, number) })
}

// recordRunnerEnd stores the end of a runner. It reports whether the runner was killed while the judge needed it, which
// the judge may not notice.
func (s *stage) recordRunnerEnd(got processEnd) (lost bool) {
	t := s.liveRunners[got.runnerNumber]
	delete(s.liveRunners, got.runnerNumber)
	s.addOutcome(got.outcome)
	if s.concurrent > 1 {
		s.runnersPeak += got.outcome.MemoryPeak
	} else {
		s.runnersPeak = max(s.runnersPeak, got.outcome.MemoryPeak)
	}
	s.runnerFailed = s.runnerFailed || got.outcome.Signal != "" || got.outcome.ExceededLimit != ""
	lost = s.judgeAlive && !t.turnEnded && wasKilled(got.outcome)
	s.noMoreRunners = s.noMoreRunners || lost
	return lost
}

// stopRemaining stops the processes that did not end in time.
func (s *stage) stopRemaining() {
	if s.ending.RunnerKilledFirst = s.judgeAlive; s.judgeAlive {
		s.stopJudge()
	}
	for _, t := range s.liveRunners {
		t.stop()
	}
}

// requestRunner requests the next runner if fewer than MaxConcurrent are running.
func (s *stage) requestRunner(ctx context.Context) {
	if s.awaitingRunner || s.noMoreRunners || len(s.liveRunners) >= s.concurrent {
		return
	}
	s.awaitingRunner = true
	number := s.nextNumber
	go func() {
		runner := s.runnerConfig.NextRunner(ctx, number)
		select {
		case s.newRunners <- runner:
		case <-s.allEnded:
		}
	}()
}

// startRunner passes a runner's channel to the judge and starts the runner. If runner is nil, it tells the judge that
// there are no more runners.
func (s *stage) startRunner(ctx context.Context, runner ProcessFunc) error {
	if s.noMoreRunners {
		return nil
	}
	if runner == nil {
		s.noMoreRunners = true
		s.judgeSocket.announceNoMoreRunners()
		return nil
	}
	number := s.nextNumber
	var wires, alive []*os.File
	for range max(s.runnerConfig.RanksPerRunner, 1) {
		w, err := newRunnerChannel()
		if err != nil {
			closeAll(wires)
			closeAll(alive)
			return err
		}
		s.judgeSocket.sendRunner(number, w)
		wires, alive = append(wires, w.runnerFiles[:]...), append(alive, w.lifeLineEnd)
	}
	s.nextNumber++
	s.ending.RunnerCount++
	ctx, stop := context.WithCancel(ctx)
	s.liveRunners[number] = &liveRunner{stop: stop}
	go func() {
		defer stop()
		o, err := runner(ctx, wires, ProcessCallbacks{OnOutputClosed: func() { s.reportRunner(s.closedOutputs, number) }})
		// This comes last, because the judge interprets the end of the life line as the end of the runner.
		closeAll(wires)
		closeAll(alive)
		s.runnerEnds <- processEnd{number, o, err}
	}()
	return nil
}

// endTurn records that a runner gets no more calls, and stops the runner after the linger time.
func (s *stage) endTurn(number int) {
	t := s.liveRunners[number]
	if t == nil || t.turnEnded {
		return
	}
	t.turnEnded = true
	time.AfterFunc(s.lingerTime(), t.stop)
}

// reportRunner sends the number of a runner to Run, through one of the stage's channels.
func (s *stage) reportRunner(what chan<- int, number int) {
	select {
	case what <- number:
	case <-s.allEnded:
	}
}

// addOutcome adds the outcome of a runner to that of the stage.
func (s *stage) addOutcome(o sandbox.Outcome) {
	was := s.ending.Outcome
	o.CPU, o.MemoryPeak = was.CPU+o.CPU, max(was.MemoryPeak, o.MemoryPeak)
	if s.outcomeFixed {
		was.CPU, was.MemoryPeak = o.CPU, o.MemoryPeak
		o = was
	}
	s.ending.Outcome = o
	s.outcomeFixed = s.outcomeFixed || !succeededOrCancelled(o)
}

func (s *stage) recordFailure(err error) {
	if err == nil || s.failure != nil {
		return
	}
	s.failure, s.noMoreRunners = err, true
	s.cancelRunners()
}

// succeededOrCancelled reports whether a process succeeded or was cancelled.
func succeededOrCancelled(o sandbox.Outcome) bool {
	return o.Cancelled || o.ExitCode == 0 && o.Signal == "" && o.ExceededLimit == ""
}

// wasKilled reports whether a limit or an external signal ended a process. A crash does not count, because a process
// may crash at its exit, when its calls are done and the judge continues without it.
func wasKilled(o sandbox.Outcome) bool { return o.Signal == "SIGKILL" || o.ExceededLimit != "" }

func (s *stage) timeoutAfterJudge(judge sandbox.Outcome) time.Duration {
	if wasKilled(judge) || judge.Cancelled {
		return 0
	}
	return s.lingerTime()
}

func (s *stage) lingerTime() time.Duration { return cmp.Or(s.runnerConfig.LingerTime, lingerTimeout) }
