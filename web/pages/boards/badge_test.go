package boards

import (
	"testing"

	"warpboard/models/boards"
)

func TestABadgeSaysHowExactItsScoreIs(t *testing.T) {
	low, high := 97_000.0, 99_000.0
	for want, i := range map[string]boards.Interval{
		"98.00\u00a0µs ± 1.0\u00a0%": {LowNS: &low, HighNS: &high},
		"98.00\u00a0µs":              {},
	} {
		if got := scoreText(98_000, i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
