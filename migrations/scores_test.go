package migrations_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/modelstest"
)

// forgedScores are what a program could write into its report before scores were checked.
var forgedScores = []string{"1.1e-308", "0.999", "0", "-5"}

// beforeScores makes a database as version 7 left it: Ann and Ben on one board, honestly in 500 and 700 ns, and
// Ann first with each of the forged scores.
func beforeScores(t *testing.T, db *sql.DB, dialect, infinity string) {
	t.Helper()
	if err := upTo(t.Context(), db, dialect, 7); err != nil {
		t.Fatal(err)
	}
	const at = "'2030-01-01 00:00:00+00:00'"
	statements := []string{
		"insert into users (id, name, name_key, role, created_at, updated_at) values (1, 'Ann', 'ann', 'user', AT, AT), (2, 'Ben', 'ben', 'user', AT, AT)",
		"insert into tasks (id, slug, title, owner_id, devices, visibility, version_id, created_at, updated_at) values (1, 'add', 'Add', 1, '[\"CPU\"]', 'public', 1, AT, AT)",
		"insert into task_versions (id, task_id, number, key, lang, definition, created_by, created_at) values (1, 1, 1, 'k', 'cpp', '{}', 1, AT)",
		"insert into blobs (hash, size, data, created_at) values ('h', 1, 'x', AT)",
	}
	run := 0
	add := func(user int, score, std string) {
		run++
		statements = append(statements,
			fmt.Sprintf("insert into submissions (id, user_id, task_id, version_id, mode, file_name, source_hash, created_at) values (%d, %d, 1, 1, 'ranked', 'a.cpp', 'h', AT)", run, user),
			fmt.Sprintf("insert into runs (id, submission_id, version_id, user_id, device, mode, state, queued_at, ended_at, score_ns, std_ns) "+
				"values (%d, %d, 1, %d, 'CPU', 'ranked', 'done', AT, AT, %s, %s)", run, run, user, score, std))
	}
	add(1, "500", "1")
	add(2, "700", "1")
	for _, score := range append([]string{infinity}, forgedScores...) {
		add(1, score, "1")
	}
	add(1, "400", "-1")
	statements = append(statements,
		"insert into entries (version_id, device, user_id, run_id, submission_id, score_ns, std_ns, err_ns, achieved_at) values (1, 'CPU', 1, 4, 4, 1.1e-308, 1, 0, AT), (1, 'CPU', 2, 2, 2, 700, 1, 0, AT)",
		"insert into records (version_id, device, run_id, user_id, submission_id, score_ns, achieved_at) values (1, 'CPU', 1, 1, 1, 500, AT), (1, 'CPU', 4, 1, 4, 1.1e-308, AT)",
		"insert into boards (version_id, device, change, size, leaders, changed_at) values (1, 'CPU', 9, 2, '[{\"RunID\":4,\"ScoreNS\":1.1e-308}]', AT)",
		"insert into run_events (submission_id, run_id, device, type, state, score_ns, created_at) values (4, 4, 'CPU', 'state', 'done', 1.1e-308, AT)")
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(s, "AT", at)); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestForgedScoresLeaveTheBoardsWithAReason(t *testing.T) {
	for name, cfg := range map[string]models.Config{"sqlite": {Dir: t.TempDir()}, "postgres": {Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}} {
		t.Run(name, func(t *testing.T) {
			db, dialect, infinity := openAt(t, cfg)
			beforeScores(t, db, dialect, infinity)
			s, err := models.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			wantHonestBoard(t, s)
			wantReasons(t, s)
			wantConstraint(t, s, infinity)
		})
	}
}

func openAt(t *testing.T, cfg models.Config) (db *sql.DB, dialect, infinity string) {
	t.Helper()
	driver, source := "sqlite3", filepath.Join(cfg.Dir, "warpboard.db")
	dialect, infinity = migrations.SQLite, "9e999"
	if cfg.DSN != "" {
		driver, source, dialect, infinity = "pgx", cfg.DSN, migrations.Postgres, "'infinity'"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	return db, dialect, infinity
}

func wantHonestBoard(t *testing.T, s *models.Store) {
	t.Helper()
	page, err := s.Boards.Board(t.Context(), 1, "CPU", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name  string
		Score float64
	}
	var got []row
	for _, st := range page.Standings {
		got = append(got, row{st.UserName, st.ScoreNS})
	}
	if diff := cmp.Diff([]row{{"Ann", 500}, {"Ben", 700}}, got); diff != "" {
		t.Errorf("the board (-want +got):\n%s", diff)
	}
	if page.Change <= 9 || len(page.Leaders) != 2 || page.Leaders[0].ScoreNS != 500 {
		t.Errorf("what is kept about the board is %+v", page.Board)
	}
	history, err := s.Boards.History(t.Context(), 1, "CPU")
	if err != nil || len(history) != 1 || history[0].ScoreNS != 500 {
		t.Errorf("the history is %+v, %v", history, err)
	}
}

func wantReasons(t *testing.T, s *models.Store) {
	t.Helper()
	reasons := map[int64]string{3: "nf", 4: "1.1e-308", 5: "0.999", 6: "of 0 ns", 7: "-5", 8: "deviation -1"}
	for id := int64(1); id <= 8; id++ {
		run, err := s.Work.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		said, forged := reasons[id]
		if forged != (run.DisqualifiedAt != nil) || forged == run.Valid() || !strings.Contains(run.DisqualifiedWhy, said) {
			t.Errorf("run %d is disqualified at %v because %q", id, run.DisqualifiedAt, run.DisqualifiedWhy)
		}
	}
}

// wantConstraint writes past all rules of the program.
func wantConstraint(t *testing.T, s *models.Store, infinity string) {
	t.Helper()
	for _, column := range []string{"score_ns", "std_ns", "err_ns"} {
		for _, score := range append([]string{infinity}, forgedScores...) {
			if column != "score_ns" && !strings.HasPrefix(score, "-") && score != infinity {
				continue
			}
			_, err := s.SQL().ExecContext(t.Context(), "update runs set "+column+" = "+score+" where id = 2")
			if err == nil || !strings.Contains(err.Error(), "runs_score") {
				t.Errorf("%s = %s was stored: %v", column, score, err)
			}
		}
	}
	_, err := s.SQL().ExecContext(t.Context(), "insert into runs (submission_id, version_id, user_id, device, mode, state, queued_at, score_ns) "+
		"values (1, 1, 1, 'H200', 'ranked', 'done', '2030-01-01 00:00:00+00:00', 1.1e-308)")
	if err == nil || !strings.Contains(err.Error(), "runs_score") {
		t.Errorf("a forged run was stored: %v", err)
	}
}
