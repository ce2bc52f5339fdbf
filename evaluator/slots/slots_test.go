package slots

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// gpus returns a set with n GPUs of one model; probe may be nil.
func gpus(n int, probe func(context.Context, device.Slot) error) *Set {
	cfg := Config{ConcurrentBuilds: 2, ProbeDevice: probe}
	for i := range n {
		cfg.Slots = append(cfg.Slots, device.Slot{
			Index:       i,
			Device:      "H200",
			Arch:        "90",
			DeviceNodes: []string{"/dev/nvidiactl", fmt.Sprint("/dev/nvidia", i)},
		})
	}
	return NewSet(cfg)
}

func mustHold(t *testing.T, p *Set, own *Slot, n int) *Lease {
	t.Helper()
	held, err := p.Acquire(t.Context(), own, n, "a0", "a")
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestACheckWaitsForItsOwnSlot checks that a check does not use another idle slot, because its result is about its own.
func TestACheckWaitsForItsOwnSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(2, nil)
		own := p.AllSlots()[0]
		busy := mustHold(t, p, own, 1)
		taken := make(chan *Lease, 1)
		go func() {
			held, err := p.Acquire(t.Context(), own, 1, job.SlotBenchmarkIDPrefix+"1", "")
			if err != nil {
				t.Error(err)
			}
			taken <- held
		}()
		synctest.Wait()
		if len(taken) > 0 {
			t.Fatalf("it has slot %d", (<-taken).OwnSlot().Index)
		}
		busy.Release()
		if held := <-taken; held.OwnSlot() != own {
			t.Errorf("it has slot %d", held.OwnSlot().Index)
		}
	})
}

func TestAJobForSeveralSlotsWaitsForAllOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(2, nil)
		busy := mustHold(t, p, p.AllSlots()[1], 1)
		taken := make(chan *Lease, 1)
		go func() { taken <- mustHold(t, p, p.AllSlots()[1], 2) }()
		synctest.Wait()
		if len(taken) > 0 {
			t.Fatal("it runs beside another job")
		}
		busy.Release()
		synctest.Wait()
		if held := <-taken; held.SlotCount() != 2 || held.OwnSlot() != p.AllSlots()[0] {
			t.Errorf("%d slots, the first is %d", held.SlotCount(), held.OwnSlot().Index)
		}
	})
}

// TestAJobForSeveralSlotsWaitsForLongOnce checks that the time for which a job has waited for its first slots counts
// for the next ones.
func TestAJobForSeveralSlotsWaitsForLongOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(4, nil)
		ctx, stop := context.WithCancel(t.Context())
		var others sync.WaitGroup
		for _, own := range p.AllSlots() {
			for range 3 {
				others.Go(func() {
					for ctx.Err() == nil {
						lease, err := p.Acquire(ctx, own, 1, "evaluation", "ann")
						if err != nil {
							return
						}
						time.Sleep(time.Second)
						lease.Release()
					}
				})
			}
		}
		synctest.Wait()
		began := time.Now()
		mustHold(t, p, p.AllSlots()[0], 4).Release()
		if took := time.Since(began); took > fairWaitTime+10*time.Second {
			t.Errorf("it waited %v", took)
		}
		stop()
		others.Wait()
	})
}

func TestHoldingEndsWithItsContextAndWithTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(1, nil)
		s := p.AllSlots()[0]
		held := mustHold(t, p, s, 1)
		gone, cause := errors.New("gone"), make(chan error, 2)
		ctx, cancel := context.WithCancelCause(t.Context())
		for _, ctx := range []context.Context{ctx, t.Context()} {
			go func() { _, err := p.Acquire(ctx, s, 1, "b", "ann"); cause <- err }()
		}
		synctest.Wait()
		cancel(gone)
		if err := <-cause; err != gone {
			t.Errorf("cancelled: %v", err)
		}
		s.Retire(errors.New("broken"))
		if err := <-cause; !errors.Is(err, ErrOutOfService) {
			t.Errorf("retired: %v", err)
		}
		held.Release()
		if _, err := p.Acquire(t.Context(), s, 1, "c", "ann"); !errors.Is(err, ErrOutOfService) {
			t.Errorf("held after it was retired: %v", err)
		}
	})
}

