package evaluator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// recorder records the requested stages of a fake program.
type recorder struct {
	mu  sync.Mutex
	got []string
}

func (r *recorder) run(_ context.Context, s fakeStage) (sandbox.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seed := "none"
	if s.Seed != nil {
		seed = fmt.Sprint(*s.Seed)
	}
	var sizes []string
	for _, c := range s.Cases {
		sizes = append(sizes, c[0].Value)
	}
	r.got = append(r.got, fmt.Sprintf("%s %s seed=%s %s", s.Mode, strings.Join(sizes, ","), seed, s.Timeout))
	return pass(s.StageRequest), nil
}

func TestEachModeRunsItsStages(t *testing.T) {
	seed := int64(5)
	cases := map[string]struct {
		mode   job.Mode
		change func(*tasks.Definition)
		ran    []string
		left   []string
		score  float64
	}{
		"test": {mode: job.ModeTest, ran: []string{"test 1,2 seed=none 1m0s"},
			left: []string{"build pass", "test pass"}},
		"benchmark": {mode: job.ModeBenchmark, ran: []string{"benchmark 10,20 seed=none 2m0s"},
			left: []string{"build pass", "benchmark pass"}},
		"ranked": {
			mode: job.ModeRanked,
			ran:  []string{"test 1,2 seed=none 1m0s", "leaderboard 10,20 seed=none 3m0s"},
			left: []string{"build pass", "test pass", "ranked pass"}, score: 150,
		},
		"ranked by the last": {
			mode: job.ModeRanked, change: func(d *tasks.Definition) { d.RankingBy = tasks.RankLastCase },
			ran:  []string{"test 1,2 seed=none 1m0s", "leaderboard 20 seed=none 3m0s"},
			left: []string{"build pass", "test pass", "ranked pass"}, score: 100,
		},
		"ranked with a bundle's own program": {
			mode: job.ModeRanked, change: func(d *tasks.Definition) { d.HasOwnHarness, d.Seed = true, &seed },
			ran: []string{
				"test 1,2 seed=5 1m0s", "benchmark 10,20 seed=5 2m0s", "leaderboard 10,20 seed=5 3m0s",
				"test 1,2 seed=987654321 1m0s", "benchmark 10,20 seed=987654321 2m0s",
				"leaderboard 10,20 seed=987654321 3m0s",
			},
			left: []string{"build pass", "test pass", "benchmark pass", "ranked pass", "secret pass"}, score: 150,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, rec := newSite(t), &recorder{}
			s.start(evaluator.Config{Builder: fakeBuilder{run: rec.run}})
			j := aJob("a1", c.mode)
			if c.change != nil {
				c.change(&j.Task)
			}
			r := s.run(j)
			if diff := cmp.Diff(c.ran, rec.got); diff != "" {
				t.Errorf("program was asked for (-want +got):\n%s", diff)
			}
			wantStages(t, r, c.left...)
			if r.Outcome != job.OutcomePassed || r.Failure != nil {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
			switch {
			case (r.ScoreNS != nil) != (c.score > 0):
				t.Errorf("score is %v, want %v", r.ScoreNS, c.score)
			case r.ScoreNS != nil && *r.ScoreNS != c.score:
				t.Errorf("score is %v, want %v", *r.ScoreNS, c.score)
			}
		})
	}
}

// modeWith returns the mode of a run that has a stage: ranked if possible.
func modeWith(stage string) job.Mode {
	if stage == string(job.StageBenchmark) {
		return job.ModeBenchmark
	}
	return job.ModeRanked
}

