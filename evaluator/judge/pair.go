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
}

// lastWords is how long a runner may take to leave when the judge has ended: what it still prints is kept.
const lastWords = 2 * time.Second

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
	judged, ran := make(chan end, 1), make(chan end, 1)
	go func() {
		o, err := judge(both, w.CloseJudge)
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
	patience := time.NewTimer(0)
	<-patience.C
	for judgeLeft, runnerLeft := true, true; judgeLeft || runnerLeft; {
		select {
		case got := <-judged:
			take(e.Judge, got)
			judgeLeft = false
			w.CloseJudge()
			patience.Reset(lastWords)
		case got := <-ran:
			take(&e.Outcome, got)
			runnerLeft = false
		case <-patience.C:
			stopRunner()
		}
	}
	return e, failure
}
