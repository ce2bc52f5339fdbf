package device

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"
)

// TestPowerUsesCounterStepsWithinTheCalls: what came before them, and when the first value came, says nothing.
func TestPowerUsesCounterStepsWithinTheCalls(t *testing.T) {
	const ms = int64(time.Millisecond)
	at := func(from, to, step int64, watts float64) (moves []move) {
		for now := from; now <= to; now += step {
			moves = append(moves, move{now * ms, uint64(float64(now) * watts)})
		}
		return moves
	}
	for name, tt := range map[string]struct {
		moves []move
		watts float64 // 0: not known
	}{
		"moves often":                       {at(0, 2000, 20, 300), 300},
		"moves seldom":                      {at(10, 2000, 100, 250), 250},
		"has another power before":          {append(at(0, 900, 20, 50), at(1000, 2000, 50, 400)...), 400},
		"does not move":                     {at(0, 0, 1, 100), 0},
		"moves once within":                 {at(0, 2000, 700, 100), 0},
		"stops moving soon":                 {at(0, 1300, 20, 100), 0},
		"begins again":                      {[]move{{0, 1}, {1200 * ms, 900}, {1700 * ms, 3}}, 0},
		"is read for the first time within": {[]move{{1200 * ms, 1000}, {1300 * ms, 1100}, {1400 * ms, 1200}}, 0},
	} {
		w := EnergyWatcher{moves: tt.moves}
		watts, ok := w.Watts(1000*ms, 1800*ms)
		if ok != (tt.watts > 0) || ok && math.Abs(watts-tt.watts) > 1e-6*tt.watts {
			t.Errorf("a counter that %s: %v W, %v; want %v", name, watts, ok, tt.watts)
		}
	}
}

func TestACounterIsReadUntilItIsStopped(t *testing.T) {
	var reads atomic.Int64
	enough := make(chan struct{})
	slot := Slot{Energy: func() (uint64, bool) {
		n := reads.Add(1)
		if n == 8 {
			close(enough)
		}
		return uint64(n / 2), n != 5 // each value twice, and once no answer
	}}
	w := WatchEnergy(context.Background(), slot)
	<-enough
	w.Stop()
	for i, m := range w.moves {
		if m.millijoules != uint64(i) || i > 0 && m.at <= w.moves[i-1].at {
			t.Errorf("the moves are %v", w.moves)
			break
		}
	}
}
