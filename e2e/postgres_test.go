package e2e

import (
	"testing"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

// TestRunOnPostgres takes a submission to its board with the real server on a real PostgreSQL, and finds all data again
// after a restart.
func TestRunOnPostgres(t *testing.T) {
	t.Parallel()
	s := startTaskSite(t, "--database-url", modelstest.AlwaysPostgresURL(t))
	ada := s.person(t, "Ada", accounts.RoleUser)
	run := ada.passes(job.ModeRanked)
	wantBoard(t, s, []client.Run{run})
	s.stop()
	s.up(t)
	wantBoard(t, s, []client.Run{run})
	s.person(t, "Ben", accounts.RoleUser).ranksSeveralFiles()
	ada.compiles()
	s.stop() // stop before the database is deleted
}
