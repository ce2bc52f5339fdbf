package models_test

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/review"
	"warpboard/models/work"
)

// TestALibraryInTheProfileIsAHintOnlyWhereItsTaskRefusesLibraries checks that library kernels in a profile only request
// a review, and only if the task forbids libraries.
func TestALibraryInTheProfileIsAHintOnlyWhereItsTaskRefusesLibraries(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		profiler(t, s, "CPU", true)
		strict := modelstest.Bundle("strict")
		strict.Definition.RefuseLibraryKernels = true
		refusing, err := s.Catalog.CreateTask(ctx, w.Admin,
			catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: strict})
		modelstest.Check(t, err)
		library := []job.Kernel{{Name: "nvjet", Origin: "cuBLAS", FromLibrary: true, LaunchCount: 2, NS: 900},
			{Name: "mine", Origin: "source", LaunchCount: 1, NS: 100}}
		for name, c := range map[string]struct {
			task    catalog.Task
			kernels []job.Kernel
			want    string
		}{
			"a library":                 {refusing, library, "cuBLAS 90\u00a0%"},
			"a library that is allowed": {w.Task, library, ""},
			"own kernels and others": {refusing,
				[]job.Kernel{{Name: "mine", Origin: "source", LaunchCount: 1},
					{Name: "x", Origin: "unknown", LaunchCount: 1}}, ""},
			"an older worker lists none": {refusing, nil, ""},
			"times that are not known": {refusing,
				[]job.Kernel{{Name: "fill", Origin: "PyTorch (ATen)", FromLibrary: true,
					LaunchCount: 1}}, "PyTorch (ATen)"},
		} {
			person := modelstest.Person(t, s, name, "user")
			run := modelstest.Submit(t, s, person, c.task)[0]
			modelstest.Finish(t, s, run, 100)
			profile := modelstest.ProfileRun(t, s, run)
			attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, profile.WorkRef()))
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx,
				job.Result{RunID: profile.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
					Outcome: job.OutcomePassed,
					Stages: []job.StageResult{{Stage: job.StageProfile, Status: job.StatusPass,
						Cases: []job.CaseResult{{Status: job.StatusPass, Kernels: c.kernels}}}}},
				work.ResultFindings{})))
			got := ""
			for _, row := range modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(ctx, w.Admin,
				models.ReviewFilter{Kind: review.KindLibrary, RunIDs: []int64{run.ID}, Limit: 9})) {
				got += row.Flags[0].Detail
			}
			if got != c.want {
				t.Errorf("%s: the hint is %q, want %q", name, got, c.want)
			}
			if stands := modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID)); !stands.Valid() {
				t.Errorf("%s: the run no longer counts", name)
			}
		}
	})
}
