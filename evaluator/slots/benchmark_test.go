package slots_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/toolchain"
)

func TestTheBestSlotBenchmarkIsInEveryMachineRecord(t *testing.T) {
	p := slots.NewSet(slots.Config{WorkerName: "w", Toolchain: toolchain.Toolchain{}, Slots: []device.Slot{{Device: "CPU"}},
		ConcurrentBuilds: 1})
	s := p.AllSlots()[0]
	if p.Describe(s).SlotBenchmark != nil {
		t.Error("a slot without a benchmark has numbers")
	}
	at := time.Now()
	s.SetBenchmark(job.SlotBenchmark{
		MeasuredAt: at, EmptyCallNS: 100, BytesPerSecond: 5, FlopsPerSecond: 9, ReadCaseNS: 1, MathCaseNS: 1,
	})
	s.SetBenchmark(job.SlotBenchmark{MeasuredAt: at.Add(time.Minute), EmptyCallNS: 120, BytesPerSecond: 6, FlopsPerSecond: 8,
		ReadCaseNS: 2, MathCaseNS: 3})
	want := job.SlotBenchmark{MeasuredAt: at.Add(time.Minute), EmptyCallNS: 100, BytesPerSecond: 6, FlopsPerSecond: 9, ReadCaseNS: 2,
		MathCaseNS: 3}
	if got := p.Describe(s).SlotBenchmark; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := p.Heartbeat(false, false)[0].Machine.SlotBenchmark; got == nil || *got != want {
		t.Errorf("the heartbeat has %+v", got)
	}
}

func TestIdleWorkIsDoneOneAtATimeAndEndsForAJob(t *testing.T) {
	var gate slots.IdleScheduler
	var under, most atomic.Int32
	begun, done := make(chan struct{}, 10), make(chan error, 2)
	for _, key := range []string{"a", "b"} {
		go func() {
			first := true
			done <- gate.RunWhenIdle(t.Context(), key, func(ctx context.Context) error {
				if n := under.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer under.Add(-1)
				if !first {
					return nil
				}
				first = false
				begun <- struct{}{}
				<-ctx.Done() // a job interrupts the work
				return ctx.Err()
			})
		}()
	}
	for range 2 {
		<-begun
		gate.MarkBusy("job")()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
}
