package models_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// measured brings a run of a person's to its end, with a score from fresh processes.
func (w world) measured(t *testing.T, s *models.Store, who accounts.User, ns float64, i boards.Interval) work.Run {
	t.Helper()
	run := w.Submit(t, s, who)
	attempt, err := s.Work.StartAttempt(t.Context(), run.Ref())
	modelstest.Check(t, err)
	_, err = s.Work.RecordResult(t.Context(), modelstest.Result(attempt, ns), work.Findings{Score: &work.Score{NS: ns, Interval: i}})
	modelstest.Check(t, err)
	run, err = s.Work.Run(t.Context(), run.ID)
	modelstest.Check(t, err)
	return run
}

func TestAnEntryHasItsRunsInterval(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		low, high := 99.5, 100.25
		exact := boards.Interval{LowNS: &low, HighNS: &high, Processes: 6}
		single := boards.Interval{Processes: 1, Noisy: true}
		run := w.measured(t, s, w.Ann, 100, exact)
		if diff := cmp.Diff(exact, run.Interval); diff != "" {
			t.Errorf("the run (-want +got):\n%s", diff)
		}
		w.measured(t, s, w.Ann, 120, single) // slower: the entry stays
		w.measured(t, s, w.Ben, 90, single)
		for _, rebuilt := range []bool{false, true} {
			if rebuilt {
				modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
			}
			board, err := s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.Part{Limit: 10})
			modelstest.Check(t, err)
			if len(board.Standings) != 2 {
				t.Fatalf("%d entries", len(board.Standings))
			}
			got := []boards.Interval{board.Standings[0].Interval, board.Standings[1].Interval}
			if diff := cmp.Diff([]boards.Interval{single, exact}, got); diff != "" {
				t.Errorf("the board, rebuilt %v (-want +got):\n%s", rebuilt, diff)
			}
		}
	})
}

func TestANoisyScoreMayBeRepeatedFreeOfCharge(t *testing.T) {
	cfg := models.Config{Limits: submissions.Limits{PerHour: 2}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		again := submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: w.Task.Devices, Mode: job.ModeRanked, Source: []byte("x")}
		noisy := boards.Interval{Processes: 1, Noisy: true}
		w.measured(t, s, w.Ann, 100, boards.Interval{Processes: 5})
		w.measured(t, s, w.Ann, 100, noisy)
		w.measured(t, s, w.Ann, 100, noisy)
		w.measured(t, s, w.Ann, 100, noisy) // four within an hour: twice the limit
		_, _, err := s.Submissions.Submit(t.Context(), again)
		modelstest.WantKind(t, err, db.TooMany)

		w.measured(t, s, w.Ben, 100, noisy)
		w.measured(t, s, w.Ben, 100, boards.Interval{Processes: 5})
		w.measured(t, s, w.Ben, 100, boards.Interval{Processes: 5})
		again.User = w.Ben
		_, _, err = s.Submissions.Submit(t.Context(), again)
		modelstest.WantKind(t, err, db.TooMany)
	})
}
