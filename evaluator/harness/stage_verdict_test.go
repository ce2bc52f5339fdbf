package harness

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

const (
	onePassed  = "test-count: 1\ntest.0.spec: a: 1\ntest.0.status: pass\n"
	oneFailed  = "test-count: 1\ntest.0.spec: a: 1\ntest.0.status: fail\ntest.0.error: off by one\n"
	inTheFirst = "test-count: 3\ntest.0.spec: a: 1\n"
)

func TestJudgeStage(t *testing.T) {
	wanted := []tasks.Case{{{Name: "a", Value: "1"}}, {{Name: "a", Value: "2"}}, {{Name: "a", Value: "3"}}}
	exit := func(code int) sandbox.Outcome { return sandbox.Outcome{ExitCode: code} }
	tests := []struct {
		name   string
		out    sandbox.Outcome
		pipe   string
		want   int
		status job.Status
		reason string
	}{
		{"all well", exit(0), onePassed + "check: pass\n", 1, job.StatusPass, ""},
		{"wrong answer", exit(112), oneFailed + "check: fail\n", 1, job.StatusFail,
			"Case 0 (a: 1) gave a wrong answer: off by one."},
		{"exit 0 with check: fail", exit(0), oneFailed + "check: fail\n", 0, job.StatusFail, "off by one"},
		{"exit 0 with check: fail and no case", exit(0), "check: fail\n", 0, job.StatusFail, "its check failed"},
		{"failed case and no check", exit(112), oneFailed, 0, job.StatusFail, "off by one"},
		{"exit 112 with check: pass", exit(112), onePassed + "check: pass\n", 0, job.StatusFail, "exit code"},
		{"no verdict", exit(0), inTheFirst, 0, job.StatusError, "without a verdict in case 0 (a: 1)"},
		{"left early with a forged check", exit(0), onePassed + "check: pass\n", 3, job.StatusError, "1 of 3 cases"},
		{"exit 1 with check: pass", exit(1), onePassed + "check: pass\n", 1, job.StatusError,
			"exit code 1: it ended with an exception"},
		{"CUDA error", exit(110), inTheFirst, 3, job.StatusError, "exit code 110 in case 0 (a: 1): a CUDA call failed"},
		{"bad spec", exit(113), "", 1, job.StatusError, "before its first case: the task's program could not read"},
		{"unknown exit code", exit(7), "", 1, job.StatusError, "exit code 7 before its first case."},
		{"crash", sandbox.Outcome{ExitCode: 139, Signal: "SIGSEGV"}, "test-count: 2\n" +
			strings.TrimPrefix(onePassed, "test-count: 1\n"), 2, job.StatusError,
			"SIGSEGV after 1 of 2 cases: segmentation fault"},
		{"time", sandbox.Outcome{ExitCode: -1, Signal: "SIGKILL", ExceededLimit: "wall"}, inTheFirst, 3,
			job.StatusTimeout,
			"The time limit of 90 s was reached in case 0 (a: 1)."},
		{"memory", sandbox.Outcome{ExitCode: -1, ExceededLimit: "memory"}, "", 3, job.StatusLimitExceeded,
			"its memory limit before its first case."},
		{"cancelled", sandbox.Outcome{ExitCode: -1, Cancelled: true}, onePassed, 3, job.StatusCancelled, "cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, failure := StageVerdict(judge.StageEnding{Outcome: tt.out}, 90*time.Second, parse(tt.pipe),
				wanted[:tt.want])
			if status != tt.status || (failure == nil) != (status == job.StatusPass) {
				t.Fatalf("got %s, %+v; want %s", status, failure, tt.status)
			}
			if failure != nil && (!strings.Contains(failure.Reason, tt.reason) || failure.IsInfrastructureError) {
				t.Errorf("reason %q; want ...%s...", failure.Reason, tt.reason)
			}
		})
	}
}

