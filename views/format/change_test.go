package format

import "testing"

func TestScoreChangeSaysOnlyWhatTheIntervalsShow(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{0.9, 0.89, 0.91, "10.0\u00a0% faster (9.0 to 11.0\u00a0%)"},
		{1.02, 1.01, 1.03, "2.0\u00a0% slower (1.0 to 3.0\u00a0%)"},
		{1.02, 0.99, 1.05, "no clear difference"},
		{1.004, 1.003, 1.0045, "no clear difference"},
		{1.5, 1.5, 1.5, "50.0\u00a0% slower (50.0 to 50.0\u00a0%)"},
		{1.2, 1.3, 1.1, "20.0\u00a0% slower (20.0 to 20.0\u00a0%)"}, // interval that does not contain its ratio
		{0, 0, 0, ""},
	} {
		if got := ScoreChange(c.ratio, c.low, c.high); got != c.want {
			t.Errorf("Change(%v, %v, %v) = %q, want %q", c.ratio, c.low, c.high, got, c.want)
		}
	}
}
