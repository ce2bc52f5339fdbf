package judge

import (
	"cmp"
	"context"
	"os"
	"time"

	"warpboard/evaluator/sandbox"
)

// Side runs one process of a stage to its end, with files as its descriptors from 4 on, until ctx ends. The error is an
// infrastructure error.
type Side func(ctx context.Context, files []*os.File, on Observer) (sandbox.Outcome, error)

// Observer has functions that a Side calls, each at most once, while its process runs. Each may be nil.
type Observer struct {
	Started func() // the process has its descriptors
	Silent  func() // the process has closed its output; not called for every process that does
}

// Runners describes the runners of a stage.
type Runners struct {
	// Concurrent is the number of concurrent runners: two that are compared, or one per GPU. When one ends, the next
	// starts. 0 means one, so that a measured process runs alone.
	Concurrent int
	// Ranks is the number of parts of a runner that make calls together, each with its own channel, one per GPU. 0
	// means one.
	Ranks int
	// Linger is the time for which a runner may continue after its turn or the judge has ended. Its output until then
	// is kept. 0 means two seconds.
	Linger time.Duration
	// LetGo makes Run return when the judge has ended well and ended the turns of all runners, and these have closed
	// their output. Ending.Left then has the processes that are left.
	LetGo bool
	// Next returns the runner with a number (from 0), or nil if there is no other. It may block until the judge reports
	// something, or ctx ends.
	Next func(ctx context.Context, number int) Side
}

// Ending describes the end of a stage.
type Ending struct {
	// Outcome describes the process that contained the submission; of several, the first that failed, or the last. WallTime
	// is the duration of the stage; other counts are sums.
	sandbox.Outcome
	Judge *sandbox.Outcome // nil if that process judged itself (a bundle's own program)
	// RunnerKilledFirst means that the runner was killed and then the judge, which was busy with the task's own code,
	// was stopped. The stage ended because of the runner.
	RunnerKilledFirst bool
	Processes         int   // number of runners
	Left              *Left // processes that are still ending; nil if there are none
	// EarlierKilled means that a process of an earlier stage did not leave, and was killed during this one or before
	// it.
	EarlierKilled bool
}

// lingerTimeout is the default of Runners.Linger. It also limits the time in which the judge must notice a killed
// runner.
const lingerTimeout = 2 * time.Second

// Run starts the judge and its runners, and returns when all of them have ended, or earlier (see Runners.LetGo). The
// judge decides when a runner's turn ends, and when the stage ends, which also ends the runners. The judge notices the
// end of a runner by the end of its channel.
func Run(ctx context.Context, judge Side, runners Runners) (Ending, error) {
	d, err := newJudgeSocket()
	if err != nil {
		return Ending{}, err
	}
	s := &stage{
		judgeSocket: d, runners: runners, concurrent: max(runners.Concurrent, 1), liveRunners: map[int]*liveRunner{},
		judgeEnds: make(chan processEnd, 1), runnerEnds: make(chan processEnd), newRunners: make(chan Side), turnsOver: make(chan int),
		silences: make(chan int), closed: make(chan struct{}), timeout: time.NewTimer(0),
	}
	<-s.timeout.C
	return s.run(ctx, judge)
}

// processEnd is the end of one process.
type processEnd struct {
	number  int
	outcome sandbox.Outcome
	err     error
}

// liveRunner is a runner whose process has not ended.
type liveRunner struct {
	stop     context.CancelFunc
	turnOver bool // the judge has no more calls for it
	silent   bool // the process has closed its output
}

// stage is one stage in progress. Only Run uses its fields, and after it finish.
type stage struct {
	judgeSocket *judgeSocket
	runners     Runners
	concurrent  int

	judgeEnds, runnerEnds chan processEnd
	newRunners            chan Side
	turnsOver, silences   chan int      // numbers of runners
	closed                chan struct{} // closed when nothing of the stage is left
	timeout               *time.Timer   // limits waiting for the remaining processes
	stop, stopJudge       context.CancelFunc

	nextNumber   int // number of the next runner
	liveRunners  map[int]*liveRunner
	awaitingNext bool // a goroutine waits for Runners.Next
	noFurther    bool // no further runner follows
	judgeAlive   bool
	outcomeFixed bool // ending.Outcome comes from a failed runner
	failed       bool // a signal or a limit ended a runner
	ending       Ending
	failure      error
}

