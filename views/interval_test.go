package views

import (
	"strings"
	"testing"
)

func TestAnIntervalShowsHowFarAScoreMayBeOff(t *testing.T) {
	for name, tt := range map[string]struct {
		interval     Interval
		shown, title string
		noisy        bool
	}{
		"from processes":    {Interval{Low: 99_600, High: 100_400, Processes: 5}, "± 0.40\u00a0%", "95 % interval from 5 fresh processes", false},
		"noisy":             {Interval{Low: 90_000, High: 110_000, Processes: 9, Noisy: true}, "± 10.0\u00a0%", "from 9 fresh processes", true},
		"one process":       {Interval{Processes: 1, Noisy: true}, "–", "has no interval", true},
		"none was measured": {Interval{}, "± 1.0\u00a0%", "Standard error", false},
	} {
		var page strings.Builder
		if err := interval(100_000, 1000, tt.interval).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		html := page.String()
		if !strings.Contains(html, ">"+tt.shown+"</span>") || !strings.Contains(html, tt.title) || strings.Contains(html, ">noisy<") != tt.noisy {
			t.Errorf("%s: %s", name, html)
		}
	}
}
