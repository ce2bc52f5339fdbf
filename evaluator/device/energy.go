package device

import (
	"context"
	"math"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"golang.org/x/sys/unix"
)

// EnergyCounter reads the energy that a GPU has drawn so far, in millijoules; false when it does not answer.
type EnergyCounter func() (millijoules uint64, ok bool)

// energyCounter is the GPU's, which older ones do not have. It is the whole board's, and moves every 20 to 100 ms.
func energyCounter(gpu nvml.Device) EnergyCounter {
	return func() (uint64, bool) {
		value, ret := gpu.GetTotalEnergyConsumption()
		return value, ret == nvml.SUCCESS
	}
}

const (
	energyInterval = 5 * time.Millisecond // how often the counter is read, well below how often it moves
	energySettle   = 100 * time.Millisecond
	energyLeast    = 300 * time.Millisecond // between the first and the last move that are used
)

// EnergyWatcher reads a slot's counter while calls are made in a row.
type EnergyWatcher struct {
	cancel context.CancelFunc
	done   chan struct{} // the reading has ended; moves are the caller's
	moves  []move
}

// move is when the counter had a new value.
type move struct {
	at          int64 // of the system's monotonic clock, in nanoseconds: the judge reads the same
	millijoules uint64
}

// WatchEnergy begins to read the slot's counter, which must not be nil. The caller must Stop it.
func WatchEnergy(ctx context.Context, slot Slot) *EnergyWatcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &EnergyWatcher{cancel: cancel, done: make(chan struct{})}
	go w.run(ctx, slot.Energy)
	return w
}

func (w *EnergyWatcher) run(ctx context.Context, read EnergyCounter) {
	defer close(w.done)
	tick := time.NewTicker(energyInterval)
	defer tick.Stop()
	for {
		if value, ok := read(); ok && (len(w.moves) == 0 || w.moves[len(w.moves)-1].millijoules != value) {
			w.moves = append(w.moves, move{monotonic(), value})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Stop ends the reading.
func (w *EnergyWatcher) Stop() {
	w.cancel()
	<-w.done
}

// Watts is what the unit drew on average between two times of the system's monotonic clock: from one move of the counter
// to another, both within them, the first when the power has had time to settle. False where the counter did not move for long enough. The
// watcher must have been stopped.
func (w *EnergyWatcher) Watts(begin, end int64) (watts float64, ok bool) {
	var within []move
	for i, m := range w.moves {
		if i > 0 && m.at >= begin+int64(energySettle) && m.at <= end { // when the first value came is not known
			within = append(within, m)
		}
	}
	if len(within) < 2 {
		return 0, false
	}
	first, last := within[0], within[len(within)-1]
	took := last.at - first.at
	watts = (float64(last.millijoules) - float64(first.millijoules)) * 1e-3 / (float64(took) * 1e-9)
	return watts, took >= int64(energyLeast) && watts > 0 && !math.IsInf(watts, 0)
}

// monotonic is the system's monotonic clock, which all processes share.
func monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0 // it is there on every Linux
	}
	return now.Nano()
}