func (s *stage) run(ctx context.Context, judge Side) (Ending, error) {
	begun := time.Now()
	both, stop := context.WithCancel(context.WithoutCancel(ctx)) // what is left may outlive ctx
	unlink := context.AfterFunc(ctx, stop)
	judging, stopJudge := context.WithCancel(both)
	s.stop, s.stopJudge = stop, stopJudge
	s.begin(judging, judge)
	for s.ending.Left == nil && s.advance(both) {
		if s.canLeave() {
			var err error
			s.ending.Left, err = newLeft()
			s.recordFailure(err)
		}
	}
	unlink()
	s.ending.RunnerKilledFirst = s.ending.RunnerKilledFirst && s.ending.Judge.Cancelled && ctx.Err() == nil
	if s.ending.Processes > 1 || s.ending.Left != nil {
		s.ending.WallTime = time.Since(begun)
	}
	if s.ending.Left == nil {
		s.close()
		return s.ending, s.failure
	}
	ending := s.ending
	go s.finish(both)
	return ending, nil
}

// finish waits for the processes that the stage has left behind.
func (s *stage) finish(ctx context.Context) {
	for s.advance(ctx) {
	}
	s.close()
	if s.failure == nil && s.failed {
		s.failure = ErrKilledLate
	}
	s.ending.Left.end(s.failure)
}

// close releases everything of the stage.
func (s *stage) close() {
	close(s.closed)
	s.stop()
	s.timeout.Stop()
	s.judgeSocket.close()
}

// advance waits for the next event of the stage. It returns false if no process of the stage is left.
func (s *stage) advance(ctx context.Context) bool {
	s.requestRunner(ctx)
	if !s.judgeAlive && len(s.liveRunners) == 0 {
		return false
	}
	select {
	case got := <-s.judgeEnds:
		s.judgeAlive, s.noFurther = false, true
		*s.ending.Judge = got.outcome
		s.recordFailure(got.err)
		s.timeout.Reset(s.timeoutAfter(got.outcome))
	case runner := <-s.newRunners:
		s.awaitingNext = false
		s.recordFailure(s.start(ctx, runner))
	case number := <-s.turnsOver:
		s.endTurn(number)
	case number := <-s.silences:
		if t := s.liveRunners[number]; t != nil {
			t.silent = true
		}
	case got := <-s.runnerEnds:
		s.recordFailure(got.err)
		if s.recordEnd(got) {
			s.timeout.Reset(lingerTimeout)
		}
	case <-s.timeout.C:
		s.stopAll()
	}
	return true
}

// canLeave reports whether the stage has its result, and all its live runners may end later.
func (s *stage) canLeave() bool {
	j := s.ending.Judge
	if !s.runners.LetGo || s.judgeAlive || j.Cancelled || !endedWell(*j) || s.failure != nil || s.outcomeFixed || len(s.liveRunners) == 0 {
		return false
	}
	for _, t := range s.liveRunners {
		if !t.turnOver || !t.silent {
			return false
		}
	}
	return true
}

// begin starts the judge, and a goroutine that reads its messages.
func (s *stage) begin(ctx context.Context, judge Side) {
	s.ending.Judge, s.judgeAlive = &sandbox.Outcome{}, true
	go func() {
		o, err := judge(ctx, []*os.File{s.judgeSocket.judgeEnd}, Observer{Started: func() { s.judgeSocket.judgeEnd.Close() }})
		s.judgeSocket.judgeEnd.Close()
		s.judgeEnds <- processEnd{outcome: o, err: err}
	}()
	go s.judgeSocket.forEachEnded(func(number int) { s.report(s.turnsOver, number) })
}

// recordEnd stores the end of a runner. It reports whether the runner was killed during its turn, which the judge may
// not notice.
func (s *stage) recordEnd(got processEnd) (lost bool) {
	t := s.liveRunners[got.number]
	delete(s.liveRunners, got.number)
	s.addOutcome(got.outcome)
	s.failed = s.failed || got.outcome.Signal != "" || got.outcome.Limit != ""
	lost = s.judgeAlive && !t.turnOver && wasKilled(got.outcome)
	s.noFurther = s.noFurther || lost
	return lost
}

