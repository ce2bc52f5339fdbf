package webtest

import (
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// Scored submits a ranked run for a person and ends it with a score.
func Scored(t *testing.T, s *models.Store, who accounts.User, task catalog.Task, score work.Score) work.Run {
	t.Helper()
	run := modelstest.Submit(t, s, who, task)[0]
	attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
	if err == nil {
		_, err = s.Work.RecordResult(t.Context(), modelstest.Result(attempt, score.NS),
			work.ResultFindings{Score: &score})
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}
