package views

import (
	"strings"
	"testing"

	"warpboard/models/boards"
)

func TestAnIntervalShowsHowFarAScoreMayBeOff(t *testing.T) {
	for name, tt := range map[string]struct {
		interval     boards.Interval
		shown, title string
		noisy        bool
	}{
		"from processes": {boards.Interval{LowNS: new(99_600.0), HighNS: new(100_400.0), Processes: 5},
			"± 0.40\u00a0%", "95 % interval from 5 fresh processes", false},
		"noisy": {boards.Interval{LowNS: new(90_000.0), HighNS: new(110_000.0), Processes: 9, Noisy: true},
			"± 10.0\u00a0%", "from 9 fresh processes", true},
		"wide": {boards.Interval{LowNS: new(37_000.0), HighNS: new(510_000.0), Processes: 5, Noisy: true},
			"&gt; ± 100\u00a0%", "5 fresh processes, wider than ± 100\u00a0%: 37.00\u00a0µs to 510.0\u00a0µs", true},
		"one process":       {boards.Interval{Processes: 1, Noisy: true}, "–", "there is no interval", true},
		"none was measured": {boards.Interval{}, "–", "No interval: ", false},
	} {
		var page, onBoard strings.Builder
		if err := interval(100_000, tt.interval, 0).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if err := intervalOnly(100_000, tt.interval, 0, "").Render(t.Context(), &onBoard); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(onBoard.String(), tt.title) {
			t.Errorf("%s, on a board: %s", name, onBoard.String())
		}
		html := page.String()
		if !strings.Contains(html, ">"+tt.shown+"</span>") || !strings.Contains(html, tt.title) ||
			strings.Contains(html, ">noisy<") != tt.noisy {
			t.Errorf("%s: %s", name, html)
		}
	}
}
