package models_test

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestWhyARunFailedQuotesNoSourceInPublic checks that the public reasons of failed reruns and confirmations do not
// quote compiler output, which contains source.
func TestWhyARunFailedQuotesNoSourceInPublic(t *testing.T) {
	const quoted = `error: static assertion failed: "the trick"`
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		for name, c := range map[string]struct {
			stage   job.Stage
			failure job.Failure
			harness string
			want    string
		}{
			"build": {job.StageBuild, job.Failure{Reason: quoted, ExitCode: 1}, "",
				"The build ended with exit code 1."},
			"profile": {job.StageProfile, job.Failure{Reason: quoted}, "", "The profile failed."},
			"sanitize": {job.StageSanitize, job.Failure{Reason: quoted}, "",
				"The check with compute-sanitizer failed."},
			"not known": {"", job.Failure{Reason: quoted}, "", "It failed."},
			"infrastructure": {job.StageTest, job.Failure{Reason: quoted, IsInfrastructureError: true}, "",
				"An infrastructure error stopped it."},
			"own program": {job.StageTest, job.Failure{Reason: quoted, Limit: "wall"}, "bundle",
				"It reached its time limit."},
			"judge": {job.StageTest, job.Failure{Reason: "Wrong answer in test 3."}, "",
				"Wrong answer in test 3."},
		} {
			attempt, err := s.Work.StartAttempt(t.Context(), w.Submit(t, s, w.Ann).WorkRef())
			modelstest.Check(t, err)
			result := job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
				Outcome: job.OutcomeFailed, Failure: &c.failure,
				HarnessName: c.harness, Stages: []job.StageResult{{Stage: job.StageBuild, Status: job.StatusPass}}}
			if c.stage != "" {
				result.Stages = append(result.Stages, job.StageResult{Stage: c.stage, Status: job.StatusError})
			}
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result, work.ResultFindings{})))
			run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), attempt.RunID))
			if why := run.PublicFailure(); why != c.want || strings.Contains(why, "trick") {
				t.Errorf("%s: %q, want %q", name, why, c.want)
			}
		}
	})
}
