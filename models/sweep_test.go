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
		kept, deleted, live := finishWithArtifact(t, s, w, "kept"), finishWithArtifact(t, s, w, "deleted"),
			w.Submit(t, s, w.Ben)
		keptFile := modelstest.Got[map[int64][]work.Artifact](t)(s.Work.ArtifactsOf(ctx, kept.ID))[kept.ID][0]
		deletedFile := modelstest.Got[map[int64][]work.Artifact](t)(s.Work.ArtifactsOf(ctx, deleted.ID))[deleted.ID][0]
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, deleted.SubmissionID, "")))
		events := func(run work.Run) int {
			return len(modelstest.Got[[]work.RunEvent](t)(s.Work.EventsSince(ctx, run.SubmissionID, 0, 10)))
		}

		modelstest.Check(t, s.DeleteExpired(ctx, time.Now()))
		if n := events(kept); n != 2 {
			t.Errorf("a run that ended just now keeps %d events", n)
		}
		if f, err := s.Work.OpenArtifact(ctx, deletedFile); err != nil {
			t.Errorf("a young file was swept: %v", err)
		} else {
			f.Close()
		}
		modelstest.Check(t, s.DeleteExpired(ctx, time.Now().AddDate(0, 1, 0)))
		if events(kept) != 0 || events(live) != 1 {
			t.Errorf("later an ended run keeps %d events, a live one %d", events(kept), events(live))
		}
		modelstest.WantKind(t, modelstest.Second(s.Work.OpenArtifact(ctx, deletedFile)), db.NotFound)
		f, err := s.Work.OpenArtifact(ctx, keptFile)
		modelstest.Check(t, err)
		f.Close()
		sub := modelstest.Got[submissions.Submission](t)(s.Submissions.Submission(ctx, kept.SubmissionID))
		modelstest.Check(t, modelstest.Second(s.Submissions.Source(ctx, sub)))
	})
}

func finishWithArtifact(t *testing.T, s *models.Store, w world, content string) work.Run {
	t.Helper()
	run := w.Submit(t, s, w.Ann)
	attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
	modelstest.Check(t, err)
	result := modelstest.Result(attempt, 10)
	result.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Data: []byte(content)}}
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result,
		work.ResultFindings{Score: &work.Score{NS: 10}})))
	return run
}
