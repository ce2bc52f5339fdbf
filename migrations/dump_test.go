package migrations_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// dumped is the version of the program that left testdata/00025.sql.
const dumped = 25

// restore makes the database that the dump is of.
func restore(t *testing.T, cfg models.Config) {
	t.Helper()
	db, dialect, _ := openAt(t, cfg)
	defer db.Close()
	script, err := os.ReadFile(fmt.Sprintf("testdata/%05d.sql", dumped))
	if err != nil {
		t.Fatal(err)
	}
	literal := "x'$1'"
	if dialect == migrations.Postgres {
		literal = `'\x$1'`
	}
	script = regexp.MustCompile(`@([0-9a-f]*)@`).ReplaceAll(script, []byte(literal))
	err = upTo(t.Context(), db, dialect, dumped)
	if err == nil {
		_, err = db.ExecContext(t.Context(), string(script))
	}
	if err == nil && dialect == migrations.Postgres {
		err = moveSequences(t, db)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// moveSequences does what pg_dump writes below its rows: the next id follows the last.
func moveSequences(t *testing.T, db *sql.DB) error {
	rows, err := db.QueryContext(t.Context(), `select table_name from information_schema.columns where column_name = 'id'
		and table_schema = current_schema() and (is_identity = 'YES' or column_default like 'nextval%')`)
	if err != nil {
		return err
	}
	var tables []string
	for rows.Next() {
		var name string
		err = errors.Join(err, rows.Scan(&name))
		tables = append(tables, name)
	}
	for _, name := range tables {
		_, moved := db.ExecContext(t.Context(), fmt.Sprintf("select setval(pg_get_serial_sequence('%s', 'id'), (select coalesce(max(id), 0) + 1 from %[1]s), false)", name))
		err = errors.Join(err, moved)
	}
	return errors.Join(err, rows.Err())
}

// TestASiteOfAnOlderVersionGoesOn opens what an older program left, on both databases: nothing is lost, the board is the
// same, and what ran and waited ends.
func TestASiteOfAnOlderVersionGoesOn(t *testing.T) {
	for name, cfg := range map[string]models.Config{"sqlite": {Dir: t.TempDir()}, "postgres": {Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}} {
		t.Run(name, func(t *testing.T) {
			restore(t, cfg)
			s, err := models.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			wantRows(t, s.SQL())
			wantBoardOfTheDump(t, s)
			wantWorkToGoOn(t, s)
			if applied, err := migrations.Up(t.Context(), s.SQL(), s.Dialect()); applied != 0 || err != nil {
				t.Errorf("%d files were applied twice, %v", applied, err)
			}
		})
	}
}

func wantRows(t *testing.T, db *sql.DB) {
	t.Helper()
	want := map[string]int{"users": 4, "identities": 4, "tokens": 1, "audits": 5, "tasks": 2, "task_versions": 2, "version_files": 4, "blobs": 3,
		"submissions": 8, "runs": 15, "attempts": 6, "stages": 20, "run_events": 23, "flags": 5, "statements": 5, "evaluations": 2, "epochs": 1,
		"entries": 3, "records": 2, "bests": 4, "confirmations": 1, "workers": 1}
	have := map[string]int{}
	for table := range want {
		var n int
		if err := db.QueryRowContext(t.Context(), "select count(*) from "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		have[table] = n
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("rows (-dump +after):\n%s", diff)
	}
}

func wantBoardOfTheDump(t *testing.T, s *models.Store) {
	t.Helper()
	task, err := s.Catalog.Task(t.Context(), "vectoradd")
	if err != nil {
		t.Fatal(err)
	}
	board, err := s.Boards.Board(t.Context(), task.VersionID, "CPU", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range board.Standings {
		got = append(got, fmt.Sprintf("%d %s %v", e.Rank, e.UserName, e.ScoreNS))
	}
	if diff := cmp.Diff([]string{"1 Ann 950", "2 Ben 1200", "2 Cora 1201"}, got); diff != "" {
		t.Errorf("the board (-before +after):\n%s", diff)
	}
	bundle, err := s.Catalog.Bundle(t.Context(), task.VersionID)
	if err != nil || string(bundle.Files["task.h"]) != "#pragma once\n" {
		t.Errorf("the task's files are %q, %v", bundle.Files["task.h"], err)
	}
}

// wantWorkToGoOn has the run that a worker had wait again, starts what waits, and submits something new.
func wantWorkToGoOn(t *testing.T, s *models.Store) {
	t.Helper()
	ctx := t.Context()
	var ref job.Ref
	result := job.Result{Outcome: job.OutcomeDone, Machine: job.Machine{Worker: "w1"}}
	err := s.SQL().QueryRowContext(ctx, "select run_id, id, secret from attempts where outcome = 'returned'").Scan(&result.RunID, &result.AttemptID, &result.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Work.RecordResult(ctx, result, work.Findings{}); err != nil || out.Accepted {
		t.Errorf("the result of the attempt that a worker had before: %+v, %v", out, err)
	}
	next, err := s.Work.NextWork(ctx, "CPU", 100, time.Now())
	if err != nil || len(next) == 0 {
		t.Fatalf("%d units of work wait, %v", len(next), err)
	}
	if !slices.ContainsFunc(next, func(q work.QueuedWork) bool { return q.RunID == result.RunID }) {
		t.Errorf("run %d, which a worker had, does not wait again", result.RunID)
	}
	for _, work := range next {
		if ref = work.Ref(); work.Device != "CPU" {
			t.Errorf("%s waits for %s", ref, work.Device)
		}
		if _, err := s.Work.StartAttempt(ctx, ref); err != nil {
			t.Errorf("%s cannot be started: %v", ref, err)
		}
	}
	task, err := s.Catalog.Task(ctx, "vectoradd")
	if err != nil {
		t.Fatal(err)
	}
	dora := modelstest.Person(t, s, "Dora", accounts.RoleUser)
	modelstest.Finish(t, s, modelstest.Submit(t, s, dora, task)[0], 800)
	if place, err := s.Boards.Place(ctx, task.VersionID, "CPU", dora.ID); err != nil || place.UserName != "Dora" {
		t.Errorf("a new run has the place %+v, %v", place, err)
	}
}
