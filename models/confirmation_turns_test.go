package models_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// measureTurns ends the waiting turns one after the other, all on the same slot, with the times of their processes in
// nanoseconds.
func (w world) measureTurns(t *testing.T, s *models.Store, turns ...[]float64) {
	t.Helper()
	for _, processes := range turns {
		w.end(t, s, turn(t, s), work.ResultFindings{}, processes...)
	}
}

// uneven returns the times of five processes that differ so much that their run is noisy.
func uneven(ns float64) []float64 { return []float64{ns * 0.9, ns * 0.95, ns, ns * 1.05, ns * 1.1} }

// TestADisturbedTurnIsMeasuredOnceMore checks that a side with one disturbed turn gets another turn instead. If half of
// a side's turns are disturbed, all count, because the kernel may be the cause.
func TestADisturbedTurnIsMeasuredOnceMore(t *testing.T) {
	for _, tt := range []struct {
		name string
		bens [][]float64 // times of the processes of each of Ben's turns
		ns   string      // Ben's score afterwards
	}{
		{"none", [][]float64{about(900), about(902)}, "901.0"},
		{"one of three", [][]float64{uneven(1500), about(900), about(902)}, "901.0"},
		{"two of four", [][]float64{uneven(1500), uneven(1500), about(900), about(900)}, "1161.9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			confirming(t, func(t *testing.T, s *models.Store, w world) {
				w.measures(t, s, w.Ann, "a;", about(1000)...)
				bens := w.measures(t, s, w.Ben, "b;", about(800)...)
				for _, processes := range tt.bens {
					w.measureTurns(t, s, about(1000), processes)
				}
				c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]
				if c.EndedAt == nil || fmt.Sprintf("%.1f %.1f", *c.ChallengerNS, *c.HolderNS) != tt.ns+" 1000.0" {
					t.Errorf("it says %+v", c)
				}
				if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), bens.ID)); fmt.Sprintf("%.1f",
					*run.ScoreNS) != tt.ns || run.Noisy != (tt.name == "two of four") {
					t.Errorf("his run has %v, noisy %v", *run.ScoreNS, run.Noisy)
				}
			})
		})
	}
}

func TestATurnBesideANeighbourIsMeasuredOnceMore(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(800)...)
		w.end(t, s, turn(t, s),
			work.ResultFindings{Score: &work.Score{DisturbedReason: "another process on the device in 3 of 9 samples"}},
			about(3000)...)
		w.measureTurns(t, s, about(900), about(1000), about(900), about(1000))
		if c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]; c.EndedAt == nil ||
			fmt.Sprintf("%.0f", *c.HolderNS) != "1000" {
			t.Errorf("it says %+v", c)
		}
	})
}

// disturbed ends a number of turns. Those of the holder, of the challenger, or of both ran beside another program on
// the device.
func (w world) disturbed(t *testing.T, s *models.Store, turns int, holder, challenger bool) {
	t.Helper()
	for i := range turns {
		score := work.Score{}
		if i%2 == 0 && holder || i%2 == 1 && challenger {
			score.DisturbedReason = "another process on the device in 9 of 9 samples"
		}
		w.end(t, s, turn(t, s), work.ResultFindings{Score: &score}, about([]float64{1100, 950}[i%2])...)
	}
}

