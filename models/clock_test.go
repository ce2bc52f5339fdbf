package models_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// judged ends a run of Ann with the score ns. The result reports the time event for the clock in the runner, and
// wallTime for the judge's clock.
func (w world) judged(t *testing.T, s *models.Store, ns, event, wallTime float64) work.Run {
	t.Helper()
	run := w.Submit(t, s, w.Ann)
	attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
	modelstest.Check(t, err)
	_, err = s.Work.RecordResult(t.Context(), modelstest.Judge(modelstest.Result(attempt, ns), event, wallTime),
		work.ResultFindings{Score: &work.Score{NS: ns}})
	modelstest.Check(t, err)
	run, err = s.Work.Run(t.Context(), run.ID)
	modelstest.Check(t, err)
	return run
}

func TestRunsWhoseClocksDifferAreFlagged(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		first := w.judged(t, s, 196_200, 1_250, 206_200)
		honest := w.judged(t, s, 35_100, 35_100, 35_300)
		w.Score(t, s, w.Ben, 50) // this run has no clock of a judge
		second := w.judged(t, s, 18_000, 1_000, 28_000)
		if first.ClockName != "wall" || honest.ClockName != "event" {
			t.Errorf("the scores count by %q and %q", first.ClockName, honest.ClockName)
		}

		for run, want := range map[int64]models.ClockDifference{
			first.ID: {RunID: first.ID, Stage: job.StageRanked, CaseSpec: "size: 1024; seed: 2", DifferingCases: 1,
				Clock: job.ClockWall, EventNS: 1_250, WallNS: 206_200, SnapshotNS: 206_200, ToleranceNS: 10_000},
			second.ID: {RunID: second.ID, Stage: job.StageRanked, CaseSpec: "size: 1024; seed: 2", DifferingCases: 1,
				Clock: job.ClockWall, EventNS: 1_000, WallNS: 28_000, SnapshotNS: 28_000, ToleranceNS: 10_000},
		} {
			flags := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Admin, work.Run{ID: run}, w.Task))
			if len(flags) != 1 || cmp.Diff(want, flags[0].ClockDifference) != "" {
				t.Errorf("the flags of run %d: %+v", run, flags)
			}
		}
		if flags := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Admin, honest,
			w.Task)); len(flags) != 0 {
			t.Errorf("an honest run has %+v", flags)
		}
		if list := queue(t, s, w.Admin); len(list) != 1 || list[0] != fmt.Sprintf("%d: clocks", second.ID) {
			t.Errorf("the entries to review: %v", list)
		}
		modelstest.Check(t, s.Catalog.DeleteTask(ctx, w.Admin, w.Task.ID, w.Task.Slug))
		if flags := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Admin, first,
			w.Task)); len(flags) != 0 {
			t.Errorf("after the task went: %+v", flags)
		}
	})
}

func TestAnEntryKeepsItsClockWhenBoardsAreRebuilt(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.judged(t, s, 196_200, 1_250, 206_200)
		w.Score(t, s, w.Ben, 50)
		for range 2 {
			board, err := s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10})
			modelstest.Check(t, err)
			if len(board.Standings) != 2 || board.Standings[0].ClockName != "" ||
				board.Standings[1].ClockName != "wall" ||
				board.Leaders[1].ClockName != "wall" {
				t.Errorf("board: %+v", board)
			}
			modelstest.Check(t, s.Boards.RebuildEntries(ctx))
		}
	})
}
