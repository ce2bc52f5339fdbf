package job

import "testing"

func TestClockTimesDifferBeyondTheToleranceAlone(t *testing.T) {
	tests := []struct {
		name   string
		runs   int
		clocks ClockTimes
		want   bool
	}{
		{"no judge", 100, ClockTimes{EventTime: 1, WallTime: 500}, false},
		{"within", 100, ClockTimes{CountedClock: ClockEvent, EventTime: 35_100, WallTime: 44_000, SnapshotTime: 36_000, WallTolerance: 10_000},
			false},
		{"work beside the events", 100,
			ClockTimes{CountedClock: ClockWall, EventTime: 1_250, WallTime: 206_200, SnapshotTime: 206_000, WallTolerance: 10_000}, true},
		{"work after done", 100, ClockTimes{CountedClock: ClockSnapshot, EventTime: 1_860, WallTime: -1_000,
			SnapshotTime:  211_000,
			WallTolerance: 10_000}, true},
		{"events far above the wall", 100,
			ClockTimes{CountedClock: ClockEvent, EventTime: 228_000, WallTime: 119_000, SnapshotTime: 119_000, WallTolerance: 10_000}, true},
		{"calls that wait on the host", 100,
			ClockTimes{CountedClock: ClockWall, EventTime: 228_000, WallTime: 119_000, LateCalls: 100, WallTolerance: 10_000}, false},
		{"late calls that work on after done", 100,
			ClockTimes{
				CountedClock: ClockSnapshot, EventTime: 1_000, WallTime: 119_000, SnapshotTime: 219_000, LateCalls: 100,
				WallTolerance: 10_000,
			},
			true},
		{"half of them", 100, ClockTimes{CountedClock: ClockWall, EventTime: 1_000, WallTime: 119_000, LateCalls: 50, WallTolerance: 10_000},
			true},
	}
	for _, tt := range tests {
		if got := (CaseResult{Runs: tt.runs, ClockTimes: tt.clocks}).ClocksDiffer(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