func TestOnlyTheSlotThatFailsItsCheckIsRetired(t *testing.T) {
	p := gpus(2, func(_ context.Context, s device.Slot) error {
		if s.Index == 1 {
			return errors.New("no answer")
		}
		return nil
	})
	held := mustHold(t, p, p.AllSlots()[0], 2)
	if held.ProbeAfterFailure(t.Context()) {
		t.Error("both slots work")
	}
	if in := p.SlotsInService("H200"); len(in) != 1 || in[0].Index != 0 {
		t.Errorf("%d slots are in service", len(in))
	}
}

func TestFaultsInARowRetireASlot(t *testing.T) {
	s := gpus(1, nil).AllSlots()[0]
	count := func(run int) { s.CountFault(job.WorkRef{RunID: int64(run)}, errors.New("no disk")) }
	for run := 1; run < maxConsecutiveFaults; run++ {
		count(run)
	}
	s.ResetFaults()
	for run := 1; run < maxConsecutiveFaults; run++ {
		for range maxConsecutiveFaults { // attempts
			count(run)
		}
	}
	if s.ServiceContext().Err() != nil {
		t.Fatal("retired although a job between was evaluated, or because of attempts at one run")
	}
	count(maxConsecutiveFaults)
	if s.ServiceContext().Err() == nil {
		t.Error("still in service")
	}
}

func TestAJobThatIsBuiltIsInNoOthersWayOnAGPU(t *testing.T) {
	for name, built := range map[string]bool{"H200": true, "CPU": false} {
		synctest.Test(t, func(t *testing.T) {
			p := NewSet(Config{Slots: []device.Slot{{Device: name}}, ConcurrentBuilds: 1})
			s := p.AllSlots()[0]
			for len(s.permits) < cap(s.permits)-1 {
				s.AcquirePermit(t.Context())
			}
			mine := s.AcquirePermit(t.Context())
			number, release, err := p.AcquireBuild(t.Context(), mine)
			if err != nil || number != 1 {
				t.Fatal(number, err)
			}
			if building := p.JobRequest(s).BuildingCount; (building == 1) != built {
				t.Errorf("%s: %d are being built", name, building)
			}
			came := make(chan *InFlightPermit, 1)
			go func() { came <- s.AcquirePermit(t.Context()) }()
			synctest.Wait()
			if (len(came) == 1) != built {
				t.Errorf("%s: another job came: %v", name, len(came) == 1)
			}
			release()
			if building := p.JobRequest(s).BuildingCount; building != 0 {
				t.Errorf("%s: %d are still being built", name, building)
			}
			mine.Return()
			mine.Return()
			(<-came).Return()
			if want := cap(s.permits) - 1; len(s.permits) != want {
				t.Errorf("%s: %d tickets, want those of the %d others", name, len(s.permits), want)
			}
		})
	}
}

// TestJobsWaitForABuildSlotWithoutAPermit checks that a limited number of waiting jobs return their permits: jobs that
// build nothing can pass them, but the site must not send a whole batch to one worker.
func TestJobsWaitForABuildSlotWithoutAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := NewSet(Config{Slots: []device.Slot{{Device: "H200"}}, ConcurrentBuilds: 2})
		s := p.AllSlots()[0]
		most := 2 + 2*waitingBuildsPerSlot
		for jobs := 1; jobs <= most+1; jobs++ {
			mine := s.AcquirePermit(ctx)
			go func() {
				_, _, _ = p.AcquireBuild(ctx, mine)
				mine.Return()
			}()
			synctest.Wait()
			building, held := p.JobRequest(s).BuildingCount, len(s.permits)
			if want := min(jobs, most); building != want || held != jobs-want {
				t.Errorf("%d jobs: %d are being built, and %d have a permit", jobs, building, held)
			}
		}
		cancel()
	})
}

