package views

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

// TestASpeedupIsClaimedOnlyWhereItsIntervalExcludesOne checks that a factor whose interval contains 1 is shown as no
// clear difference.
func TestASpeedupIsClaimedOnlyWhereItsIntervalExcludesOne(t *testing.T) {
	for _, c := range []struct {
		factor   float64
		interval []float64
		want     string
	}{
		{1.12, []float64{0.83, 1.44}, "No clear difference"},
		{1.84, []float64{1.82, 1.86}, "1.84×"},
		{0.5, []float64{0.48, 0.51}, "0.500×"},
		{1.2, nil, "1.20×"},
	} {
		if got := speedup(c.factor, c.interval); got != c.want {
			t.Errorf("×%v between %v is shown as %q, want %q", c.factor, c.interval, got, c.want)
		}
	}
}

// TestAnExactMatchNamesNoWorstElement checks that a match is called exact even if the two values are printed with
// different precision.
func TestAnExactMatchNamesNoWorstElement(t *testing.T) {
	n := job.NumericError{WorstPosition: "[3]", Got: "0.186304569", Want: "0.18630456924438477"}
	if text := show(t, numericsCells(&n)).Text(); strings.Contains(text, "instead of") ||
		!strings.Contains(text, "exact") {
		t.Errorf("an exact match says %q", text)
	}
	if text := strings.TrimSpace(show(t, numericsCells(nil)).Text()); text != "not computed" {
		t.Errorf("a case that failed says %q of its errors", text)
	}
}

func TestATimeOfASetupIsShownAndNotCounted(t *testing.T) {
	c := job.CaseResult{Status: job.StatusPass, SetupNS: 2.5e6, Mean: 1000, Median: 1000, Runs: 3}
	for name, text := range map[string]string{
		"a test":      show(t, checkedCases([]job.CaseResult{c})).Text(),
		"a benchmark": show(t, timedCases(StageView{Result: job.StageResult{Cases: []job.CaseResult{c}}}, false)).Text(),
	} {
		if !strings.Contains(text, "setup took 2.500\u00a0ms, not counted") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if text := setupTimeText(0); text != "" {
		t.Errorf("without a setup: %q", text)
	}
}
