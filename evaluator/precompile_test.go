package evaluator_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// hintOf returns the preparation that the site announces for a job's task before anybody submits to it.
func hintOf(j job.Job) job.PrecompileJob {
	p := job.PrecompileJob{TaskName: "mine", TaskHash: j.TaskHash, Task: j.Task, Sources: maps.Clone(j.Sources)}
	for _, f := range j.Task.Files {
		if f.IsSubmission() {
			delete(p.Sources, f.Name)
		}
	}
	return p
}

func (s *fakeSite) hint(p job.PrecompileJob) {
	s.t.Helper()
	s.handler.Hint(p)
}

// soon receives from a channel within tier.Patience.
func soon[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(tier.Patience()):
		t.Fatal("never happened: " + what)
		panic("unreachable")
	}
}

// about returns the job with another TaskHash, as if it belonged to that task.
func about(task string, j job.Job) job.Job {
	j.TaskHash = task
	return j
}

// prepared is the result of one preparation.
type prepared struct {
	task string
	made int
	err  error
}

// telling is a builder that reports each preparation when it has ended.
type telling struct {
	evaluator.Builder
	ended chan prepared
}

func (b telling) PrecompileTask(ctx context.Context, p job.PrecompileJob, place toolchain.Environment) (int, error) {
	made, err := b.Builder.PrecompileTask(ctx, p, place)
	b.ended <- prepared{p.TaskHash, made, err}
	return made, err
}

// tellingConfig is realConfig with an empty cache, and reports preparations.
func tellingConfig(t *testing.T) (evaluator.Config, <-chan prepared) {
	t.Helper()
	cfg := realConfig(t)
	box, ok := cfg.Sandbox.(toolchain.ProcessRunner)
	if !ok {
		t.Fatalf("%T runs no programs", cfg.Sandbox)
	}
	ended := make(chan prepared, 10)
	cfg.Builder = telling{toolchain.NewBuilder(toolchain.Config{Toolchain: tools(), Runner: box, ObjectDir: t.TempDir(),
		Log: cfg.Log}), ended}
	return cfg, ended
}

// ownProgram returns the C++ vector add with its own eval program.
func ownProgram(t *testing.T) map[string]string {
	t.Helper()
	files := exampleFiles(t)
	files["main.cpp"] = "#include <unistd.h>\nint main() { return write(3, \"check: pass\\n\", 12) == 12 ? 0 : 1; }\n"
	files["task.yml"] = `lang: cpp
description: Add.
files:
  - {name: task.h, source: task.h}
  - {name: reference.h, source: reference.h}
  - {name: eval.cpp, source: main.cpp}
  - {name: submission.cpp, source: "@SUBMISSION@"}
config: {sources: [eval.cpp, submission.cpp]}
tests: [{size: 1, seed: 1}]
`
	return files
}

// ownProgramJob returns a job for ownProgram, which compiles fast; a task with our harness is tested in e2e.
func ownProgramJob(t *testing.T, id string) job.Job {
	t.Helper()
	return jobOf(t, taskOf(t, ownProgram(t)), id, job.ModeTest, string(solution(t, vectorAdd, true)))
}

func TestFirstSubmissionToATaskFindsItsHarnessCompiled(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	cfg, ended := tellingConfig(t)
	s.start(cfg)
	j := ownProgramJob(t, "first")
	s.hint(hintOf(j))
	if p := soon(t, "the task is precompiled", ended); p.made != 1 || p.err != nil {
		t.Fatalf("%+v", p)
	}
	r := s.run(j)
	wantStages(t, r, "build pass", "test pass")
	if build := r.Stages[0]; !slices.Equal(build.ReusedFiles, []string{"eval.cpp"}) || build.FromCache {
		t.Errorf("reused %q, cached %v", build.ReusedFiles, build.FromCache)
	}
	s.hint(hintOf(j))
	if p := soon(t, "the hint is heard again", ended); p.made != 0 || p.err != nil {
		t.Errorf("again: %+v", p)
	}
}

func TestHintAtATaskThatCannotBeBuiltHarmsNothing(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	cfg, ended := tellingConfig(t)
	s.start(cfg)
	good := ownProgramJob(t, "good")
	bad := hintOf(example(t, vectorAdd, "bad", job.ModeTest, kernel("")))
	bad.Sources["reference.h"] = []byte("nonsense;")
	s.hint(bad)
	if p := soon(t, "the bad task is tried", ended); p.err == nil {
		t.Errorf("%+v", p)
	}
	s.hint(job.PrecompileJob{TaskName: "of which nothing can be precompiled"})
	s.hint(hintOf(good))
	if p := soon(t, "the good task is compiled", ended); p.made != 1 || p.err != nil || p.task != good.TaskHash {
		t.Errorf("%+v", p)
	}
	if r := s.run(good); r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
	if b := s.beat("w1"); b.Slots[0].DisabledReason != "" || b.NoJobsReason != "" {
		t.Errorf("heartbeat %+v", b)
	}
}

