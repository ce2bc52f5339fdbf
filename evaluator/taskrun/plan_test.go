package taskrun

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

func describe(steps []programRun) (out []string) {
	for _, s := range steps {
		seed := "no seed"
		if s.seed != nil {
			seed = fmt.Sprint("seed ", *s.seed)
		}
		out = append(out, fmt.Sprintf("%s of %d, %s, %d wanted, timed %v", s.stage, len(s.cases), seed, len(s.requiredCases),
			s.isTimed))
	}
	return out
}

func TestStagesOfEachMode(t *testing.T) {
	seed := int64(7)
	j := job.Job{SecretSeed: 99, Task: tasks.Definition{Seed: &seed, Tests: make([]tasks.Case, 3),
		Benchmarks: make([]tasks.Case, 2)}}
	own := j
	own.Task.HasOwnHarness = true
	for _, tt := range []struct {
		mode         job.Mode
		job          job.Job
		want, secret []string
	}{
		{job.ModeTest, j, []string{"test of 3, seed 7, 3 wanted, timed false"}, nil},
		{job.ModeBenchmark, j, []string{"benchmark of 2, seed 7, 2 wanted, timed true"}, nil},
		{job.ModeProfile, j, nil, nil},
		{job.ModeRanked, j, []string{"test of 3, seed 7, 3 wanted, timed false",
			"ranked of 2, seed 7, 2 wanted, timed true"}, nil},
		{job.ModeRanked, own, []string{"test of 3, seed 7, 0 wanted, timed false",
			"benchmark of 2, seed 7, 0 wanted, timed true", "ranked of 2, seed 7, 0 wanted, timed true"},
			[]string{"test of 3, seed 99, 0 wanted, timed false", "benchmark of 2, seed 99, 0 wanted, timed false",
				"ranked of 2, seed 99, 0 wanted, timed false"}},
	} {
		tt.job.Mode = tt.mode
		if diff := cmp.Diff(tt.want, describe(planProgramRuns(tt.job))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.mode, diff)
		}
		if diff := cmp.Diff(tt.secret, describe(secretSteps(tt.job))); diff != "" {
			t.Errorf("%s, secret pass (-want +got):\n%s", tt.mode, diff)
		}
	}
}
