package migrations_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestASiteOfTheLastOldMigrationGoesOn opens a database that the last program with the old migrations wrote. No row may
// be lost, the board must be the same, and running and waiting work must be able to end.
func TestASiteOfTheLastOldMigrationGoesOn(t *testing.T) {
	eachAdopted(t, func(t *testing.T, dialect string, cfg models.Config, db *sql.DB) {
		before := rowsOf(t, db, dialect)
		s, err := models.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		after := openAt(t, cfg) // a new connection: query plans of an old PostgreSQL connection are for the old columns
		wantKept(t, before, rowsOf(t, after, dialect))
		wantBoardOfTheDump(t, s)
		wantOrdersToGoOn(t, s)
		wantWorkToGoOn(t, s)
	})
}

// wantKept fails the test if a row is lost or changed. Migrations may add tables, and columns at the end of rows.
func wantKept(t *testing.T, before, after map[string][]string) {
	t.Helper()
	changed := []string{"goose_db_version", "sqlite_sequence", "boards"} // boards get a new change number
	for table, rows := range before {
		if slices.Contains(changed, table) {
			continue
		}
		if !slices.EqualFunc(rows, after[table], func(was, is string) bool { return strings.HasPrefix(is, was) }) {
			t.Errorf("rows of %s (-before +after):\n%s", table, cmp.Diff(rows, after[table]))
		}
	}
	if len(before["runs"]) != 14 || len(before["evaluations"]) == 0 {
		t.Errorf("the old database had %d runs and %d evaluations", len(before["runs"]), len(before["evaluations"]))
	}
}

func wantBoardOfTheDump(t *testing.T, s *models.Store) {
	t.Helper()
	task, err := s.Catalog.Task(t.Context(), "vectoradd")
	if err != nil {
		t.Fatal(err)
	}
	board, err := s.Boards.Board(t.Context(), task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10})
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

// wantOrdersToGoOn checks the open confirmation and reruns, and ends the review of a run that is on hold.
func wantOrdersToGoOn(t *testing.T, s *models.Store) {
	t.Helper()
	ctx, admin := t.Context(), accounts.User{ID: 1, Role: accounts.RoleAdmin}
	if of, err := s.Confirmations(ctx, 1); err != nil || of[1].EndedAt != nil || of[1].HolderID != 2 || of[1].ChallengerScoreBefore != 1000 {
		t.Errorf("the open confirmation is %+v, %v", of[1], err)
	}
	for of, want := range map[string]string{"": "Test 2 was wrong., 1 of 1 waits", "CPU": "The software of CPU changed., 0 of 1 waits"} {
		list, err := s.Reruns(ctx, admin, map[string]int64{"": 1}[of], of, 1)
		if err != nil || len(list) != 1 {
			t.Errorf("%d orders, %v; want %s", len(list), err, want)
			continue
		}
		waiting := 0
		for _, r := range list[0].Runs {
			if r.EndedAt == nil {
				waiting++
			}
		}
		if got := fmt.Sprintf("%s, %d of %d waits", list[0].Reason, waiting, len(list[0].Runs)); got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	}
	if _, err := s.DismissFlags(ctx, admin, 14, "It passes."); err != nil {
		t.Error(err)
	}
	if run, err := s.Work.Run(ctx, 14); err != nil || !run.Valid() {
		t.Errorf("after its review the run is held back: %q, %v", run.HeldReason, err)
	}
}

// wantWorkToGoOn ends the live attempts, starts the waiting work, and submits something new.
func wantWorkToGoOn(t *testing.T, s *models.Store) {
	t.Helper()
	ctx := t.Context()
	live, err := s.Work.LiveAttempts(ctx)
	if err != nil || len(live) != 2 {
		t.Fatalf("%d attempts are live, %v", len(live), err)
	}
	for _, a := range live {
		result, found := modelstest.Result(a.Attempt, 900), work.ResultFindings{Score: &work.Score{
			NS:              900,
			DeviationNS:     9,
			StandardErrorNS: 1,
		}}
		if a.EvaluationID != "" {
			result, found = modelstest.Evaluated(a.Attempt, `{"compiled":true}`), modelstest.Completed()
		}
		if out, err := s.Work.RecordResult(ctx, result, found); err != nil || !out.AttemptAccepted {
			t.Errorf("the result of %s: %+v, %v", a.WorkRef(), out, err)
		}
	}
	next, err := s.Work.NextWork(ctx, "CPU", 100, time.Now())
	if err != nil || len(next) != 5 {
		t.Errorf("%d runs and evaluations wait, %v", len(next), err)
	}
	for _, work := range next {
		if _, err := s.Work.StartAttempt(ctx, work.WorkRef()); err != nil {
			t.Errorf("%s cannot be started: %v", work.WorkRef(), err)
		}
	}
	task, err := s.Catalog.Task(ctx, "vectoradd")
	if err != nil {
		t.Fatal(err)
	}
	dora := modelstest.Person(t, s, "Dora", accounts.RoleUser)
	modelstest.Finish(t, s, modelstest.Submit(t, s, dora, task)[0], 800)
	if place, err := s.Boards.PersonPlace(ctx, task.VersionID, "CPU", dora.ID); err != nil || place.UserName != "Dora" {
		t.Errorf("a new run has the place %+v, %v", place, err)
	}
}
