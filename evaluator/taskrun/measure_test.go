package taskrun

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// reportOf returns the judge's report of one process in which the only case took ns nanoseconds.
func reportOf(number int, ns float64) string {
	line := func(field, value string) string { return "benchmark.0." + field + ": " + value + "\n" }
	time := fmt.Sprint(ns)
	return "benchmark-count: 1\n" +
		line("spec", "a: 1") + line("runs", "1") + line("mean", time) + line("median", time) +
		line("best", time) + line("worst", time) + line("times", time) + line("clock", "event") + line("status",
		"pass") +
		fmt.Sprintf("process: %d\n", number)
}

// processes simulates a stage in which process i takes the duration each(i) and reports the time times(i). It returns
// the number of processes.
func processes(m *rankedMeasurer, each func(int) time.Duration, times func(int) float64) int {
	for i := 0; ; i++ {
		time.Sleep(each(i))
		m.parser.Write([]byte(reportOf(i, times(i))))
		m.observeReport()
		if !m.awaitDecision(context.Background(), i+1) {
			return i + 1
		}
	}
}

func TestProcessesRunUntilTheIntervalIsNarrowOrTimeIsUp(t *testing.T) {
	second := func(int) time.Duration { return time.Second }
	alike := func(int) float64 { return 1000 }
	apart := func(i int) float64 { return 1000 + 100*float64(i%3) }
	for name, tt := range map[string]struct {
		measuring MeasureConfig
		budget    time.Duration // RankedBudget of the task
		limit     time.Duration
		each      func(int) time.Duration
		times     func(int) float64
		want      int
	}{
		"five that are alike":             {MeasureConfig{}, 0, time.Hour, second, alike, 5},
		"five though the budget is spent": {MeasureConfig{}, time.Second, time.Hour, second, apart, 5},
		"more while the budget lasts":     {MeasureConfig{}, 8 * time.Second, time.Hour, second, apart, 9},
		"as many after a first that compiles": {MeasureConfig{}, 8 * time.Second, time.Hour, func(i int) time.Duration {
			if i == 0 {
				return time.Minute
			}
			return time.Second
		}, apart, 9},
		"the worker's own budget":       {MeasureConfig{Budget: 7 * time.Second}, 0, time.Hour, second, apart, 8},
		"no more than 25":               {MeasureConfig{}, time.Hour, time.Hour, second, apart, 25},
		"few where the worker says so":  {MeasureConfig{MaxProcesses: 2}, time.Hour, time.Hour, second, apart, 2},
		"as many as the limit has room": {MeasureConfig{}, time.Hour, 4 * time.Second, second, apart, 3},
		"one that takes all the time": {MeasureConfig{}, 0, 10 * time.Second,
			func(int) time.Duration { return 6 * time.Second }, alike, 1},
		"until they are alike enough": {MeasureConfig{}, time.Hour, time.Hour, second, func(i int) float64 {
			if i == 0 {
				return 1100
			}
			return 1000
		}, 8}, // from eight processes on, order statistics ignore the one outlier
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tt.measuring.newMeasurement(tasks.Definition{RankedBudget: tt.budget}, tt.limit,
					harness.NewParser(nil).ExpectProcesses(), quiet)
				if got := processes(m, tt.each, tt.times); got != tt.want {
					t.Errorf("%d processes, want %d", got, tt.want)
				}
			})
		})
	}
}

func quiet() func() string { return func() string { return "" } }

func TestAProcessIsDroppedForHeatButNeverForItsTime(t *testing.T) {
	watched := 0
	watch := func() func() string {
		watched++
		number := watched
		return func() string {
			if number == 2 {
				return "power brake"
			}
			return ""
		}
	}
	m := MeasureConfig{}.newMeasurement(tasks.Definition{}, time.Hour, harness.NewParser(nil).ExpectProcesses(), watch)
	got := processes(m, func(int) time.Duration { return 0 }, func(i int) float64 { return 1000 + float64(i) })
	conditions, seen := map[string]string{}, job.Disturbances{SlowdownCause: "all that was seen"}
	m.storeResult(&job.Machine{GPUConditions: conditions, Disturbances: &seen})
	if kept := m.parser.Cases()[0].ProcessMedians; got != 6 || fmt.Sprint(kept) != "[1000 1002 1003 1004 1005]" {
		t.Errorf("%d processes, kept %v", got, kept)
	}
	if conditions["dropped_processes"] != "1 of 6: 2 (power brake)" || len(seen.Reasons()) > 0 {
		t.Errorf("the record says %q, %+v", conditions["dropped_processes"], seen)
	}
}