func TestFirstStageThatDoesNotPassIsTheLast(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{
		build: func(_ context.Context, req toolchain.BuildRequest) (job.StageResult, error) {
			result := passedBuild()
			if req.Job.AttemptID == "build" {
				result.Status, result.Failure = job.StatusError,
					&job.Failure{Reason: "submission.h:3: no such function"}
			}
			return result, nil
		},
		run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			if st.Mode == st.Attempt {
				say(st.StageRequest,
					"test-count: 2\ntest.0.spec: size: 1\ntest.0.status: fail\ntest.0.error: at 3: 1 is not 2\ncheck: fail\n")
				return sandbox.Outcome{ExitCode: 112, Stdout: "partial"}, nil
			}
			return pass(st.StageRequest), nil
		},
	}})
	left := map[string][]string{
		"build":       {"build error"},
		"test":        {"build pass", "test fail"},
		"benchmark":   {"build pass", "benchmark fail"},
		"leaderboard": {"build pass", "test pass", "ranked fail"},
	}
	for id, want := range left {
		r := s.run(aJob(id, modeWith(id)))
		wantStages(t, r, want...)
		if r.Outcome != job.OutcomeFailed || r.ScoreNS != nil || r.Failure == nil || r.Failure.IsInfrastructureError {
			t.Errorf("%s: outcome %s, score %v, failure %+v", id, r.Outcome, r.ScoreNS, r.Failure)
		}
	}
}

func TestATimeoutKeepsTheResultsSoFar(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
		say(st.StageRequest, "test-count: 2\ntest.0.spec: size: 1\ntest.0.status: pass\ntest.1.spec: size: 2\n")
		return sandbox.Outcome{ExceededLimit: "wall", Signal: "SIGKILL", Stdout: "so far", WallTime: time.Minute}, nil
	}}})
	r := s.run(aJob("a1", job.ModeTest))
	wantStages(t, r, "build pass", "test timeout")
	test := r.Stages[1]
	want := []job.CaseResult{{Index: 0, SpecLine: "size: 1", Status: job.StatusPass},
		{Index: 1, SpecLine: "size: 2", Status: job.StatusTimeout}}
	if diff := cmp.Diff(want, test.Cases); diff != "" || test.Stdout != "so far" {
		t.Errorf("stdout %q, cases (-want +got):\n%s", test.Stdout, diff)
	}
	if !strings.Contains(r.Failure.Reason, "The time limit of 60 s was reached in case 1 (size: 2).") ||
		r.Failure.Limit != "wall" {
		t.Errorf("failure is %+v", r.Failure)
	}
	if r.ProgramNS != time.Minute.Nanoseconds() {
		t.Errorf("program time is %d ns", r.ProgramNS)
	}
}

// leak is the output of a program that tries to carry secret inputs out of its ranked stage.
const leak = "s3cr3t-input"

func leaky(ending func(req toolchain.StageRequest) sandbox.Outcome) func(context.Context, fakeStage) (sandbox.Outcome,
	error) {
	return func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
		if st.Seed == nil || *st.Seed != 987654321 {
			return pass(st.StageRequest), nil
		}
		for _, out := range []func([]byte){st.OnStdout, st.OnStderr} {
			if out != nil {
				out([]byte(leak))
			}
		}
		say(st.StageRequest, "benchmark-count: 2\nbenchmark.0.x: "+leak+"\n"+leak+": 1\n")
		out := ending(st.StageRequest)
		out.Stdout, out.Stderr = leak, leak
		return out, nil
	}
}

func TestSecretInputsAreNotReported(t *testing.T) {
	endings := map[string]func(req toolchain.StageRequest) sandbox.Outcome{
		"passes": func(req toolchain.StageRequest) sandbox.Outcome {
			report := reportOf(req)
			if len(req.Cases) > 0 && req.Seed != nil { // a task's own program chooses the names of cases
				report = strings.ReplaceAll(report, "size: ", leak)
			}
			say(req, "benchmark.0.message: "+leak+"\n"+report+"check: pass\n")
			return sandbox.Outcome{}
		},
		"fails": func(req toolchain.StageRequest) sandbox.Outcome {
			say(req, "benchmark.0.spec: "+leak+"\nbenchmark.0.status: fail\nbenchmark.0.error: "+leak+"\ncheck: fail\n")
			return sandbox.Outcome{ExitCode: 112}
		},
		"exits with what it read": func(
			toolchain.StageRequest) sandbox.Outcome {
			return sandbox.Outcome{ExitCode: 203}
		},
		"crashes": func(req toolchain.StageRequest) sandbox.Outcome {
			say(req, "benchmark.0.spec: "+leak+"\n")
			return sandbox.Outcome{Signal: "SIGSEGV"}
		},
		"hangs": func(req toolchain.StageRequest) sandbox.Outcome { return sandbox.Outcome{ExceededLimit: "wall"} },
	}
	for name, ending := range endings {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.start(evaluator.Config{Builder: fakeBuilder{run: leaky(ending)}})
			j := aJob("a1", job.ModeRanked)
			j.Task.HasOwnHarness = true
			r := s.run(j)
			if (r.Outcome == job.OutcomePassed) != (name == "passes") {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
			left, err := json.Marshal([]any{r, s.eventsOf("a1")})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(left), leak) || strings.Contains(string(left), "987654321") ||
				strings.Contains(string(left), `code":203`) || strings.Contains(string(left), "code 203") {
				t.Errorf("the secret left:\n%s", left)
			}
		})
	}
}

