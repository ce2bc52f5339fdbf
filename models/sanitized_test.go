package models_test

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

func TestATaskMayRankOnlyWhatASanitizerFoundClean(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		careful := modelstest.Bundle("careful")
		careful.Definition.RequiresCleanSanitizerRun = true
		task, err := s.Catalog.CreateTask(t.Context(), w.Admin, catalog.NewTask{
			TaskSettings: catalog.TaskSettings{Devices: []string{"H100", "H200", "CPU"}}, Bundle: careful})
		modelstest.Check(t, err)
		submit := func(user accounts.User, mode job.Mode, source string, devices ...string) ([]work.Run, error) {
			_, runs, err := s.Submissions.Submit(t.Context(), submissions.NewSubmission{
				User: user, TaskID: task.ID, Devices: devices, Mode: mode, Source: []byte(source), Via: "test"})
			return runs, err
		}
		refused := func(why string, user accounts.User, source string, devices ...string) {
			t.Helper()
			_, err := submit(user, job.ModeRanked, source, devices...)
			if db.KindOf(err) != db.Invalid || !strings.Contains(err.Error(), "for "+devices[0]+" in mode sanitize") {
				t.Errorf("%s: %v", why, err)
			}
		}
		end := func(outcome job.Outcome, source string, devices ...string) {
			t.Helper()
			for _, run := range modelstest.Got[[]work.Run](t)(submit(w.Ann, job.ModeSanitize, source, devices...)) {
				attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
				modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(),
					job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: outcome,
						Stages: []job.StageResult{{Stage: job.StageSanitize, Status: job.StatusPass}}},
					work.ResultFindings{})))
			}
		}
		refused("nothing was checked", w.Ann, "one", "H100")
		// runs on the CPU need no sanitizer
		modelstest.Check(t, modelstest.Second(submit(w.Ann, job.ModeRanked, "one", "CPU")))
		modelstest.Check(t, modelstest.Second(submit(w.Ann, job.ModeTest, "one", "H100")))
		end(job.OutcomeFailed, "one", "H100")
		refused("it has findings", w.Ann, "one", "H100")
		end(job.OutcomePassed, "one", "H100")
		modelstest.Check(t, modelstest.Second(submit(w.Ann, job.ModeRanked, "one", "H100", "CPU")))
		refused("another device", w.Ann, "one", "H200")
		refused("another source", w.Ann, "one ", "H100")
		refused("another person", w.Ben, "one", "H100")
	})
}