func TestAFailedJudgeIsBlamedOnTheRightSide(t *testing.T) {
	killed := sandbox.Outcome{ExitCode: 137, Signal: "SIGKILL"}
	stopped := sandbox.Outcome{ExitCode: -1, Cancelled: true}
	tests := []struct {
		name   string
		end    judge.StageEnding
		ours   bool
		reason string
	}{
		{"killed by a stranger", judge.StageEnding{Outcome: stopped, JudgeOutcome: &killed}, true,
			"The judge's process was killed from outside in case 0 (a: 1)"},
		{"out of memory", judge.StageEnding{Outcome: stopped,
			JudgeOutcome: &sandbox.Outcome{ExitCode: 137, Signal: "SIGKILL", ExceededLimit: "memory"}}, false,
			"The task failed, not the submission. Its generator, reference or checker hit its memory limit"},
		{"its own runner out of memory", judge.StageEnding{JudgeOutcome: &sandbox.Outcome{ExitCode: 115,
			ExceededLimit: "memory"}}, false,
			"The task failed, not the submission."},
		{"not waited for when the runner was killed", judge.StageEnding{Outcome: killed, JudgeOutcome: &stopped, RunnerKilledFirst: true},
			false, "The program was killed by SIGKILL in case 0"},
		{"gone because the runner left", judge.StageEnding{JudgeOutcome: &sandbox.Outcome{ExitCode: 115}}, false,
			"The program ended without a verdict in case 0 (a: 1): it left before its calls were done."},
	}
	for _, tt := range tests {
		status, failure := StageVerdict(tt.end, 90*time.Second, parse(inTheFirst+"check: pass\n"), nil)
		if status == job.StatusPass || failure == nil || failure.IsInfrastructureError != tt.ours ||
			!strings.Contains(failure.Reason, tt.reason) {
			t.Errorf("%s: got %s, %+v; want ...%s...", tt.name, status, failure, tt.reason)
		}
	}
}

func TestCasesThatNeverEndedTakeTheStagesStatus(t *testing.T) {
	p := parse(onePassed + "test.1.spec: a: 2\n")
	cases := FinishCases(p.Cases(), job.StatusTimeout)
	if cases[0].Status != job.StatusPass || cases[1].Status != job.StatusTimeout {
		t.Errorf("got %+v", cases)
	}
}

func TestScore(t *testing.T) {
	passed := func(means ...float64) (cases []job.CaseResult) {
		for i, m := range means {
			cases = append(cases, job.CaseResult{Index: i, Status: job.StatusPass, Mean: m})
		}
		return cases
	}
	judged := func(medians ...float64) (cases []job.CaseResult) {
		for i, m := range medians {
			cases = append(cases, job.CaseResult{Index: i, Status: job.StatusPass, Mean: 2 * m, Median: m,
				ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent}})
		}
		return cases
	}
	tests := []struct {
		name    string
		ranking tasks.Ranking
		cases   []job.CaseResult
		want    float64 // 0 means that Score must return an error
	}{
		{"last by a judge", tasks.RankLastCase, judged(5, 7), 7},
		{"mean by a judge", tasks.RankMean, judged(1, 2, 6), 3},
		{"geom, one by a judge", tasks.RankGeometricMean, append(judged(2), passed(8)...), 4},
		{"a judge's case without a median", tasks.RankMean, append(judged(0), passed(8)...), 0},
		{"last", tasks.RankLastCase, passed(5, 7), 7},
		{"mean", tasks.RankMean, passed(1, 2, 6), 3},
		{"geom", tasks.RankGeometricMean, passed(2, 8), 4},
		{"geom of long times does not overflow", tasks.RankGeometricMean, passed(slices.Repeat([]float64{1e18}, 20)...),
			1e18},
		{"geom of short times", tasks.RankGeometricMean, passed(1, 1, 1), 1},
		{"less than a nanosecond", tasks.RankLastCase, passed(0.999), 0},
		{"forged denormal", tasks.RankLastCase, passed(1.1e-308), 0},
		{"forged denormal among others", tasks.RankMean, passed(5, 1.1e-308), 0},
		{"sum that overflows", tasks.RankMean, passed(1.7e308, 1.7e308), 0},
		{"endless", tasks.RankGeometricMean, passed(math.Inf(1)), 0},
		{"no number", tasks.RankGeometricMean, passed(math.NaN()), 0},
		{"endless spread", tasks.RankLastCase, []job.CaseResult{{Status: job.StatusPass, Mean: 5, StandardDeviation: math.Inf(1)}}, 0},
		{"forged error", tasks.RankLastCase, []job.CaseResult{{Status: job.StatusPass, Mean: 5, StandardError: -1}}, 0},
		{"no case", tasks.RankGeometricMean, nil, 0},
		{"no time", tasks.RankMean, passed(1, 0), 0},
		{"failed case", tasks.RankLastCase, append(passed(1), job.CaseResult{Status: job.StatusFail, Mean: 1}), 0},
		{"unknown rule", "best", passed(1), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Score(tt.ranking, tt.cases)
			if (err != nil) != (tt.want == 0) || math.Abs(got-tt.want) > 1e-9*tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}