// TestNoTwoPlacesShareAUser checks that all sandbox slots are different. A GPU with little memory has one alternate
// place, other GPUs have two.
func TestNoTwoPlacesShareAUser(t *testing.T) {
	p := gpus(3, nil)
	seen := map[int]string{}
	use := func(number int, what string) {
		if other, taken := seen[number]; taken {
			t.Errorf("%s has the sandbox's slot %d of %s", what, number, other)
		}
		seen[number] = what
	}
	for range p.cfg.ConcurrentBuilds {
		number, _, err := p.AcquireBuild(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		use(number, "a build")
	}
	use(p.PrecompileEnvironment(p.AllSlots()[0]).SandboxSlot, "what is precompiled")
	for i, s := range p.AllSlots() {
		if s.MemoryBytes = 24 << 30; i > 0 {
			s.MemoryBytes = 80 << 30
		}
		at := p.Environment(s)
		use(at.SandboxSlot, fmt.Sprint("slot ", i))
		use(at.JudgeEnvironment().SandboxSlot, fmt.Sprint("judge ", i))
		for n := range at.ExtraSandboxSlots {
			use(at.ExtraEnvironment(n+1).SandboxSlot, fmt.Sprint("process ", n, " beside ", i))
		}
		if n := len(at.AlternateEnvironments()); n != min(i, 1)+1 {
			t.Errorf("GPU %d has %d alternate places", i, n)
		}
		last := at
		for turn, next := range at.AlternateEnvironments() {
			for n, number := range append([]int{next.SandboxSlot}, next.ExtraSandboxSlots...) {
				use(number, fmt.Sprint("process ", n, " of alternate ", turn, " on ", i))
			}
			last = next
		}
		if back, ok := last.AlternateEnvironment(); !ok || !reflect.DeepEqual(back, at) {
			t.Errorf("after the last of the places that take turns with %+v comes %+v", at, back)
		}
		for n, sidecar := range s.Sidecars {
			use(sidecar.Environment.SandboxSlot, fmt.Sprint("sidecar ", n, " of ", i))
			devices, hidden := sidecar.Environment.Env["CUDA_VISIBLE_DEVICES"]
			if len(at.DeviceNodes) != 2 || len(sidecar.Environment.DeviceNodes) != 0 || devices != "" || !hidden {
				t.Errorf("slot %d sees %v, its sidecar %v and %q", i, at.DeviceNodes, sidecar.Environment.DeviceNodes, devices)
			}
		}
	}
}

func TestWorkThatCanWaitIsPreemptedByJobsOfAnotherKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gate IdleScheduler
		began, ended := make(chan struct{}, 4), make(chan error, 1)
		finish := make(chan struct{})
		var why error
		go func() {
			ended <- gate.RunWhenIdle(t.Context(), "mine", func(ctx context.Context) error {
				began <- struct{}{}
				select {
				case <-finish:
					return nil
				case <-ctx.Done():
					why = context.Cause(ctx)
					return ctx.Err()
				}
			})
		}()
		synctest.Wait()
		same := gate.MarkBusy("mine")
		synctest.Wait()
		if len(began) != 1 {
			t.Fatalf("it began %d times, its own job preempted it", len(began))
		}
		other := gate.MarkBusy("other")
		same()
		same() // the second call has no effect
		synctest.Wait()
		if len(began) != 1 {
			t.Fatalf("it began %d times while a job needs the processors", len(began))
		}
		other()
		synctest.Wait()
		close(finish)
		if err := <-ended; err != nil || len(began) != 2 || why != ErrPreempted {
			t.Errorf("it began %d times and ended with %v, preempted because %v", len(began), err, why)
		}
	})
}

// program is a fake program that counts calls of Close.
type program struct {
	toolchain.Program
	closed  int
	failure error
}

func (p *program) Close() error { p.closed++; return p.failure }

func TestACachedProgramWaitsForItsCallerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cache CachedProgram
		mine, theirs, unusable := &program{}, &program{}, &program{}
		cache.KeepProgram("me", mine, "a note", true)
		if got, notes := cache.takeProgram("me"); got != mine || notes != "a note" {
			t.Errorf("taken is %v with %v", got, notes)
		}
		cache.KeepProgram("me", mine, "a note", true)
		if got, notes := cache.takeProgram("you"); got != nil || notes != nil || mine.closed != 1 {
			t.Errorf("another caller took %v, mine was closed %d times", got, mine.closed)
		}
		cache.KeepProgram("me", unusable, nil, false)
		cache.KeepProgram("", unusable, nil, true)
		if got, _ := cache.takeProgram(""); unusable.closed != 2 || got != nil {
			t.Errorf("closed %d times, of two", unusable.closed)
		}
		cache.KeepProgram("you", theirs, nil, true)
		time.Sleep(cachedProgramLifetime + time.Second)
		synctest.Wait()
		if got, _ := cache.takeProgram("you"); theirs.closed != 1 || got != nil {
			t.Errorf("after its time it was closed %d times", theirs.closed)
		}
		cache.Close()
	})
}

// TestAGPUIsCheckedIfAnEarlierProgramsProcessWasKilled checks that the GPU is probed before the next program runs on
// it, in each way in which a program can be closed.
func TestAGPUIsCheckedIfAnEarlierProgramsProcessWasKilled(t *testing.T) {
	for name, tt := range map[string]struct {
		failure, probe, want error
		probes               int
	}{
		"it left":           {nil, nil, nil, 0},
		"it was killed":     {judge.ErrKilledLate, nil, nil, 1},
		"the GPU is broken": {judge.ErrKilledLate, errors.New("a wrong sum"), ErrOutOfService, 1},
		"it is stuck":       {sandbox.ErrProcessStuck, nil, ErrOutOfService, 0},
	} {
		for how, close := range map[string]func(*Lease, toolchain.Program) error{
			"by a run": func(h *Lease, p toolchain.Program) error {
				h.OwnSlot().CachedProgram.KeepProgram("me", p, nil, true)
				return h.CloseCachedPrograms(t.Context())
			},
			"by another caller": func(h *Lease, p toolchain.Program) error {
				h.OwnSlot().CachedProgram.KeepProgram("me", p, nil, true)
				h.OwnSlot().CachedProgram.ReopenFor("you", nil)
				return h.CheckAfterClose(t.Context())
			},
			"as not usable": func(h *Lease, p toolchain.Program) error {
				h.OwnSlot().CachedProgram.KeepProgram("me", p, nil, false)
				return h.CheckAfterClose(t.Context())
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				probes := 0
				p := gpus(1, func(context.Context, device.Slot) error { probes++; return tt.probe })
				held := mustHold(t, p, p.AllSlots()[0], 1)
				if err := close(held, &program{failure: tt.failure}); !errors.Is(err, tt.want) || probes != tt.probes {
					t.Errorf("%v after %d probes", err, probes)
				}
				if retired := held.OwnSlot().ServiceContext().Err() != nil; retired != (tt.want != nil) {
					t.Errorf("out of service: %v", retired)
				}
				if err := held.CheckAfterClose(t.Context()); err != nil {
					t.Errorf("the second time: %v", err)
				}
			})
		}
	}
}

// TestASlotThatIsStuckStaysOutOfServiceUntilItsProcessEnds covers a process that cannot be killed, and may still use the
// slot.
func TestASlotThatIsStuckStaysOutOfServiceUntilItsProcessEnds(t *testing.T) {
	s, ended := gpus(1, nil).AllSlots()[0], [3]chan struct{}{}
	var stuck [3]error
	for i := range ended {
		ended[i] = make(chan struct{})
		stuck[i] = &sandbox.StuckProcessError{Ended: ended[i]}
	}
	s.Retire(fmt.Errorf("a test's processes: %w", errors.Join(stuck[:2]...)))
	s.Retire(errors.Join(stuck[1:]...)) // those that remain when the program is closed
	s.Retire(errors.New("the test failed"))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for i := range ended {
		s.StartChecks()
		s.ReturnToService()
		if s.WaitForStuckProcess(stopped) || s.ServiceContext().Err() == nil {
			t.Errorf("it is back in service after the end of %d processes: %v", i, context.Cause(s.ServiceContext()))
		}
		close(ended[i])
	}
	if !s.WaitForStuckProcess(t.Context()) {
		t.Error("the end of the process was not seen")
	}
	s.StartChecks()
	s.ReturnToService()
	if err := s.ServiceContext().Err(); err != nil {
		t.Errorf("the process has ended: %v", err)
	}
}
