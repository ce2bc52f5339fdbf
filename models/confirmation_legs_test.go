package models_test

import (
	"fmt"
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// measureLegs ends the legs that wait, one after the other, on one unit with what their processes measured.
func (w world) measureLegs(t *testing.T, s *models.Store, legs ...[]float64) {
	t.Helper()
	for _, processes := range legs {
		w.end(t, s, leg(t, s), work.Findings{}, processes...)
	}
}

// uneven are five processes so far apart that a run is noisy.
func uneven(ns float64) []float64 { return []float64{ns * 0.9, ns * 0.95, ns, ns * 1.05, ns * 1.1} }

// Disturbed legs are measured once more, and left out unless most of a side's are: then the kernel may be why.
func TestADisturbedLegIsMeasuredOnceMore(t *testing.T) {
	for _, tt := range []struct {
		name string
		bens [][]float64 // what his legs measure
		ns   string      // his score
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
					w.measureLegs(t, s, about(1000), processes)
				}
				c := modelstest.Got[models.ConfirmationSides](t)(s.ConfirmationOf(t.Context(), bens.ID))
				if c.EndedAt == nil || fmt.Sprintf("%.1f %.1f", *c.ChallengerNS, *c.HolderNS) != tt.ns+" 1000.0" {
					t.Errorf("it says %+v", c)
				}
				if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), bens.ID)); fmt.Sprintf("%.1f", *run.ScoreNS) != tt.ns || run.Noisy != (tt.name == "two of four") {
					t.Errorf("his run has %v, noisy %v", *run.ScoreNS, run.Noisy)
				}
			})
		})
	}
}

func TestALegBesideANeighbourIsMeasuredOnceMore(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(800)...)
		w.end(t, s, leg(t, s), work.Findings{Score: &work.Score{Disturbed: "another process on the device in 3 of 9 samples"}}, about(3000)...)
		w.measureLegs(t, s, about(900), about(1000), about(900), about(1000))
		if c := modelstest.Got[models.ConfirmationSides](t)(s.ConfirmationOf(t.Context(), bens.ID)); c.EndedAt == nil || fmt.Sprintf("%.0f", *c.HolderNS) != "1000" {
			t.Errorf("it says %+v", c)
		}
	})
}

// One bad leg does not widen a source's interval for ever, and more legs make it narrower.
func TestAConfirmedScoresIntervalUsesItsProcesses(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		anns := w.measures(t, s, w.Ann, "a;", about(1e6)...)
		widths := make([]float64, 0, 3)
		for i := range 3 {
			w.measures(t, s, w.Ben, fmt.Sprintf("b%d;", i), about(1e3*(900-float64(i)))...)
			first := about(1e6)
			if i == 0 {
				first = about(1.3e6) // beside someone whom no driver names
			}
			w.measureLegs(t, s, first, about(990e3), about(1e6), about(990e3))
			run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), anns.ID))
			widths = append(widths, *run.HighNS-*run.LowNS)
			if legs := 2 * (1 + i); run.Processes != 5*legs {
				t.Errorf("after %d legs it has %d processes", legs, run.Processes)
			}
		}
		if widths[0] < 200e3 || widths[1] > 20e3 || widths[2] > widths[1] {
			t.Errorf("her intervals are %.0f wide", widths)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), anns.ID)); fmt.Sprintf("%.0f", *run.ScoreNS) != "1000000" {
			t.Errorf("she has %v", *run.ScoreNS)
		}
		w.SameAfterRebuild(t, s)
	})
}
