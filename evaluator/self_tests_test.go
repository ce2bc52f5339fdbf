package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/selftest"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/requirement"
	"warpboard/internal/test/tier"
)

// brokenCompiler is a toolchain in which g++ fails until it is repaired.
type brokenCompiler struct {
	toolchain.ProcessRunner
	repaired *atomic.Bool
}

func (b brokenCompiler) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	if !b.repaired.Load() && slices.ContainsFunc(spec.Argv,
		func(arg string) bool { return strings.HasSuffix(arg, "g++") }) {
		return sandbox.Outcome{ExitCode: 1, Stderr: "g++: fatal error: cannot execute cc1plus"}, nil
	}
	return b.ProcessRunner.Run(ctx, spec)
}

// repairableBuilder builds with another builder until the machine is repaired.
type repairableBuilder struct {
	evaluator.Builder
	before   evaluator.Builder
	repaired *atomic.Bool
}

func (r repairableBuilder) Build(ctx context.Context, req toolchain.BuildRequest) (*toolchain.Artifact, job.StageResult,
	error) {
	if !r.repaired.Load() {
		return r.before.Build(ctx, req)
	}
	return r.Builder.Build(ctx, req)
}

func checking(dir string) evaluator.SelfTestConfig {
	return evaluator.SelfTestConfig{FirstRetryPause: 20 * time.Millisecond, MaxRetryPause: 100 * time.Millisecond, DelayIfPassed: time.Hour,
		PassRecord: selftest.PassRecord{Dir: dir}}
}

// line returns the worker's last report of a test.
func (s *fakeSite) line(worker, name string) job.SelfTestResult {
	lines := s.beats[worker].SelfTestResults
	if i := slices.IndexFunc(lines, func(l job.SelfTestResult) bool { return l.Name == name }); i >= 0 {
		return lines[i]
	}
	return job.SelfTestResult{}
}

// TestASlotWithoutCompilerIsOutOfServiceUntilRepaired uses this machine's compiler and Python.
func TestASlotWithoutCompilerIsOutOfServiceUntilRepaired(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s, passed := newSite(t), t.TempDir()
	var repaired atomic.Bool
	cfg := realConfig(t)
	// With the broken compiler the cache is empty; with the working one it has everything that other tests have
	// compiled.
	cfg.Builder = repairableBuilder{cfg.Builder,
		toolchain.NewBuilder(toolchain.Config{Toolchain: tools(), ObjectDir: t.TempDir(), Log: cfg.Log,
			Runner: brokenCompiler{cfg.Sandbox.(toolchain.ProcessRunner), &repaired}}), &repaired}
	cfg.SelfTest = checking(passed)
	began := time.Now()
	w := s.start(cfg)
	s.publish(example(t, vectorAdd, "waits", job.ModeTest, solution(t, vectorAdd, true)))
	s.wait("the reason", func() bool {
		why := s.beats["w1"].Slots[0].DisabledReason
		return strings.Contains(why, "C++: ") && strings.Contains(why, "cannot execute cc1plus") &&
			strings.Contains(why, "g++ compiles") && strings.Contains(why, "tested again")
	})
	// A heartbeat collects test results before slots, so the first one with the slot's reason may lack these results.
	for _, name := range []string{"C++ on CPU", "NumPy on CPU"} { // g++ also compiles the core of Python judges
		s.wait(name+" fails, as the page says", func() bool { line := s.line("w1", name); return line.Detail != "" && !line.Passed })
	}
	if took := s.resultsOf("waits"); len(took) > 0 {
		t.Errorf("the slot took a job: %+v", took)
	}
	repaired.Store(true)
	if r := s.result("waits"); r.Outcome != job.OutcomePassed {
		t.Errorf("after the repair: %s, %+v", r.Outcome, r.Failure)
	}
	s.wait("the good news", func() bool { return s.beats["w1"].Slots[0].DisabledReason == "" })
	s.wait("C++ works, as the page says", func() bool { return s.line("w1", "C++ on CPU").Passed })
	t.Logf("out of service and back in %s", time.Since(began))
	w.stop()
	<-w.ended
	testNextStart(t, cfg, s)
}

// testNextStart starts a worker on which the same software passed before: it takes jobs at once.
func testNextStart(t *testing.T, cfg evaluator.Config, s *fakeSite) {
	cfg.Name, cfg.Conn = "w2", s.dial("w2")
	s.start(cfg)
	// The first heartbeat may be sent before the slot has read its stored results; the next one contains them.
	s.wait("what passed before", func() bool {
		return slices.ContainsFunc(s.beats["w2"].SelfTestResults, func(l job.SelfTestResult) bool {
			return l.Name == "NumPy on CPU" && l.Passed && strings.Contains(l.Detail, "with the same software")
		})
	})
	if slot := s.beat("w2").Slots[0]; slot.DisabledReason != "" || slot.PublicReason != "" {
		t.Errorf("at the next start the slot is out of service: %s", slot.DisabledReason)
	}
}

