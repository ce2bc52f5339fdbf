package models_test

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/review"
	"warpboard/models/work"
	"warpboard/tasks"
)

// validated is a world whose task, owned by Cora, has a validation script, entries of Ann and Ben, and a past deadline.
func validated(t *testing.T, s *models.Store) (world, accounts.User) {
	t.Helper()
	w := newWorld(t, s)
	cora := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
	w.Task = modelstest.Validated(t, s, cora, w.Ann, w.Ben)
	return w, cora
}

// reopen sets another deadline of a task.
func reopen(t *testing.T, s *models.Store, task catalog.Task, deadline *time.Time) catalog.Task {
	t.Helper()
	in := task.Settings()
	in.Deadline = deadline
	return modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(),
		accounts.User{ID: task.OwnerID, Role: accounts.RoleAdmin}, task.ID, in))
}

// scripts returns the waiting runs of scripts.
func scripts(t *testing.T, s *models.Store) (list []work.Run) {
	t.Helper()
	for _, q := range modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())) {
		if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), q.RunID)); run.Mode == job.ModeValidate {
			list = append(list, run)
		}
	}
	return list
}

// answer ends the run of a script like a worker.
func answer(t *testing.T, s *models.Store, run work.Run, status job.Status, message string) work.Effect {
	t.Helper()
	result := modelstest.Result(modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef())), 0)
	result.ScoreNS, result.Stages = nil,
		[]job.StageResult{{Stage: job.StageValidate, Status: status,
			Cases: []job.CaseResult{{Status: status, Message: message}}}}
	if status != job.StatusPass {
		result.Outcome, result.Failure = job.OutcomeFailed, &job.Failure{Reason: message}
	}
	return modelstest.Got[work.Effect](t)(s.Work.RecordResult(t.Context(), result, work.ResultFindings{}))
}

// TestAValidationScriptRunsOnTheFirstTenOfAClosedBoard checks that the script's answer is shown beside the entry and
// does not change its rank.
func TestAValidationScriptRunsOnTheFirstTenOfAClosedBoard(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, cora := validated(t, s)
		w.Task = reopen(t, s, w.Task, nil)
		for range 10 {
			w.Score(t, s, modelstest.Person(t, s, strings.Repeat("x", 1+len(w.Standings(t, s, 0, 20))),
				accounts.RoleUser), 3e6)
		}
		before := w.Standings(t, s, 0, 20)
		modelstest.Close(t, s, cora, w.Task)
		ask := func(who accounts.User) error {
			return modelstest.Third(s.QueueValidations(t.Context(), who, w.Task.ID))
		}
		modelstest.WantKind(t, ask(w.Ann), db.Forbidden)
		modelstest.Check(t, ask(cora))
		list := scripts(t, s)
		if len(list) != 10 || list[0].UserID != w.Ann.ID || list[1].UserID != w.Ben.ID {
			t.Fatalf("the script runs for %+v", list)
		}
		modelstest.WantKind(t, ask(cora), db.Conflict)
		answer(t, s, list[0], job.StatusPass, "8 of 8 shapes")
		if out := answer(t, s, list[1], job.StatusFail,
			"bad\x00 <b>"+strings.Repeat("é", 1000)); out.ChangedBoard == nil {
			t.Error("the board is not told")
		}
		answer(t, s, list[2], job.StatusTimeout, "The script reached its time limit of 3 s.")
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(t.Context(), w.Admin, list[3].ID)))
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
			boards.BoardPartQuery{Limit: 20}))
		for i, want := range []struct{ answer, message string }{{"applies", "8 of 8 shapes"}, {"does not apply", "bad"},
			{"no answer", "The script reached its time limit of 3 s."},
			{"no answer", "The run of the script was cancelled."}, {"", ""}} {
			e := page.Standings[i]
			if e.Answer != want.answer || !strings.HasPrefix(e.Message, want.message) || e.ScriptVersion != "v1" ||
				e.RequesterName != "Cora" || e.AskedAt == nil ||
				len(e.Message) > review.MaxValidationMessageLength+len("…") {
				t.Errorf("entry %d is annotated with %+v", i, e.ValidationResult)
			}
		}
		if last := page.Standings[11]; last.ScriptVersion != "" ||
			strings.Join(before, " ") != strings.Join(w.Standings(t, s, 0, 20), " ") {
			t.Errorf("the last entry has %+v, and the board is %v", last.ValidationResult, w.Standings(t, s, 0, 20))
		}
		// four entries could be validated again, but validationInterval has not passed
		modelstest.WantKind(t, ask(cora), db.TooMany)
		modelstest.Check(t, ask(w.Admin))
		if list := scripts(t, s); len(list) != 10 { // six runs still wait, and four are queued again
			t.Errorf("then the script waits for %d entries", len(list))
		}
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(t.Context(), w.Ann, list[0].SubmissionID, "")))
	})
}

// TestAScriptIsRefusedWhereItCannotRun checks that each refusal has a sentence, and that nothing is queued.
func TestAScriptIsRefusedWhereItCannotRun(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, cora := validated(t, s)
		soon := time.Now().Add(time.Hour)
		refused := func(task catalog.Task, why string) {
			t.Helper()
			err := modelstest.Third(s.QueueValidations(t.Context(), cora, task.ID))
			modelstest.WantKind(t, err, db.Conflict)
			if !strings.Contains(err.Error(), why) {
				t.Errorf("the reason is %v, want %q", err, why)
			}
		}
		refused(reopen(t, s, w.Task, nil), "has no deadline")
		refused(reopen(t, s, w.Task, &soon), "is open until its deadline")
		plain := modelstest.Task(t, s, cora, "plain", "CPU")
		refused(plain, "has no validation script")
		if list := scripts(t, s); len(list) != 0 {
			t.Errorf("queued are %+v", list)
		}
	})
}

// TestANewScriptKeepsTheBoards checks that a changed validation script makes no new version, because no score depends
// on the script.
func TestANewScriptKeepsTheBoards(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, cora := validated(t, s)
		b := modelstest.Got[*tasks.Bundle](t)(s.Catalog.CurrentBundle(t.Context(), w.Task))
		b.Definition.Validation = &tasks.ValidationScript{Version: "v2", Script: "use.py"}
		b.Files["use.py"] = []byte("print('does not apply')\n")
		_, change, err := s.Catalog.Publish(t.Context(), cora, w.Task.ID, b, nil)
		if err != nil || change != catalog.ChangeTexts {
			t.Fatalf("publishing it is %q, %v", change, err)
		}
		modelstest.Check(t, modelstest.Third(s.QueueValidations(t.Context(), cora, w.Task.ID)))
		for _, row := range modelstest.Got[[]review.ValidationRow](t)(s.Validations.OfVersion(t.Context(),
			w.Task.VersionID)) {
			if row.ScriptVersion != "v2" {
				t.Errorf("it waits for %+v", row)
			}
		}
	})
}