func TestSecretPassOfABundleLeavesAVerdictAlone(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: leaky(func(toolchain.StageRequest) sandbox.Outcome {
		return sandbox.Outcome{Signal: "SIGSEGV"}
	})}})
	j := aJob("a1", job.ModeRanked)
	j.Task.HasOwnHarness = true
	r := s.run(j)
	wantStages(t, r, "build pass", "test pass", "benchmark pass", "ranked pass", "secret fail")
	if r.ScoreNS != nil || r.Outcome != job.OutcomeFailed {
		t.Errorf("outcome %s, score %v", r.Outcome, r.ScoreNS)
	}
	secret := r.Stages[4]
	if len(secret.Cases) > 0 || secret.Failure.Signal != "" || secret.Failure.ExitCode != 0 {
		t.Errorf("the secret pass left %+v, failure %+v", secret, secret.Failure)
	}
	for _, e := range s.eventsOf("a1") {
		if e.Stage == job.StageSecret && (e.Type == job.EventCaseEnded || e.Type == job.EventLog) {
			t.Errorf("event %+v", e)
		}
	}
}

func TestTheEndOfAStageIsReportedWithItsCasesAndWithoutItsOutput(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
		say(st.StageRequest, "note: short\nbenchmark.0.times: 1,2,3\nbenchmark.1.message: "+strings.Repeat("m", 10_000)+
			"\n")
		out := pass(st.StageRequest)
		out.Stdout, out.Stderr = "out", "err"
		return out, nil
	}}})
	r := s.run(aJob("a1", job.ModeBenchmark))
	s.wait("end of the stage", func() bool { return slices.ContainsFunc(s.events, ended("a1", job.StageBenchmark)) })
	events := s.eventsOf("a1")
	stage := events[slices.IndexFunc(events, ended("a1", job.StageBenchmark))].EndedStage
	if stage.Stdout != "" || stage.Stderr != "" || stage.ExtraKeys["note"] != "short" || len(stage.Cases) != 2 ||
		stage.Cases[0].Times != nil || stage.Cases[0].Mean != 100 || len(stage.Cases[1].Message) > 600 {
		t.Errorf("told was %+v", stage)
	}
	if kept := r.Stages[1]; kept.Stdout != "out" || len(kept.Cases[0].Times) != 3 || len(kept.Cases[1].Message) < 4000 {
		t.Errorf("kept was %+v", kept)
	}
}

func TestAProgramThatMeasuresItselfHasNoJudgesClock(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
		say(st.StageRequest,
			"benchmark.0.clock: event\nbenchmark.0.event: 1\nbenchmark.0.median: 1\nbenchmark.1.clock: event\nbenchmark.1.median: 1\n")
		return pass(st.StageRequest), nil
	}}})
	j := aJob("a1", job.ModeRanked)
	j.Task.HasOwnHarness = true
	r := s.run(j)
	if r.ScoreNS == nil || *r.ScoreNS < 100 {
		t.Errorf("it chose its own score: %v, failure %+v", r.ScoreNS, r.Failure)
	}
	for _, c := range r.Stages[2].Cases {
		if c.TimedByJudge() {
			t.Errorf("case %d claims a judge: %+v", c.Index, c.ClockTimes)
		}
	}
}
