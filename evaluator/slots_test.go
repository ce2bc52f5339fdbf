package evaluator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

func TestNextJobIsBuiltWhileAGPUIsBusyAndRunsWhenItIsFree(t *testing.T) {
	s, began, end := newSite(t), make(chan string, 10), make(chan struct{}, 10)
	s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0)}, ConcurrentBuilds: 1,
		Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			began <- st.Attempt
			return passOnSignal(ctx, st, end)
		}},
	})
	s.publish(onGPU(aJob("a1", job.ModeTest)))
	first := <-began
	s.publish(onGPU(aJob("a2", job.ModeTest)), onGPU(aJob("a3", job.ModeTest)))
	s.wait("second job is built", func() bool { return slices.ContainsFunc(s.events, ended("a2", job.StageBuild)) })
	if len(began) > 0 {
		t.Errorf("%s runs beside %s", <-began, first)
	}
	s.wait("heartbeat with all, for the place that built the second builds the third", func() bool {
		b := s.beats["w1"]
		return slices.Equal(b.Attempts, []string{"a1", "a2", "a3"}) && b.Slots[0].AttemptID == "a1"
	})
	end <- struct{}{}
	<-began // one of a2 and a3 runs; both are built
	end <- struct{}{}
	end <- struct{}{}
	s.result("a2")
	s.result("a3")
}

func TestNothingIsBuiltWhileACPUTakesTimes(t *testing.T) {
	s, began, end := newSite(t), make(chan string, 10), make(chan struct{}, 10)
	s.start(evaluator.Config{ConcurrentBuilds: 2,
		Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			began <- st.Attempt
			return passOnSignal(ctx, st, end)
		}}})
	s.publish(aJob("a1", job.ModeTest), aJob("a2", job.ModeTest))
	<-began
	end <- struct{}{}
	end <- struct{}{}
	s.wait("end of the second job", func() bool { return slices.ContainsFunc(s.events, ended("a2", job.StageTest)) })
	events := s.allEvents()
	first := slices.IndexFunc(events, ended("a1", job.StageTest))
	second := slices.IndexFunc(events, func(e job.Event) bool { return e.AttemptID == "a2" })
	if first < 0 || second < first {
		t.Errorf("the second job began (event %d) before the first ended (event %d)", second, first)
	}
}

func TestJobsOfDifferentSlotsRunAtTheSameTime(t *testing.T) {
	s, began, end := newSite(t), make(chan toolchain.Environment, 2), make(chan struct{})
	s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0), gpu(1)},
		Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			began <- st.Place
			return passOnSignal(ctx, st, end)
		}},
	})
	s.publish(onGPU(aJob("a1", job.ModeTest)), onGPU(aJob("a2", job.ModeTest)))
	one, other := <-began, <-began
	close(end)
	if one.SandboxSlot == other.SandboxSlot || slices.Equal(one.DeviceNodes, other.DeviceNodes) {
		t.Errorf("both run at %+v", one)
	}
	s.result("a1")
	s.result("a2")
}

// oneTaker lets only one slot receive jobs, as if the others' requests were in flight.
type oneTaker struct {
	realConn
	asked atomic.Int32
}

func (c *oneTaker) Receive(
	ctx context.Context, device string, load func() job.WorkRequest, changed <-chan struct{},
) (job.Job, error) {
	if c.asked.Add(1) == 2 {
		<-ctx.Done()
		return job.Job{}, ctx.Err()
	}
	return c.realConn.Receive(ctx, device, load, changed)
}

func TestNoJobWaitsForABusySlotWhileAnotherIsIdle(t *testing.T) {
	s, began, end := newSite(t), make(chan toolchain.Environment, 2), make(chan struct{})
	s.start(evaluator.Config{
		Conn: &oneTaker{realConn: s.dial("w1")}, Slots: []device.Slot{gpu(0), gpu(1)},
		Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			began <- st.Place
			return passOnSignal(ctx, st, end)
		}},
	})
	s.publish(onGPU(aJob("a1", job.ModeTest)), onGPU(aJob("a2", job.ModeTest)))
	one, other := soon(t, "the first runs", began), soon(t, "the second runs", began)
	close(end)
	if one.SandboxSlot == other.SandboxSlot || slices.Equal(one.DeviceNodes, other.DeviceNodes) {
		t.Errorf("both run at %+v", one)
	}
	if a, b := s.result("a1").Machine, s.result("a2").Machine; a.UUIDHash == b.UUIDHash {
		t.Errorf("both say that they ran on %s", a.UUIDHash)
	}
}