// endless returns a preparation that ends when it has to make way, or when end is closed.
func endless(began chan<- string, end <-chan struct{}) func(context.Context, job.PrecompileJob, toolchain.Environment) (int,
	error) {
	return func(ctx context.Context, p job.PrecompileJob, _ toolchain.Environment) (int, error) {
		began <- p.TaskHash
		select {
		case <-end:
			return 1, nil
		case <-ctx.Done():
			began <- p.TaskHash + " gave way"
			return 0, errors.New("the compiler was killed")
		}
	}
}

func TestPrecompilingIsPreemptedByJobsOfOtherTasks(t *testing.T) {
	s, began, end := newSite(t), make(chan string, 10), make(chan struct{})
	finish := make(chan struct{})
	s.start(evaluator.Config{Builder: fakeBuilder{
		prepare: endless(began, end),
		run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			return passOnSignal(ctx, st, finish)
		},
	}})
	next := func(want string) {
		t.Helper()
		if got := soon(t, want, began); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	s.hint(hintOf(about("k1", aJob("", job.ModeTest))))
	next("k1")
	s.publish(about("k1", aJob("same", job.ModeTest)))
	s.wait("its own task's job runs beside it", func() bool {
		return slices.ContainsFunc(s.events,
			func(e job.Event) bool { return e.AttemptID == "same" && e.Stage == job.StageTest })
	})
	finish <- struct{}{}
	s.result("same")
	if len(began) > 0 {
		t.Errorf("%s for its own task", <-began)
	}
	s.publish(about("k2", aJob("other", job.ModeTest)))
	next("k1 gave way")
	s.wait("the other runs", func() bool {
		return slices.ContainsFunc(s.events,
			func(e job.Event) bool { return e.AttemptID == "other" && e.Stage == job.StageTest })
	})
	if len(began) > 0 {
		t.Errorf("%s while a CPU takes times", <-began)
	}
	finish <- struct{}{}
	next("k1")
	end <- struct{}{}
}

func TestAProgramOnAGPUKeepsNothingFromBeingPrecompiled(t *testing.T) {
	s, began, end, finish := newSite(t), make(chan string, 10), make(chan struct{}, 1), make(chan struct{})
	s.start(evaluator.Config{Slots: []device.Slot{gpu(0)}, Builder: fakeBuilder{
		prepare: endless(began, end),
		run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			return passOnSignal(ctx, st, finish)
		},
	}})
	s.publish(onGPU(about("k2", aJob("running", job.ModeTest))))
	s.wait("it runs", func() bool {
		return slices.ContainsFunc(s.events, func(e job.Event) bool { return e.Stage == job.StageTest })
	})
	s.hint(hintOf(onGPU(about("k1", aJob("", job.ModeTest)))))
	if got := soon(t, "the task is precompiled", began); got != "k1" {
		t.Errorf("got %s", got)
	}
	end <- struct{}{}
	finish <- struct{}{}
	s.result("running")
}

func TestPanicWhilePrecompilingCostsNothingElse(t *testing.T) {
	s, began := newSite(t), make(chan string, 2)
	s.start(evaluator.Config{Builder: fakeBuilder{prepare: func(_ context.Context, p job.PrecompileJob,
		_ toolchain.Environment) (int, error) {
		began <- p.TaskHash
		if p.TaskHash == "panic" {
			panic("index out of range")
		}
		return 1, nil
	}}})
	for _, task := range []string{"panic", "next"} {
		s.hint(hintOf(about(task, aJob("", job.ModeTest))))
		if got := soon(t, "the task is precompiled", began); got != task {
			t.Errorf("got %s, want %s", got, task)
		}
	}
	if r := s.run(aJob("a1", job.ModeTest)); r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
}

// TestAWorkerStopsWhileItPrecompiles checks that a stop interrupts a compilation at once.
func TestAWorkerStopsWhileItPrecompiles(t *testing.T) {
	s, began := newSite(t), make(chan string, 10)
	w := s.start(evaluator.Config{StopTimeout: time.Hour, Builder: fakeBuilder{prepare: endless(began, nil)}})
	s.hint(hintOf(about("k1", aJob("", job.ModeTest))))
	soon(t, "the task is precompiled", began)
	w.stop()
	if err := soon(t, "the worker has stopped", w.ended); err != nil {
		t.Error(err)
	}
}
