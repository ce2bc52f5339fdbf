package authoring

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// TestATrialNamesTheArgumentThatACaseLacks checks that an author who forgot an argument, such as a seed, sees its name
// instead of an exit code.
func TestATrialNamesTheArgumentThatACaseLacks(t *testing.T) {
	cases := []tasks.Case{{{Name: "size", Value: "16"}, {Name: "seed", Value: "1"}}, {{Name: "size", Value: "32"}}}
	for want, failed := range map[string]*job.StageResult{
		"": nil,
		"case 1 lacks `seed`": {Stderr: "warm\ncase 'size: 32' has no argument 'seed'\n",
			Failure: &job.Failure{ExitCode: 113}},
		"case 2 lacks `seed`": {Failure: &job.Failure{CausedByTask: true,
			Reason: "The task failed in case 2 (size: 32), not the submission: " +
				"TypeError: generate_input() missing 1 required positional argument: 'seed'."}},
		"a case lacks `n`": {Stderr: "case 'size: 64' has no argument 'n'\n", Failure: &job.Failure{ExitCode: 113}},
	} {
		if got := missingArgument(failed, tasks.Definition{Tests: cases}); got != want {
			t.Errorf("%+v: %q, want %q", failed, got, want)
		}
	}
}