// stopAll stops the processes that did not end in time.
func (s *stage) stopAll() {
	if s.ending.RunnerKilledFirst = s.judgeAlive; s.judgeAlive {
		s.stopJudge()
	}
	for _, t := range s.liveRunners {
		t.stop()
	}
}

// requestRunner requests the next runner if fewer than Concurrent are running.
func (s *stage) requestRunner(ctx context.Context) {
	if s.awaitingNext || s.noFurther || len(s.liveRunners) >= s.concurrent {
		return
	}
	s.awaitingNext = true
	number := s.nextNumber
	go func() {
		runner := s.runners.Next(ctx, number)
		select {
		case s.newRunners <- runner:
		case <-s.closed:
		}
	}()
}

// start passes a runner's channel to the judge and starts the runner. If runner is nil, it tells the judge that there
// is no other.
func (s *stage) start(ctx context.Context, runner Side) error {
	if s.noFurther {
		return nil
	}
	if runner == nil {
		s.noFurther = true
		s.judgeSocket.announceNoFurther()
		return nil
	}
	number := s.nextNumber
	var wires, alive []*os.File
	for range max(s.runners.Ranks, 1) {
		w, err := newRunnerChannel()
		if err != nil {
			closeAll(wires)
			closeAll(alive)
			return err
		}
		s.judgeSocket.sendRunner(number, w)
		wires, alive = append(wires, w.runner[:]...), append(alive, w.alive)
	}
	s.nextNumber++
	s.ending.Processes++
	ctx, stop := context.WithCancel(ctx)
	s.liveRunners[number] = &liveRunner{stop: stop}
	go func() {
		defer stop()
		o, err := runner(ctx, wires, Observer{Silent: func() { s.report(s.silences, number) }})
		// This comes last, because the judge interprets the end of the life line as the end of the runner.
		closeAll(wires)
		closeAll(alive)
		s.runnerEnds <- processEnd{number, o, err}
	}()
	return nil
}

// endTurn marks a runner's turn as ended, and stops the runner after the linger time.
func (s *stage) endTurn(number int) {
	t := s.liveRunners[number]
	if t == nil || t.turnOver {
		return
	}
	t.turnOver = true
	time.AfterFunc(s.lingerTime(), t.stop)
}

// report tells Run something about a runner.
func (s *stage) report(what chan<- int, number int) {
	select {
	case what <- number:
	case <-s.closed:
	}
}

// addOutcome adds the outcome of a runner to that of the stage.
func (s *stage) addOutcome(o sandbox.Outcome) {
	was := s.ending.Outcome
	o.CPU, o.MemoryMax = was.CPU+o.CPU, max(was.MemoryMax, o.MemoryMax)
	if s.outcomeFixed {
		was.CPU, was.MemoryMax = o.CPU, o.MemoryMax
		o = was
	}
	s.ending.Outcome = o
	s.outcomeFixed = s.outcomeFixed || !endedWell(o)
}

func (s *stage) recordFailure(err error) {
	if err == nil || s.failure != nil {
		return
	}
	s.failure, s.noFurther = err, true
	s.stop()
}

// endedWell reports whether a process succeeded or was cancelled.
func endedWell(o sandbox.Outcome) bool {
	return o.Cancelled || o.ExitCode == 0 && o.Signal == "" && o.Limit == ""
}

// wasKilled reports whether a limit or an external signal ended a process. A crash does not count, because a process
// may crash at its exit, when its calls are done and the judge continues without it.
func wasKilled(o sandbox.Outcome) bool { return o.Signal == "SIGKILL" || o.Limit != "" }

func (s *stage) timeoutAfter(judge sandbox.Outcome) time.Duration {
	if wasKilled(judge) || judge.Cancelled {
		return 0
	}
	return s.lingerTime()
}

func (s *stage) lingerTime() time.Duration { return cmp.Or(s.runners.Linger, lingerTimeout) }
