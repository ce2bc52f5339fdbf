package judge

import (
	"cmp"
	"context"
	"os"
	"time"

	"warpboard/evaluator/sandbox"
)

// Side runs one process of a stage to its end, with files as its descriptors from 4 on; ctx ends it early. The error
// is the machine's. started is called when the process has its descriptors.
type Side func(ctx context.Context, files []*os.File, started func()) (sandbox.Outcome, error)

// Runners says which runners a judge gets, and when.
type Runners struct {
	// Together is how many live at the same time: two that are compared, or one for each GPU. The next one is started
	// when there are fewer. 0 means one at a time: the process that is measured is alone then.
	Together int
	// Ranks is how many parts of a runner make calls together, each with wires of its own: one for each GPU. 0 means one.
	Ranks int
	// Linger is how long a runner may take to leave when its turn is over or the judge has ended in order: what it still
	// prints, and writes, is kept. 0 means two seconds.
	Linger time.Duration
	// Next returns the runner of a number, 0, 1, …; nil: there is no other. It may wait for reports of the judge, until ctx ends.
	Next func(ctx context.Context, number int) Side
}

// Ending is how a stage ended.
type Ending struct {
	// Outcome is that of the process that ran the submission. Of several it is the first that did not end in order, or the
	// last. Its Wall is the stage's; the other counts are sums over all of them.
	sandbox.Outcome
	Judge *sandbox.Outcome // nil where that process judged itself (a bundle's own program)
	// RunnerFirst says that the runner was killed and that the judge, busy with the task's own code, was not waited
	// for: the runner's ending is the stage's.
	RunnerFirst bool
	Processes   int // how many runners there were
}

// lingerTimeout is the default of Runners.Linger. It is also how long the judge may take to see that a runner was
// killed.
const lingerTimeout = 2 * time.Second

// Run starts the judge and its runners and returns when all their processes are gone. The judge decides when a runner's turn
// ends, and when the stage ends, which ends the runners too. The judge learns of a runner's end by the end of its channel.
func Run(ctx context.Context, judge Side, runners Runners) (Ending, error) {
	d, err := newDoor()
	if err != nil {
		return Ending{}, err
	}
	defer d.close()
	s := &stage{
		door: d, runners: runners, together: max(runners.Together, 1), alive: map[int]*turn{},
		judged: make(chan end, 1), ran: make(chan end), offers: make(chan Side), over: make(chan int), closed: make(chan struct{}),
	}
	return s.run(ctx, judge)
}

// end is how one process ended.
type end struct {
	number  int
	outcome sandbox.Outcome
	err     error
}

// turn is a runner that lives.
type turn struct {
	stop context.CancelFunc
	over bool // the judge has no calls for it any more
}

// stage is one stage under way; its fields belong to run alone.
type stage struct {
	door     *door
	runners  Runners
	together int

	judged, ran chan end
	offers      chan Side
	over        chan int
	closed      chan struct{} // no one listens any more

	next      int // number of the next runner
	alive     map[int]*turn
	asking    bool // for the next runner
	done      bool // no further runner
	judgeLeft bool
	decided   bool // the outcome is that of a runner that did not end in order
	ending    Ending
	failure   error
}

func (s *stage) run(ctx context.Context, judge Side) (Ending, error) {
	defer close(s.closed)
	begun := time.Now()
	both, stop := context.WithCancel(ctx)
	defer stop()
	judging, stopJudge := context.WithCancel(both)
	defer stopJudge()
	s.begin(judging, judge)
	timeout := time.NewTimer(0) // with what is left
	<-timeout.C
	for s.ask(both); s.judgeLeft || len(s.alive) > 0; s.ask(both) {
		select {
		case got := <-s.judged:
			s.judgeLeft, s.done = false, true
			*s.ending.Judge = got.outcome
			s.fail(got.err, stop)
			timeout.Reset(s.timeoutAfter(got.outcome))
		case runner := <-s.offers:
			s.asking = false
			s.fail(s.start(both, runner), stop)
		case number := <-s.over:
			s.end(number)
		case got := <-s.ran:
			s.fail(got.err, stop)
			if s.left(got) {
				timeout.Reset(lingerTimeout)
			}
		case <-timeout.C:
			s.stopAll(stopJudge)
		}
	}
	s.ending.RunnerFirst = s.ending.RunnerFirst && s.ending.Judge.Cancelled && ctx.Err() == nil
	if s.ending.Processes > 1 {
		s.ending.Wall = time.Since(begun)
	}
	return s.ending, s.failure
}