// TestADisturbedConfirmationLeavesAQuietScore checks that a disturbed confirmation does not change an undisturbed
// score, and is repeated when the board changes, but only a limited number of times.
func TestADisturbedConfirmationLeavesAQuietScore(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(800)...)
		for round := range 3 {
			w.disturbed(t, s, 8, false, true)
			c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]
			want := fmt.Sprintf(
				"#%d was measured again on a disturbed device (another process on the device in 9 of 9 samples), so its score from before stays.", bens.SubmissionID)
			if c.EndedAt == nil || c.ChallengerNS != nil || c.HolderNS != nil || !strings.HasPrefix(c.Reason, want) ||
				c.MayRepeatConfirmation != (round < 2) {
				t.Errorf("round %d: it keeps %+v", round, c)
			}
			if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), bens.ID)); *run.ScoreNS != *bens.ScoreNS ||
				run.DisturbedReason != "" {
				t.Errorf("round %d: the run has %v, disturbed %q", round, *run.ScoreNS, run.DisturbedReason)
			}
			if waits := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(waits) != 0 {
				t.Fatalf("round %d: it begins again at once: %+v", round, waits)
			}
			// the board changes, so the confirmation is repeated
			w.measures(t, s, w.Ann, fmt.Sprintf("a%d;", round), about(990-10*float64(round))...)
		}
		if waits := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(waits) != 0 {
			t.Errorf("it begins for a fourth time: %+v", waits)
		}
		w.SameAfterRebuild(t, s)
	})
}

// TestADisturbedHolderLetsTheChallengerCountAlone checks that the challenger gets its score even if all turns of the
// holder were disturbed. Otherwise the holder could block the confirmation.
func TestADisturbedHolderLetsTheChallengerCountAlone(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		anns := w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(800)...)
		w.disturbed(t, s, 8, true, false)
		c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]
		if c.ChallengerNS == nil || fmt.Sprintf("%.0f", *c.ChallengerNS) != "950" || c.HolderNS != nil ||
			!strings.HasPrefix(c.Reason, fmt.Sprintf("#%d was measured again on a disturbed device",
				anns.SubmissionID)) {
			t.Errorf("it keeps %+v", c)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), anns.ID)); *run.ScoreNS != *anns.ScoreNS ||
			run.DisturbedReason != "" {
			t.Errorf("the holder has %v, disturbed %q", *run.ScoreNS, run.DisturbedReason)
		}
		w.SameAfterRebuild(t, s)
	})
}

// TestADisturbedScoreIsConfirmedByDisturbedTurns checks that disturbed turns replace a score that was itself disturbed.
func TestADisturbedScoreIsConfirmedByDisturbedTurns(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := modelstest.SubmitSource(t, s, w.Ben, w.Task, "b;")[0]
		w.end(t, s, bens, work.ResultFindings{Score: &work.Score{DisturbedReason: "the GPU was hot"}}, about(800)...)
		w.disturbed(t, s, 8, false, true)
		if c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(),
			bens.ID))[bens.ID]; c.ChallengerNS == nil || fmt.Sprintf("%.0f", *c.ChallengerNS) != "950" {
			t.Errorf("it keeps %+v", c)
		}
	})
}

// TestAConfirmedScoresIntervalUsesItsProcesses checks that the interval of a source becomes narrower with more turns,
// even if an early turn was bad.
func TestAConfirmedScoresIntervalUsesItsProcesses(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		anns := w.measures(t, s, w.Ann, "a;", about(1e6)...)
		widths := make([]float64, 0, 3)
		for i := range 3 {
			w.measures(t, s, w.Ben, fmt.Sprintf("b%d;", i), about(1e3*(900-float64(i)))...)
			first := about(1e6)
			if i == 0 {
				first = about(1.3e6) // slowed by another program that the driver does not report
			}
			w.measureTurns(t, s, first, about(990e3), about(1e6), about(990e3))
			run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), anns.ID))
			widths = append(widths, *run.HighNS-*run.LowNS)
			if turns := 2 * (1 + i); run.Processes != 5*turns {
				t.Errorf("after %d turns it has %d processes", turns, run.Processes)
			}
		}
		if widths[0] < 200e3 || widths[1] > 20e3 || widths[2] > widths[1] {
			t.Errorf("her intervals are %.0f wide", widths)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), anns.ID)); fmt.Sprintf("%.0f",
			*run.ScoreNS) != "1000000" {
			t.Errorf("she has %v", *run.ScoreNS)
		}
		w.SameAfterRebuild(t, s)
	})
}
