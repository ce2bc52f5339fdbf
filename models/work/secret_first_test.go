package work_test

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestAResultWithoutItsAttemptsSecretStoresNothing checks that a result stores nothing if its attempt is unknown, its
// secret is wrong, or it is a repetition. A result that returns the work to the queue stores no files, because that can
// happen any number of times.
func TestAResultWithoutItsAttemptsSecretStoresNothing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		attempt, err := s.Work.StartAttempt(ctx, w.Submit(t, s, w.Ann).WorkRef())
		modelstest.Check(t, err)
		sent := func(text string, spoil func(*job.Result)) (stored bool) {
			t.Helper()
			result := modelstest.Result(attempt, 10)
			result.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Data: []byte(text)}}
			spoil(&result)
			_, err := s.Work.RecordResult(ctx, result, work.ResultFindings{Score: &work.Score{NS: 10}})
			if err != nil {
				modelstest.WantKind(t, err, db.Forbidden)
			}
			f, err := s.Work.OpenArtifact(ctx, work.Artifact{Hash: db.Hash([]byte(text))})
			if err == nil {
				f.Close()
			}
			return err == nil
		}
		for name, spoil := range map[string]func(*job.Result){
			"no such attempt": func(r *job.Result) { r.AttemptID = "never was" },
			"wrong secret":    func(r *job.Result) { r.AttemptSecret = "guessed" },
			"another run":     func(r *job.Result) { r.RunID++ },
			"an evaluation":   func(r *job.Result) { r.RunID, r.EvaluationID = 0, "e" },
			"handed back":     func(r *job.Result) { r.Outcome = job.OutcomeHandedBack },
		} {
			if sent(name, spoil) {
				t.Errorf("%s: its file is stored", name)
			}
			if name == "handed back" {
				attempt, err = s.Work.StartAttempt(ctx, job.WorkRef{RunID: attempt.RunID})
				modelstest.Check(t, err)
			}
		}
		if !sent("the first", func(*job.Result) {}) || sent("the second", func(*job.Result) {}) {
			t.Error("the file of the result that counts is not stored, or that of another one is")
		}
	})
}
