package models_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
)

// measured brings a run of a person's to its end, with a score from fresh processes.
func (w world) measured(t *testing.T, s *models.Store, who models.User, ns float64, i models.Interval) models.Run {
	t.Helper()
	run := w.submit(t, s, who)
	attempt, err := s.StartAttempt(t.Context(), run.Ref())
	check(t, err)
	_, err = s.RecordResult(t.Context(), modelstest.Result(attempt, ns), models.Findings{Score: &models.Score{NS: ns, Interval: i}})
	check(t, err)
	run, err = s.Run(t.Context(), run.ID)
	check(t, err)
	return run
}

func TestTheIntervalOfAScoreIsOfItsRunAndItsEntry(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		low, high := 99.5, 100.25
		exact := models.Interval{LowNS: &low, HighNS: &high, Processes: 6}
		single := models.Interval{Processes: 1, Noisy: true}
		run := w.measured(t, s, w.ann, 100, exact)
		if diff := cmp.Diff(exact, run.Interval); diff != "" {
			t.Errorf("the run (-want +got):\n%s", diff)
		}
		w.measured(t, s, w.ann, 120, single) // slower: the entry stays
		w.measured(t, s, w.ben, 90, single)
		for _, rebuilt := range []bool{false, true} {
			if rebuilt {
				check(t, s.RebuildEntries(t.Context()))
			}
			board, err := s.Board(t.Context(), w.task.VersionID, "CPU", 0, 10)
			check(t, err)
			if len(board.Standings) != 2 {
				t.Fatalf("%d entries", len(board.Standings))
			}
			got := []models.Interval{board.Standings[0].Interval, board.Standings[1].Interval}
			if diff := cmp.Diff([]models.Interval{single, exact}, got); diff != "" {
				t.Errorf("the board, rebuilt %v (-want +got):\n%s", rebuilt, diff)
			}
		}
	})
}

func TestANoisyScoreMayBeRepeatedFreeOfChargeButNotForEver(t *testing.T) {
	cfg := models.Config{Limits: models.Limits{PerHour: 2}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		again := models.NewSubmission{User: w.ann, TaskID: w.task.ID, Devices: w.task.Devices, Mode: job.ModeRanked, Source: []byte("x")}
		noisy := models.Interval{Processes: 1, Noisy: true}
		w.measured(t, s, w.ann, 100, models.Interval{Processes: 5})
		w.measured(t, s, w.ann, 100, noisy)
		w.measured(t, s, w.ann, 100, noisy)
		w.measured(t, s, w.ann, 100, noisy) // four within an hour: twice the limit
		_, _, err := s.Submit(t.Context(), again)
		wantKind(t, err, models.TooMany)

		w.measured(t, s, w.ben, 100, noisy)
		w.measured(t, s, w.ben, 100, models.Interval{Processes: 5})
		w.measured(t, s, w.ben, 100, models.Interval{Processes: 5})
		again.User = w.ben
		_, _, err = s.Submit(t.Context(), again)
		wantKind(t, err, models.TooMany)
	})
}
