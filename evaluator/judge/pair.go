package judge

import (
	"context"
	"time"

	"warpboard/evaluator/sandbox"
)

// Side runs one of the two processes to its end; ctx ends it early. The error is the machine's. started is called
// when the process has its descriptors.
type Side func(ctx context.Context, started func()) (sandbox.Outcome, error)

// Ending is how a stage ended.
type Ending struct {
	sandbox.Outcome                  // of the process that the submission was in
	Judge           *sandbox.Outcome // nil where that process judged itself (a bundle's own program)
	// RunnerFirst says that the runner was killed and that the judge, busy with the task's own code, was not waited
	// for: the runner's ending is the stage's.
	RunnerFirst bool
}

// lingerTimeout is how long a runner may take to leave when the judge has ended in order: what it still prints is kept. It
// is also how long the judge may take to see that the runner was killed.
const lingerTimeout = 2 * time.Second

// Run starts both sides and returns when nothing of either is left. The judge decides when a stage ends: when it
// has, the runner goes too; and when the runner has ended, the judge is told by the end of the channel.
func Run(ctx context.Context, w *Wires, judge, runner Side) (Ending, error) {
	defer w.Close()
	both, stop := context.WithCancel(ctx)
	defer stop()
	type end struct {
		outcome sandbox.Outcome
		err     error
	}
	judging, stopJudge := context.WithCancel(both)
	defer stopJudge()
	judged, ran := make(chan end, 1), make(chan end, 1)
	go func() {
		o, err := judge(judging, w.CloseJudge)
		judged <- end{o, err}
	}()
	running, stopRunner := context.WithCancel(both)
	defer stopRunner()
	go func() {
		o, err := runner(running, func() {})
		w.CloseRunner()
		ran <- end{o, err}
	}()
	e := Ending{Judge: &sandbox.Outcome{}}
	var failure error
	take := func(o *sandbox.Outcome, got end) {
		*o = got.outcome
		if got.err != nil && failure == nil {
			failure = got.err
			stop()
		}
	}
	timeout := time.NewTimer(0) // with the side that is left
	<-timeout.C
	for judgeLeft, runnerLeft := true, true; judgeLeft || runnerLeft; {
		select {
		case got := <-judged:
			take(e.Judge, got)
			judgeLeft = false
			w.CloseJudge()
			timeout.Reset(timeoutAfter(got.outcome))
		case got := <-ran:
			take(&e.Outcome, got)
			runnerLeft = false
			if judgeLeft && killed(got.outcome) {
				timeout.Reset(lingerTimeout)
			}
		case <-timeout.C:
			if e.RunnerFirst = judgeLeft; judgeLeft {
				stopJudge()
			}
			stopRunner()
		}
	}
	e.RunnerFirst = e.RunnerFirst && e.Judge.Cancelled && ctx.Err() == nil
	return e, failure
}

// killed reports whether a process was ended by a limit or from outside. One that crashes is not meant: it may do so as
// it leaves, when its calls are done and the judge goes on without it.
func killed(o sandbox.Outcome) bool { return o.Signal == "SIGKILL" || o.Limit != "" }

func timeoutAfter(judge sandbox.Outcome) time.Duration {
	if killed(judge) || judge.Cancelled {
		return 0
	}
	return lingerTimeout
}