func TestADeviceThatIsAlwaysSlowedIsMeasuredAsItIs(t *testing.T) {
	m := MeasureConfig{}.newMeasurement(tasks.Definition{}, time.Hour, harness.NewParser(nil).ExpectProcesses(), func() func() string {
		return func() string { return "hardware slowdown" }
	})
	got := processes(m, func(int) time.Duration { return 0 }, func(int) float64 { return 1000 })
	conditions, seen := map[string]string{}, job.Disturbances{SlowdownCause: "all that was seen"}
	m.storeResult(&job.Machine{GPUConditions: conditions, Disturbances: &seen})
	if kept := m.parser.Cases()[0].ProcessMedians; got != 10 || len(kept) != 5 ||
		!strings.HasPrefix(conditions["dropped_processes"], "5 of 10") {
		t.Errorf("%d processes, kept %v, %v", got, kept, conditions)
	}
	if seen.SlowdownCause != "hardware slowdown" || len(seen.Reasons()) != 1 {
		t.Errorf("the run's conditions are said to be fine: %+v", seen)
	}
}

// TestASubmissionDoesNotChooseItsProcessesByALowClock limits dropped processes, because a kernel that pauses between
// calls can cause a low clock rate.
func TestASubmissionDoesNotChooseItsProcessesByALowClock(t *testing.T) {
	m := MeasureConfig{}.newMeasurement(tasks.Definition{}, time.Hour, harness.NewParser(nil).ExpectProcesses(), func() func() string {
		return func() string { return device.SlowedByLowClock }
	})
	got := processes(m, func(int) time.Duration { return 0 }, func(int) float64 { return 1000 })
	conditions, seen := map[string]string{}, job.Disturbances{}
	m.storeResult(&job.Machine{GPUConditions: conditions, Disturbances: &seen})
	if kept := m.parser.Cases()[0].ProcessMedians; got != 6 || len(kept) != 5 ||
		conditions["dropped_processes"] != "1 of 6: 1 (low clock)" {
		t.Errorf("%d processes, kept %v, %v", got, kept, conditions)
	}
	if want := "slowed down: low clock"; !slices.Contains(seen.Reasons(), want) {
		t.Errorf("its conditions are %v, want %q among them", seen.Reasons(), want)
	}
}

func TestAStageEndsWithoutADecision(t *testing.T) {
	m := MeasureConfig{}.newMeasurement(tasks.Definition{}, time.Hour, harness.NewParser(nil).ExpectProcesses(), quiet)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m.awaitDecision(ctx, 1) {
		t.Error("another process though the stage has ended")
	}
}

// TestMeasurementsOfCompletedProcessesAreKept checks a run that ends in its third process: the result must have two
// measurements.
func TestMeasurementsOfCompletedProcessesAreKept(t *testing.T) {
	parser := harness.NewParser(nil).ExpectProcesses()
	if known := parser.ProcessMedians(); known != nil {
		t.Errorf("before the first: %v", known)
	}
	parser.Write([]byte(reportOf(0, 1000) + reportOf(1, 1100) + reportOf(2, 900)))
	parser.DropLastProcess()
	half, _, _ := strings.Cut(reportOf(3, 1200), "process")
	parser.Write([]byte(half))
	parser.Close()
	if known := parser.ProcessMedians(); len(known) != 1 || !slices.Equal(known[0], []float64{1000, 1100}) {
		t.Errorf("in the fourth: %v", known)
	}
}
