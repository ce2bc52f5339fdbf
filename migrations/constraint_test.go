package migrations_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

// TestTheDatabaseStoresNoScoreThatNoClockCanShow checks that constraints of the database refuse impossible scores.
func TestTheDatabaseStoresNoScoreThatNoClockCanShow(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		infinity := "9e999"
		if s.Dialect() == migrations.Postgres {
			infinity = "'infinity'"
		}
		ann := modelstest.Person(t, s, "Ann", accounts.RoleCreator)
		modelstest.Finish(t, s, modelstest.Submit(t, s, ann, modelstest.Task(t, s, ann, "add", "CPU"))[0], 500)
		refused := func(constraint, statement string) {
			t.Helper()
			if _, err := s.SQL().ExecContext(t.Context(), statement); err == nil ||
				!strings.Contains(err.Error(), constraint) {
				t.Errorf("%s: %v, want %s", statement, err, constraint)
			}
		}
		for _, score := range []string{infinity, "1.1e-308", "0.999", "0", "-5"} {
			refused("runs_score", "update runs set score_ns = "+score)
			refused("runs_interval", fmt.Sprintf("update runs set interval_low = %s, interval_high = %[1]s", score))
			refused("entries_score", "update entries set score_ns = "+score)
			refused("runs_score",
				"insert into runs (submission_id, version_id, user_id, device, mode, state, queued_at, score_ns) "+
					"select submission_id, version_id, user_id, 'H200', mode, state, queued_at, "+score+" from runs")
		}
		for _, column := range []string{"std_ns", "err_ns"} {
			refused("runs_score", "update runs set "+column+" = -5")
			refused("runs_score", "update runs set "+column+" = "+infinity)
		}
	})
}
