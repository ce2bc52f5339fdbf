package device

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// watchInterval is short enough to see a GPU throttle within one benchmark case, and long enough
// to cost it nothing.
const watchInterval = 100 * time.Millisecond

// Watcher samples a slot while a run is timed on it.
type Watcher struct {
	slot     Slot
	cancel   context.CancelFunc
	done     chan struct{} // the sampling has ended; the fields below are the caller's
	series   []*series
	throttle uint64
	load     string // of the machine, at the start
}

// Watch starts to sample the clocks, temperature, power and throttle reasons of a GPU. The caller
// must Stop it; the sampling, not the Watcher, also ends with ctx.
func Watch(ctx context.Context, slot Slot) *Watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watcher{slot: slot, cancel: cancel, done: make(chan struct{}), load: loadAverage()}
	if slot.gpu == nil {
		close(w.done)
		return w
	}
	w.series = []*series{
		{name: "sm_clock", unit: "MHz", scale: 1, read: func() (uint32, nvml.Return) { return slot.gpu.GetClockInfo(nvml.CLOCK_SM) }},
		{name: "memory_clock", unit: "MHz", scale: 1, read: func() (uint32, nvml.Return) { return slot.gpu.GetClockInfo(nvml.CLOCK_MEM) }},
		{name: "temperature", unit: "°C", scale: 1, read: func() (uint32, nvml.Return) { return slot.gpu.GetTemperature(nvml.TEMPERATURE_GPU) }},
		{name: "power", unit: "W", scale: 1000, read: slot.gpu.GetPowerUsage},
	}
	w.sample()
	go w.run(ctx)
	return w
}

func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.sample()
		}
	}
}

// Stop takes a last sample and says what was seen. Of a GPU: "sm_clock", "memory_clock",
// "temperature" and "power" as a range with start and end, as in "1200–1980 MHz, 1980 at the start,
// 1755 at the end", and "throttle_reasons". Of every slot: "load_average" of its machine, at the
// start and the end. What a unit cannot tell is left out.
func (w *Watcher) Stop() map[string]string {
	w.cancel()
	<-w.done
	seen := map[string]string{"load_average": w.load + " at the start, " + loadAverage() + " at the end"}
	if w.slot.gpu == nil {
		return seen
	}
	w.sample()
	for _, s := range w.series {
		if s.seen {
			seen[s.name] = s.String()
		}
	}
	seen["throttle_reasons"] = throttleReasons(w.throttle)
	return seen
}

// Slowed stops the watcher and names what slowed a GPU down that no work of a kernel asks for; empty if nothing did. A power cap
// is not meant: large kernels reach it each time.
func (w *Watcher) Slowed() string {
	w.Stop()
	const slowing = nvml.ClocksThrottleReasonHwSlowdown | nvml.ClocksThrottleReasonSwThermalSlowdown |
		nvml.ClocksThrottleReasonHwThermalSlowdown | nvml.ClocksThrottleReasonHwPowerBrakeSlowdown
	if w.throttle&slowing == 0 {
		return ""
	}
	return throttleReasons(w.throttle & slowing)
}

func (w *Watcher) sample() {
	for _, s := range w.series {
		if value, ret := s.read(); ret == nvml.SUCCESS {
			s.add(value)
		}
	}
	w.throttle |= readThrottle(w.slot)
}

// series is the first, least, greatest and last value of one quantity.
type series struct {
	name, unit              string
	scale                   uint32 // of NVML's unit in the sample's
	read                    func() (uint32, nvml.Return)
	first, min, max, latest uint32
	seen                    bool
}

func (s *series) add(value uint32) {
	value /= s.scale
	if !s.seen {
		s.first, s.min, s.max, s.seen = value, value, value, true
	}
	s.min, s.max, s.latest = min(s.min, value), max(s.max, value), value
}

func (s *series) String() string {
	if s.min == s.max {
		return number(s.min) + " " + s.unit
	}
	return number(s.min) + "–" + number(s.max) + " " + s.unit + ", " +
		number(s.first) + " at the start, " + number(s.latest) + " at the end"
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// loadAverage is the machine's load over the last minute.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	average, _, _ := strings.Cut(string(b), " ")
	return average
}
