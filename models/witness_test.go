package models_test

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/review"
	"warpboard/models/work"
)

// TestContradictionMarksARunFasterThanItsProfile checks that a run which is faster than the kernels in its profile
// counts, is marked on its board, and waits for a review, which removes the mark.
func TestContradictionMarksARunFasterThanItsProfile(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		profiler(t, s, "CPU", true)
		for name, c := range map[string]struct {
			kernels []job.Kernel
			want    bool
			flag    string
		}{
			"slower":  {[]job.Kernel{{Name: "k", LaunchCount: 1, NS: 100_000}}, false, ""},
			"faster":  {[]job.Kernel{{Name: "k", LaunchCount: 1, NS: 113_000}}, true, "case 1 took 100.0 µs, and its kernels take 113.0 µs under Nsight Compute"},
			"unknown": {nil, false, ""},
		} {
			person := modelstest.Person(t, s, name, "user")
			run := modelstest.Submit(t, s, person, w.Task)[0]
			modelstest.Finish(t, s, run, 100_000)
			profile := modelstest.ProfileRun(t, s, run)
			attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, profile.WorkRef()))
			var cases []job.CaseResult
			for _, stage := range modelstest.Got[[]work.Stage](t)(s.Work.Stages(ctx, run.ID)) {
				if stage.Stage == job.StageRanked {
					for _, ranked := range stage.Result.Cases {
						cases = append(cases, job.CaseResult{
							Index:   ranked.Index,
							Status:  job.StatusPass,
							Kernels: c.kernels,
						})
					}
				}
			}
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx,
				job.Result{RunID: profile.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
					Outcome: job.OutcomePassed,
					Stages: []job.StageResult{{Stage: job.StageProfile, Status: job.StatusPass,
						Cases: cases}}}, work.ResultFindings{})))
			contradicted := func() bool {
				return modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(ctx, run.VersionID, "CPU", person.ID)).ContradictedByProfile
			}
			if got := contradicted(); got != c.want {
				t.Errorf("%s: on the board contradicted is %v", name, got)
			}
			flag := ""
			for _, row := range modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(ctx, w.Admin,
				models.ReviewFilter{Kind: review.KindContradicted, RunIDs: []int64{run.ID}, Limit: 9})) {
				flag += row.Flags[0].Detail
			}
			if flag != c.flag {
				t.Errorf("%s: the flag is %q, want %q", name, flag, c.flag)
			}
			if c.flag != "" {
				modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, person, run.SubmissionID, "")), db.Conflict)
				modelstest.Check(t, modelstest.Second(s.DismissFlags(ctx, w.Admin, run.ID, "Its kernels run beside each other.")))
				if contradicted() {
					t.Errorf("%s: contradicted after the review", name)
				}
			}
		}
	})
}
