package models_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// closed sets the task's deadline to a minute ago, with or without practice afterwards.
func (w world) closed(t *testing.T, s *models.Store, practice bool) catalog.Task {
	t.Helper()
	in := w.Task.Settings()
	past := time.Now().Add(-time.Minute)
	in.Deadline, in.AllowsPractice = &past, practice
	return modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(), w.Admin, w.Task.ID, in))
}

// TestPracticeAfterTheDeadlineCountsInNothing checks that a practice run is measured like a ranked run, but affects no
// board, record, or points.
func TestPracticeAfterTheDeadlineCountsInNothing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		w.Score(t, s, w.Ben, 2e6)
		late := submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: []string{"CPU"},
			Mode: job.ModeRanked, Source: []byte("// late"), Via: "test"}
		w.closed(t, s, false)
		if _, _, err := s.Submissions.Submit(t.Context(), late); db.KindOf(err) != db.Forbidden {
			t.Fatalf("a closed task without practice took a run: %v", err)
		}
		task := w.closed(t, s, true)
		if !task.AllowsPractice {
			t.Fatal("the setting is lost")
		}
		sub, runs, err := s.Submissions.Submit(t.Context(), late)
		modelstest.Check(t, err)
		if sub.Mode != work.ModePractice || runs[0].Mode != work.ModePractice {
			t.Fatalf("a late ranked submission is %s, its run %s", sub.Mode, runs[0].Mode)
		}
		modelstest.Finish(t, s, runs[0], 1e6)
		run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), runs[0].ID))
		if run.ScoreNS == nil || *run.ScoreNS != 1e6 || run.Valid() {
			t.Errorf("the practice run has the score %v, valid: %v", run.ScoreNS, run.Valid())
		}
		modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
		if diff := cmp.Diff([]string{"1 Ben 2e+06"}, w.Standings(t, s, 0, 10)); diff != "" {
			t.Error(diff)
		}
		test := late
		test.Mode, test.Source = job.ModeTest, []byte("// another")
		sub, _, err = s.Submissions.Submit(t.Context(), test)
		modelstest.Check(t, err)
		if sub.Mode != job.ModeTest {
			t.Errorf("a late test is %s", sub.Mode)
		}
	})
}

// TestASubmissionSentAgainAfterTheDeadlineIsTheSameOne checks that a request repeated after the deadline returns the
// ranked submission from before, not a new practice submission.
func TestASubmissionSentAgainAfterTheDeadlineIsTheSameOne(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		in := submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: []string{"CPU"}, Mode: job.ModeRanked,
			Source: []byte("// a"), Via: "test", RequestKey: "once"}
		first, _, err := s.Submissions.Submit(t.Context(), in)
		modelstest.Check(t, err)
		w.closed(t, s, true)
		again, _, err := s.Submissions.Submit(t.Context(), in)
		modelstest.Check(t, err)
		in.RequestKey, in.Source = "later", []byte("// b")
		late, _, err := s.Submissions.Submit(t.Context(), in)
		modelstest.Check(t, err)
		lateAgain, _, err := s.Submissions.Submit(t.Context(), in)
		modelstest.Check(t, err)
		if again.ID != first.ID || late.ID == first.ID || lateAgain.ID != late.ID {
			t.Errorf("submissions %d, %d, %d, %d", first.ID, again.ID, late.ID, lateAgain.ID)
		}
	})
}

// TestAnAdminAddsASubmissionAfterTheDeadline checks that a submission added by an admin counts for its person, and
// shows the admin's reason.
func TestAnAdminAddsASubmissionAfterTheDeadline(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		w.closed(t, s, false)
		in := submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: []string{"CPU"}, Mode: job.ModeRanked,
			Source: []byte("// a"), Via: "test"}
		for name, c := range map[string]struct {
			added submissions.AdminSubmission
			want  db.ErrorKind
		}{
			"by another user":  {submissions.AdminSubmission{Admin: w.Ben, Reason: "The site was down."}, db.Forbidden},
			"without a reason": {submissions.AdminSubmission{Admin: w.Admin}, db.Invalid},
			"too long":         {submissions.AdminSubmission{Admin: w.Admin, Reason: strings.Repeat("é", 281)}, db.Invalid},
			"a reason alone":   {submissions.AdminSubmission{Reason: "The site was down."}, db.Invalid},
		} {
			in.AddedByAdmin = c.added
			if _, _, err := s.Submissions.Submit(t.Context(), in); db.KindOf(err) != c.want {
				t.Errorf("%s: %v", name, err)
			}
		}
		in.AddedByAdmin = submissions.AdminSubmission{Admin: w.Admin, Reason: "The site was down."}
		sub, runs, err := s.Submissions.Submit(t.Context(), in)
		modelstest.Check(t, err)
		modelstest.Finish(t, s, runs[0], 1e6)
		board := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
			boards.BoardPartQuery{Limit: 5}))
		if len(board.Standings) != 1 || board.Standings[0].UserID != w.Ann.ID ||
			board.Standings[0].AdminAddedReason != "The site was down." ||
			sub.AdminAddedReason != "The site was down." {
			t.Errorf("submission %+v is on the board as %+v", sub, board.Standings)
		}
		audits := modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.AuditLog(t.Context(), w.Admin, "", 0, 1))
		if len(audits) != 1 || audits[0].Detail != "for Ann: The site was down." {
			t.Errorf("the audit log has %+v", audits)
		}
	})
}