// begin starts the judge, and listens to what it says of turns.
func (s *stage) begin(ctx context.Context, judge Side) {
	s.ending.Judge, s.judgeLeft = &sandbox.Outcome{}, true
	go func() {
		o, err := judge(ctx, []*os.File{s.door.judge}, func() { s.door.judge.Close() })
		s.door.judge.Close()
		s.judged <- end{outcome: o, err: err}
	}()
	go s.door.over(s.send)
}

// left counts a runner that has ended, and reports whether it was killed in its turn: the judge may not have noticed.
func (s *stage) left(got end) (lost bool) {
	t := s.alive[got.number]
	delete(s.alive, got.number)
	s.count(got.outcome)
	lost = s.judgeLeft && !t.over && killed(got.outcome)
	s.done = s.done || lost
	return lost
}

// stopAll ends who has not ended in time.
func (s *stage) stopAll(stopJudge context.CancelFunc) {
	if s.ending.RunnerFirst = s.judgeLeft; s.judgeLeft {
		stopJudge()
	}
	for _, t := range s.alive {
		t.stop()
	}
}

// ask asks for the next runner when there is room for one.
func (s *stage) ask(ctx context.Context) {
	if s.asking || s.done || len(s.alive) >= s.together {
		return
	}
	s.asking = true
	number := s.next
	go func() {
		runner := s.runners.Next(ctx, number)
		select {
		case s.offers <- runner:
		case <-s.closed:
		}
	}()
}

// start hands a runner to the judge and lets it begin; without one it shuts the door: there is no further runner.
func (s *stage) start(ctx context.Context, runner Side) error {
	if s.done {
		return nil
	}
	if runner == nil {
		s.done = true
		s.door.shut()
		return nil
	}
	number := s.next
	var wires, alive []*os.File
	for range max(s.runners.Ranks, 1) {
		w, err := newWires()
		if err != nil {
			closeAll(wires)
			closeAll(alive)
			return err
		}
		s.door.hand(number, w)
		wires, alive = append(wires, w.runner[:]...), append(alive, w.alive)
	}
	s.next++
	s.ending.Processes++
	ctx, stop := context.WithCancel(ctx)
	s.alive[number] = &turn{stop: stop}
	go func() {
		defer stop()
		o, err := runner(ctx, wires, func() {})
		// Not before: the end of the life line means to the judge that the runner is gone.
		closeAll(wires)
		closeAll(alive)
		s.ran <- end{number, o, err}
	}()
	return nil
}

// end lets a runner go whose turn is over, and makes it after a while.
func (s *stage) end(number int) {
	t := s.alive[number]
	if t == nil || t.over {
		return
	}
	t.over = true
	time.AfterFunc(s.linger(), t.stop)
}

// send passes the runner whose turn is over to run.
func (s *stage) send(number int) {
	select {
	case s.over <- number:
	case <-s.closed:
	}
}

// count takes a runner's outcome into the stage's.
func (s *stage) count(o sandbox.Outcome) {
	was := s.ending.Outcome
	o.CPU, o.MemoryMax = was.CPU+o.CPU, max(was.MemoryMax, o.MemoryMax)
	if s.decided {
		was.CPU, was.MemoryMax = o.CPU, o.MemoryMax
		o = was
	}
	s.ending.Outcome = o
	s.decided = s.decided || !inOrder(o)
}

func (s *stage) fail(err error, stop context.CancelFunc) {
	if err == nil || s.failure != nil {
		return
	}
	s.failure, s.done = err, true
	stop()
}

// inOrder reports whether a process ended with success, or on request.
func inOrder(o sandbox.Outcome) bool {
	return o.Cancelled || o.ExitCode == 0 && o.Signal == "" && o.Limit == ""
}

// killed reports whether a process was ended by a limit or from outside. One that crashes is not meant: it may do so as
// it leaves, when its calls are done and the judge goes on without it.
func killed(o sandbox.Outcome) bool { return o.Signal == "SIGKILL" || o.Limit != "" }

func (s *stage) timeoutAfter(judge sandbox.Outcome) time.Duration {
	if killed(judge) || judge.Cancelled {
		return 0
	}
	return s.linger()
}

func (s *stage) linger() time.Duration { return cmp.Or(s.runners.Linger, lingerTimeout) }
