package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// plausible checks the numbers, with limits that hold on any machine.
func plausible(t *testing.T, g job.SlotBenchmark) {
	t.Helper()
	if !g.Valid() || g.EmptyCallNS > 1e6 || g.BytesPerSecond < 1e8 || g.BytesPerSecond > 1e13 || g.FlopsPerSecond < 1e8 ||
		g.FlopsPerSecond > 1e15 ||
		g.ReadCaseNS < 10*g.EmptyCallNS || g.MathCaseNS < 10*g.EmptyCallNS {
		t.Errorf("this is no processor: %+v", g)
	}
	t.Logf("floor %v ns, %.3g B/s, %.3g FLOP/s", g.EmptyCallNS, g.BytesPerSecond, g.FlopsPerSecond)
}

// TestAnIdleSlotIsBenchmarkedByTheJudge takes some seconds, because it uses the real judge, compiler, and kernels.
func TestAnIdleSlotIsBenchmarkedByTheJudge(t *testing.T) {
	tier.Needs(t, tier.Judge)
	cfg := realConfig(t)
	cfg.Name, cfg.Conn = "w1", evaluator.NopConn{}
	w := evaluator.NewWorker(cfg)
	g, err := w.Benchmark(t.Context(), cfg.Slots[0])
	if err != nil {
		t.Fatal(err)
	}
	plausible(t, g)
}

// benchmarkReport reports an empty call of 3 µs, and 1 ms for reading and for arithmetic.
func benchmarkReport(req toolchain.StageRequest) string {
	var b strings.Builder
	b.WriteString("benchmark-count: 3\n")
	for i, ns := range []int{3_000, 1_000_000, 1_000_000} {
		fmt.Fprintf(&b,
			"benchmark.%[1]d.spec: %[2]s\nbenchmark.%[1]d.runs: 2\nbenchmark.%[1]d.mean: %[3]d\nbenchmark.%[1]d.best: %[3]d\nbenchmark.%[1]d.worst: %[3]d\n"+
				"benchmark.%[1]d.median: %[3]d\nbenchmark.%[1]d.times: %[3]d,%[3]d\nbenchmark.%[1]d.clock: event\nbenchmark.%[1]d.event: %[3]d\n"+
				"benchmark.%[1]d.wall: %[3]d\nbenchmark.%[1]d.snapshot: %[3]d\nbenchmark.%[1]d.status: pass\n", i,
			harness.SpecLine(req.Cases[i]), ns)
	}
	return b.String() + "check: pass\n"
}

// TestAGPUIsBenchmarkedBeforeItsFirstRankedRun checks a GPU that is never idle. Without a benchmark, an impossible
// score on it would not be detected.
func TestAGPUIsBenchmarkedBeforeItsFirstRankedRun(t *testing.T) {
	var mu sync.Mutex
	var ran []string
	broken := true
	s := newSite(t)
	s.start(evaluator.Config{
		Toolchain: toolchain.Toolchain{NVCC: &toolchain.Tool{}},
		Slots:     []device.Slot{gpu(0)}, SlotBenchmarks: evaluator.SlotBenchmarkConfig{
			Interval:   time.Hour,
			FirstDelay: time.Hour,
		},
		Builder: fakeBuilder{judged: true, run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			if !strings.HasPrefix(st.Attempt, job.SlotBenchmarkIDPrefix) {
				ran = append(ran, st.Attempt+" "+st.Mode)
				return pass(st.StageRequest), nil
			}
			ran = append(ran, "slot benchmark")
			if broken {
				return sandbox.Outcome{}, errors.New("the device fell off the bus")
			}
			say(st.StageRequest, benchmarkReport(st.StageRequest))
			return sandbox.Outcome{WallTime: time.Millisecond}, nil
		}},
	})
	resultOf := func(id string, mode job.Mode) job.Result {
		s.publish(onGPU(aJob(id, mode)))
		return s.result(id)
	}
	if r := resultOf("test", job.ModeTest); r.Machine.SlotBenchmark != nil || r.Failure != nil {
		t.Errorf("a test waits for the slot benchmark: %+v", r)
	}
	if r := resultOf("early", job.ModeRanked); r.Failure == nil || !r.Failure.IsInfrastructureError ||
		!strings.Contains(r.Failure.Reason, "floor and roofs are unknown") {
		t.Errorf("ranked without a slot benchmark: %+v", r.Failure)
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	for _, id := range []string{"first", "second"} {
		if r := resultOf(id, job.ModeRanked); r.Failure != nil || r.Machine.SlotBenchmark == nil ||
			r.Machine.SlotBenchmark.EmptyCallNS != 3_000 {
			t.Errorf("%s: %+v, %+v", id, r.Failure, r.Machine.SlotBenchmark)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"test test", "slot benchmark", "slot benchmark", "first test", "first leaderboard",
		"second test", "second leaderboard"}, ran); diff != "" {
		t.Error(diff)
	}
}

func TestAWorkerWithoutNVCCRanksPythonTasksWithoutASlotBenchmark(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0)}, SlotBenchmarks: evaluator.SlotBenchmarkConfig{
			Interval:   time.Hour,
			FirstDelay: time.Hour,
		},
		Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome,
			error) {
			return pass(st.StageRequest), nil
		}},
	})
	s.publish(onGPU(aJob("a1", job.ModeRanked)))
	if r := s.result("a1"); r.Failure != nil || r.Machine.SlotBenchmark != nil {
		t.Errorf("%+v, %+v", r.Failure, r.Machine.SlotBenchmark)
	}
}
