package models_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

func TestSweepingRemovesOnlyUnusedRows(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		kept, deleted, live := finishWithArtifact(t, s, w, "kept"), finishWithArtifact(t, s, w, "deleted"), w.submit(t, s, w.ben)
		keptFile := got[[]work.Artifact](t)(s.Work.Artifacts(ctx, kept.ID))[0]
		deletedFile := got[[]work.Artifact](t)(s.Work.Artifacts(ctx, deleted.ID))[0]
		check(t, second(s.DeleteSubmission(ctx, w.ann, deleted.SubmissionID, "")))
		events := func(run work.Run) int {
			return len(got[[]work.RunEvent](t)(s.Work.EventsSince(ctx, run.SubmissionID, 0, 10)))
		}

		check(t, s.Sweep(ctx, time.Now()))
		if n := events(kept); n != 2 {
			t.Errorf("a run that ended just now keeps %d events", n)
		}
		if f, err := s.Work.OpenArtifact(ctx, deletedFile); err != nil {
			t.Errorf("a young file was swept: %v", err)
		} else {
			f.Close()
		}
		check(t, s.Sweep(ctx, time.Now().AddDate(0, 1, 0)))
		if events(kept) != 0 || events(live) != 1 {
			t.Errorf("later an ended run keeps %d events, a live one %d", events(kept), events(live))
		}
		wantKind(t, second(s.Work.OpenArtifact(ctx, deletedFile)), db.NotFound)
		f, err := s.Work.OpenArtifact(ctx, keptFile)
		check(t, err)
		f.Close()
		sub := got[submissions.Submission](t)(s.Submissions.Submission(ctx, kept.SubmissionID))
		check(t, second(s.Submissions.Source(ctx, sub)))
	})
}

func TestOldEvaluationsAreSwept(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		attempt := begun(t, s, submitted(t, s, "a"))
		check(t, second(s.Work.RecordResult(ctx, modelstest.Evaluated(attempt, "{}"), modelstest.Completed())))
		submitted(t, s, "a") // waits for however long
		for _, c := range []struct {
			days int
			kept int64
		}{{29, 2}, {31, 1}} {
			check(t, s.Sweep(ctx, time.Now().AddDate(0, 0, c.days)))
			if census := got[work.EvaluationStats](t)(s.Work.EvaluationStats(ctx)); census.Total != c.kept {
				t.Errorf("after %d days %d evaluations are kept, want %d", c.days, census.Total, c.kept)
			}
		}
	})
}

func finishWithArtifact(t *testing.T, s *models.Store, w world, content string) work.Run {
	t.Helper()
	run := w.submit(t, s, w.ann)
	attempt, err := s.Work.StartAttempt(t.Context(), run.Ref())
	check(t, err)
	result := modelstest.Result(attempt, 10)
	result.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Data: []byte(content)}}
	check(t, second(s.Work.RecordResult(t.Context(), result, work.Findings{Score: &work.Score{NS: 10}})))
	return run
}
