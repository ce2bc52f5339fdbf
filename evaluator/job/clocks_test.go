package job

import "testing"

func TestClocksDifferBeyondTheToleranceAlone(t *testing.T) {
	tests := []struct {
		name   string
		runs   int
		clocks Clocks
		want   bool
	}{
		{"no judge", 100, Clocks{Event: 1, WallTime: 500}, false},
		{"within", 100, Clocks{Counted: ClockEvent, Event: 35_100, WallTime: 44_000, Snapshot: 36_000, WallTolerance: 10_000},
			false},
		{"work beside the events", 100,
			Clocks{Counted: ClockWall, Event: 1_250, WallTime: 206_200, Snapshot: 206_000, WallTolerance: 10_000}, true},
		{"work after done", 100, Clocks{Counted: ClockSnapshot, Event: 1_860, WallTime: -1_000, Snapshot: 211_000,
			WallTolerance: 10_000}, true},
		{"events far above the wall", 100,
			Clocks{Counted: ClockEvent, Event: 228_000, WallTime: 119_000, Snapshot: 119_000, WallTolerance: 10_000}, true},
		{"calls that wait on the host", 100,
			Clocks{Counted: ClockWall, Event: 228_000, WallTime: 119_000, LateCalls: 100, WallTolerance: 10_000}, false},
		{"late calls that work on after done", 100,
			Clocks{
				Counted: ClockSnapshot, Event: 1_000, WallTime: 119_000, Snapshot: 219_000, LateCalls: 100,
				WallTolerance: 10_000,
			},
			true},
		{"half of them", 100, Clocks{Counted: ClockWall, Event: 1_000, WallTime: 119_000, LateCalls: 50, WallTolerance: 10_000},
			true},
	}
	for _, tt := range tests {
		if got := (CaseResult{Runs: tt.runs, Clocks: tt.clocks}).ClocksDiffer(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
