package migrations_test

import (
	"strings"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/modelstest"
)

// TestWhatWasUsedTodayBeforeChargesWereKeptIsCharged, and nothing of yesterday, of nobody or of the CPU.
func TestWhatWasUsedTodayBeforeChargesWereKeptIsCharged(t *testing.T) {
	for name, cfg := range map[string]models.Config{"sqlite": {Dir: t.TempDir()}, "postgres": {Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}} {
		t.Run(name, func(t *testing.T) {
			db, dialect, _ := openAt(t, cfg)
			if err := upTo(t.Context(), db, dialect, 45); err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC()
			const evaluation = "insert into evaluations (id, user_id, owner, caller, source_hash, kind, device, state, request, queued_at, ended_at, unit_ns) values "
			for _, s := range []string{
				"insert into users (id, name, name_key, role, created_at, updated_at) values (1, 'Ann', 'ann', 'user', $1, $1)",
				"insert into tasks (id, slug, title, owner_id, devices, visibility, version_id, created_at, updated_at) values (1, 'add', 'Add', 1, '[]', 'public', 1, $1, $1)",
				"insert into task_versions (id, task_id, number, key, lang, definition, created_by, created_at) values (1, 1, 1, 'k', 'cpp', '{}', 1, $1)",
				"insert into blobs (hash, size, data, created_at) values ('h', 1, 'x', $1)",
				"insert into submissions (id, user_id, task_id, version_id, mode, file_name, source_hash, created_at) values (1, 1, 1, 1, 'test', 'a', 'h', $1)",
				"insert into runs (submission_id, version_id, user_id, device, mode, state, queued_at, ended_at, unit_ns) values (1, 1, 1, 'H200', 'test', 'done', $1, $1, 2), (1, 1, 1, 'CPU', 'test', 'done', $1, $1, 100)",
				"insert into runs (submission_id, version_id, user_id, device, mode, state, queued_at, ended_at, unit_ns) values (1, 1, 1, 'H100', 'test', 'cancelled', $1, $1, 100)",
				evaluation + "('a', 1, 'o', 'c', 'h', 'evaluate', 'H200', 'completed', '{}', $1, $1, 3), ('b', 0, 'o', 'c', 'h', 'evaluate', 'H200', 'completed', '{}', $1, $1, 100)",
				evaluation + "('c', 1, 'o', 'c', 'h', 'evaluate', 'H200', 'completed', '{}', YESTERDAY, YESTERDAY, 100)",
			} {
				at := now
				if strings.Contains(s, "YESTERDAY") {
					s, at = strings.ReplaceAll(s, "YESTERDAY", "$1"), now.Truncate(24*time.Hour).Add(-time.Second)
				}
				if _, err := db.ExecContext(t.Context(), s, at); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s, err := models.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var rows, sum int64
			var day string
			err = s.SQL().QueryRowContext(t.Context(), "select count(*), max(day), max(unit_ns) from charges where user_id = 1").Scan(&rows, &day, &sum)
			if err != nil || rows != 1 || day != now.Format(time.DateOnly) || sum != 5 {
				t.Errorf("%d rows, day %q, %d ns, %v; want 5 ns of today", rows, day, sum, err)
			}
		})
	}
}
