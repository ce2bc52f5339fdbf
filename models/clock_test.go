package models_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// judged brings a run of ann's to its end with a score of ns, as a judge would whose clock says wall.
func (w world) judged(t *testing.T, s *models.Store, ns, event, wall float64) work.Run {
	t.Helper()
	run := w.Submit(t, s, w.Ann)
	attempt, err := s.Work.StartAttempt(t.Context(), run.Ref())
	modelstest.Check(t, err)
	_, err = s.Work.RecordResult(t.Context(), modelstest.Judge(modelstest.Result(attempt, ns), event, wall), work.Findings{Score: &work.Score{NS: ns}})
	modelstest.Check(t, err)
	run, err = s.Work.Run(t.Context(), run.ID)
	modelstest.Check(t, err)
	return run
}

func TestRunsWhoseClocksDifferAreListedForAdminsNewestFirst(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		first := w.judged(t, s, 196_200, 1_250, 206_200)
		honest := w.judged(t, s, 35_100, 35_100, 35_300)
		w.Score(t, s, w.Ben, 50) // by no judge
		second := w.judged(t, s, 18_000, 1_000, 28_000)
		if first.Clock != "wall" || honest.Clock != "event" {
			t.Errorf("the scores count by %q and %q", first.Clock, honest.Clock)
		}

		list, err := s.ClockDifferences(ctx, w.Admin, models.ClockFilter{Limit: 10})
		modelstest.Check(t, err)
		score, want := 196_200.0, models.DifferingRun{
			ClockDifference: models.ClockDifference{RunID: first.ID, Stage: job.StageRanked, Spec: "size: 1024; seed: 2", Cases: 1,
				Clock: job.ClockWall, EventNS: 1_250, WallNS: 206_200, SnapshotNS: 206_200, ToleranceNS: 10_000},
			SubmissionID: first.SubmissionID, Device: "CPU", Mode: job.ModeRanked, State: work.StateDone,
			UserID: w.Ann.ID, UserName: "Ann", TaskSlug: w.Task.Slug, TaskTitle: w.Task.Title,
		}
		want.ScoreNS = &score
		if len(list) != 2 || list[0].RunID != second.ID {
			t.Fatalf("listed %+v", list)
		}
		if diff := cmp.Diff(want, list[1], cmpopts.IgnoreFields(models.DifferingRun{}, "EndedAt")); diff != "" {
			t.Errorf("the older one (-want +got):\n%s", diff)
		}
		older, err := s.ClockDifferences(ctx, w.Admin, models.ClockFilter{Before: second.ID, Limit: 10})
		if err != nil || len(older) != 1 || older[0].RunID != first.ID {
			t.Errorf("the next page: %+v, %v", older, err)
		}
		_, err = s.ClockDifferences(ctx, w.Ann, models.ClockFilter{Limit: 10})
		modelstest.WantKind(t, err, db.Forbidden)

		modelstest.Check(t, s.Catalog.DeleteTask(ctx, w.Admin, w.Task.ID, w.Task.Slug))
		if list, err = s.ClockDifferences(ctx, w.Admin, models.ClockFilter{Limit: 10}); err != nil || len(list) != 0 {
			t.Errorf("after the task went: %+v, %v", list, err)
		}
	})
}

func TestAnEntryKeepsItsClockWhenBoardsAreRebuilt(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.judged(t, s, 196_200, 1_250, 206_200)
		w.Score(t, s, w.Ben, 50)
		for range 2 {
			board, err := s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.Part{Limit: 10})
			modelstest.Check(t, err)
			if len(board.Standings) != 2 || board.Standings[0].Clock != "" || board.Standings[1].Clock != "wall" || board.Leaders[1].Clock != "wall" {
				t.Errorf("board: %+v", board)
			}
			modelstest.Check(t, s.Boards.RebuildEntries(ctx))
		}
	})
}