// TestAWorkerReportsThePackagesOfItsPython checks that a worker reports its Python packages, which the site needs to
// choose jobs. They are the largest part of a heartbeat, so the worker sends them only until the site has them, and
// again after a failed heartbeat.
func TestAWorkerReportsThePackagesOfItsPython(t *testing.T) {
	s := newSite(t)
	var beats []job.Heartbeat
	s.handler.OnSync = func(h job.Heartbeat) (err error) {
		s.note(func() {
			s.beats["w1"], beats = h, append(beats, h)
			if len(beats) == 1 || len(beats) == 4 {
				err = errors.New("the database cannot be written")
			}
		})
		return err
	}
	s.start(evaluator.Config{Toolchain: toolchain.Toolchain{Python: &toolchain.Python{Packages: requirement.Packages{"torch": "2.9.0"}}}})
	s.wait("six heartbeats", func() bool { return len(beats) >= 6 })
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, has := range []bool{true, true, false, false, true, false} {
		beat := beats[i]
		if (beat.Packages["torch"] == "2.9.0") != has || (beat.Packages != nil) != has || beat.Check() != nil {
			t.Errorf("heartbeat %d has %v, %v", i, beat.Packages, beat.Check())
		}
	}
	beat := beats[0]
	for _, packages := range []requirement.Packages{{strings.Repeat("n", 101): "1"}, {"n": strings.Repeat("1", 51)}, {"n": "1\u202e"}, many(1001)} {
		beat.Packages = packages
		if beat.Check() == nil {
			t.Errorf("a heartbeat with %d such packages is read", len(packages))
		}
	}
}

func many(n int) requirement.Packages {
	packages := requirement.Packages{}
	for i := range n {
		packages[fmt.Sprint("p", i)] = "1"
	}
	return packages
}

// TestARetiredSlotComesBackWhenItsTestsPass has three jobs fail because of a full disk, which retires the slot. The
// slot must accept jobs again when the disk has free space.
func TestARetiredSlotComesBackWhenItsTestsPass(t *testing.T) {
	s := newSite(t)
	var full atomic.Bool
	full.Store(true)
	s.start(evaluator.Config{SelfTest: checking(""),
		Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			if full.Load() && !strings.HasPrefix(st.Attempt, job.SlotBenchmarkIDPrefix) {
				return sandbox.Outcome{}, errors.New("no space left on device")
			}
			return pass(st.StageRequest), nil
		}}})
	for _, id := range []string{"a", "b", "c"} {
		s.run(aJob(id, job.ModeTest))
	}
	full.Store(false)
	r := s.run(aJob("d", job.ModeTest))
	if r.Outcome == job.OutcomeHandedBack { // retired just after the job arrived; a site resends it
		r = s.run(aJob("e", job.ModeTest))
	}
	if r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s", r.Outcome)
	}
}

// TestARetiredSlotTakesJobsAgain checks a slot that accepts jobs at once, because its tests passed before a restart.
// Its repeated tests fail and retire it, and it must accept jobs again when they pass.
func TestARetiredSlotTakesJobsAgain(t *testing.T) {
	s := newSite(t)
	var broken atomic.Bool
	cfg := evaluator.Config{SelfTest: checking(t.TempDir()), Toolchain: toolchain.Toolchain{GPP: &toolchain.Tool{}},
		Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			if broken.Load() {
				return sandbox.Outcome{}, errors.New("cannot execute")
			}
			return pass(st.StageRequest), nil
		}}}
	w := s.start(cfg)
	s.run(aJob("before", job.ModeTest))
	w.stop()
	<-w.ended
	broken.Store(true)
	// The slot passed its tests earlier, so it accepts jobs at once, and the tests run after this delay.
	cfg.SelfTest.DelayIfPassed = 50 * time.Millisecond
	cfg.Name, cfg.Conn = "w2", s.dial("w2")
	s.start(cfg)
	s.wait("the slot out of service", func() bool {
		beat, ok := s.beats["w2"]
		return ok && strings.Contains(beat.Slots[0].DisabledReason, "Cannot execute")
	})
	broken.Store(false)
	if r := s.run(aJob("after", job.ModeTest)); r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s", r.Outcome)
	}
}

func TestAFullDiskIsNamedAsTheReason(t *testing.T) {
	s, check := newSite(t), checking("")
	check.FreeSpaceDir, check.MinFreeBytes = t.TempDir(), 1<<62
	s.start(evaluator.Config{SelfTest: check})
	s.wait("the reason", func() bool { return strings.Contains(s.beats["w1"].Slots[0].DisabledReason, "MiB free and needs") })
	if public := s.beat("w1").Slots[0].PublicReason; !strings.Contains(public, "too little free disk space") ||
		strings.Contains(public, check.FreeSpaceDir) {
		t.Errorf("everyone reads %q", public)
	}
	s.wait("what to do", func() bool {
		disk := s.line("w1", "disk")
		return !disk.Passed && strings.Contains(disk.Detail, "Free some space there.")
	})
}

// flakySandbox fails its first tests.
type flakySandbox struct {
	fakeSandbox
	fails *atomic.Int32
}

func (f flakySandbox) SelfTest(context.Context) []job.SelfTestResult {
	return []job.SelfTestResult{{Name: "walls", Passed: f.fails.Add(-1) < 0, Detail: "bubblewrap is not installed"}}
}

func TestASandboxThatIsRepairedTakesJobs(t *testing.T) {
	s := newSite(t)
	var fails atomic.Int32
	fails.Store(2)
	s.start(evaluator.Config{SelfTest: checking(""), Sandbox: flakySandbox{fails: &fails}})
	if r := s.run(aJob("a", job.ModeTest)); r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s", r.Outcome)
	}
}