func TestBuildsNeverShareTheirUserWithARun(t *testing.T) {
	s := newSite(t)
	places := make(chan toolchain.Environment, 3)
	s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0)}, ConcurrentBuilds: 1,
		Builder: fakeBuilder{
			build: func(_ context.Context, req toolchain.BuildRequest) (job.StageResult, error) {
				places <- req.Environment
				return passedBuild(), nil
			},
			run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
				places <- st.Place
				return pass(st.StageRequest), nil
			},
			prepare: func(_ context.Context, _ job.PrecompileJob, place toolchain.Environment) (int, error) {
				places <- place
				return 1, nil
			},
		},
	})
	s.hint(hintOf(onGPU(about("k1", aJob("a1", job.ModeTest)))))
	ahead := soon(t, "the task is precompiled", places)
	s.run(onGPU(about("k1", aJob("a1", job.ModeTest))))
	build, run := <-places, <-places
	if build.SandboxSlot == run.SandboxSlot || len(build.DeviceNodes) > 0 {
		t.Errorf("built at %+v, run at %+v", build, run)
	}
	if ahead.SandboxSlot == build.SandboxSlot || ahead.SandboxSlot == run.SandboxSlot || len(ahead.DeviceNodes) > 0 ||
		ahead.Arch != "90" {
		t.Errorf("compiled ahead at %+v, built at %+v, run at %+v", ahead, build, run)
	}
	if diff := cmp.Diff([]string{"/dev/nvidiactl", "/dev/nvidia0"}, run.DeviceNodes); diff != "" {
		t.Errorf("device nodes (-want +got):\n%s", diff)
	}
}

func multiGPU(id string, size int) job.Job {
	j := onGPU(aJob(id, job.ModeTest))
	j.Task.MultiGPU = true
	j.Task.Tests = []tasks.Case{{{Name: "world_size", Value: fmt.Sprint(size)}}}
	return j
}

func TestJobForSeveralGPUsHoldsThemAll(t *testing.T) {
	s, places := newSite(t), make(chan toolchain.Environment, 10)
	first, second := gpu(0), gpu(1)
	first.GPULinkEnv = map[string]string{"NCCL_ALGO": "Ring"}
	second.GPULinkEnv = first.GPULinkEnv
	s.start(evaluator.Config{
		Slots: []device.Slot{first, second, cpu(0)},
		Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			places <- st.Place
			return pass(st.StageRequest), nil
		}},
	})
	jobs := []job.Job{multiGPU("a1", 2), multiGPU("a2", 2), multiGPU("a3", 2)}
	s.publish(jobs...)
	for range jobs {
		p := <-places
		if diff := cmp.Diff([]string{"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1"}, p.DeviceNodes); diff != "" ||
			p.GPUCount != 2 {
			t.Errorf("for %d GPUs, device nodes (-want +got):\n%s", p.GPUCount, diff)
		}
		if alone := sandbox.DefaultRunLimits(); p.RunLimits.Processes != 2*alone.Processes || p.RunLimits.ShmBytes != 2*alone.ShmBytes ||
			p.RunLimits.CPU != 2*alone.CPU {
			t.Errorf("two GPUs have the limits %+v, one has %+v", p.RunLimits, alone)
		}
		if diff := cmp.Diff(first.GPULinkEnv, p.Env); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	}
	for _, j := range jobs {
		if r := s.result(j.AttemptID); r.Outcome != job.OutcomePassed {
			t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
		}
	}
}

func TestJobForMoreGPUsThanThereAreIsRefusedWithASentence(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Slots: []device.Slot{gpu(0), gpu(1)}})
	r := s.run(multiGPU("a1", 4))
	if r.Outcome != job.OutcomeFailed || !strings.Contains(r.Failure.Reason, "needs 4 GPUs") ||
		!strings.Contains(r.Failure.Reason, "has 2") {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
}

func TestGreedyProgramsLeaveTheServerItsMemory(t *testing.T) {
	var mu sync.Mutex
	var limits []int64
	s := newSite(t)
	s.start(evaluator.Config{
		Slots: []device.Slot{cpu(0), cpu(1), cpu(2)},
		Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			limits = append(limits, st.Place.RunLimits.Memory)
			return pass(st.StageRequest), nil
		}},
	})
	s.run(aJob("a1", job.ModeTest))
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	if most := int64(uint64(info.Totalram) * uint64(info.Unit) / 4); len(limits) != 1 || limits[0] > most ||
		limits[0] <= 0 {
		t.Errorf("a program on one of three slots may use %d bytes, want at most %d", limits, most)
	}
}

// keepingBuilder records the sandbox environments in which Pythons are kept.
type keepingBuilder struct {
	fakeBuilder
	kept chan toolchain.Environment
}

func (b keepingBuilder) KeepWarm(ctx context.Context, at toolchain.Environment, _ int) error {
	b.kept <- at
	<-ctx.Done()
	return ctx.Err()
}

// TestAPythonIsKeptForEachProcessOfEveryOtherProgram checks that alternate environments have Pythons for three
// processes, as a comparison with get_inputs() needs. A program switches to one only if as many are ready there as it
// has processes.
func TestAPythonIsKeptForEachProcessOfEveryOtherProgram(t *testing.T) {
	s, b := newSite(t), keepingBuilder{kept: make(chan toolchain.Environment, 100)}
	s.start(evaluator.Config{Slots: []device.Slot{gpu(0)}, Builder: b, WarmPythons: 1})
	var missing []int
	kept := map[int]bool{}
	s.wait("a Python at each alternate place", func() bool {
		for len(b.kept) > 0 {
			at := <-b.kept
			if kept[at.SandboxSlot] = true; at.SandboxSlot == 0 {
				missing = at.AlternateSandboxSlots
			}
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(number int) bool { return kept[number] })
		return kept[0] && len(missing) == 0
	})
}
