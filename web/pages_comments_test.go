package web_test

import (
	"fmt"
	"time"

	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// commented creates a submission whose source is public, and returns the URL of its comments.
func commented(s *webtest.Scene) string {
	s.T.Helper()
	run := modelstest.Submit(s.T, s.Cfg.Store, s.Ada, modelstest.Task(s.T, s.Cfg.Store, s.Admin, "over", "CPU"))[0]
	if _, err := s.Cfg.Store.SQL().ExecContext(s.T.Context(), "update tasks set deadline = $1 where slug = 'over'",
		time.Now().Add(-time.Hour).UTC()); err != nil {
		s.T.Fatal(err)
	}
	return fmt.Sprintf("/submissions/%d/comments", run.SubmissionID)
}
