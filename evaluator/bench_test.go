package evaluator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// clock sums the running times of the processes in the sandbox.
type clock struct {
	toolchain.ProcessRunner
	total *atomic.Int64
}

func (c clock) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	out, err := c.ProcessRunner.Run(ctx, spec)
	c.total.Add(int64(out.WallTime))
	return out, err
}

// BenchmarkOverhead measures the overhead of a run on the CPU: the time from the job's publication to the arrival of
// its result at the site, minus the times of its compiler and its program.
func BenchmarkOverhead(b *testing.B) {
	s := newSite(b)
	var programs atomic.Int64
	s.start(realConfigWith(b, func(r toolchain.ProcessRunner) toolchain.ProcessRunner { return clock{r, &programs} }))
	submission := solution(b, vectorAdd, true)
	s.run(example(b, vectorAdd, "compiles the harness", job.ModeTest, submission))
	var whole time.Duration
	runs := 0
	programs.Store(0)
	for b.Loop() {
		runs++
		changed := fmt.Appendf(nil, "%s// run %d: nothing of it was compiled before\n", submission, runs)
		j := example(b, vectorAdd, fmt.Sprint("run ", runs), job.ModeTest, changed)
		begin := time.Now()
		r := s.run(j)
		whole += time.Since(begin)
		if r.Outcome != job.OutcomePassed {
			b.Fatalf("outcome %s, failure %+v", r.Outcome, r.Failure)
		}
	}
	overhead := whole - time.Duration(programs.Load())
	b.ReportMetric(overhead.Seconds()*1e3/float64(runs), "overhead-ms/run")
}
