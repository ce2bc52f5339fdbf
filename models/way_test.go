package models_test

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestTheWayOfASubmissionTakesFewStatements counts the statements of the transactions of a ranked submission, from the
// form to its place on the board.
func TestTheWayOfASubmissionTakesFewStatements(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		w.Score(t, s, w.Ben, 2000)
		asked := s.QueryCount()
		step := func(what string, most int64) {
			t.Helper()
			if s.Dialect() == migrations.Postgres {
				most++ // the statement that takes the write lock
			}
			if n := s.QueryCount() - asked; n > most {
				t.Errorf("%s: %d statements, want at most %d", what, n, most)
			}
			asked = s.QueryCount()
		}
		run := w.Submit(t, s, w.Ann)
		step("submit", 11)
		attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
		step("start the attempt", 3)
		tell := modelstest.EventMaker{Attempt: attempt}
		_, _, err := s.Work.AppendEvents(t.Context(), []job.Event{tell.Event(job.Event{Type: job.EventAttemptStarted})})
		modelstest.Check(t, err)
		step("an event", 6)
		result := modelstest.Result(attempt, 1000)
		found := modelstest.Got[work.ResultFindings](t)(s.Scores.ScoreResult(t.Context(), &result))
		step("check the result", 3)
		found.Score = &work.Score{NS: 1000}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result, found)))
		step("record the result", 39)
	})
}
