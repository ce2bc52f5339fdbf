package device

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"warpboard/evaluator/job"
)

// watchInterval is the interval of samples: short enough to observe throttling within one benchmark case, and long
// enough not to slow it down.
const watchInterval = 100 * time.Millisecond

// Watcher samples the conditions of a slot while a run is timed on it.
type Watcher struct {
	slot             Slot
	cancel           context.CancelFunc
	samplingDone     chan struct{} // closed at the end; until then only sampling uses the fields below
	valueSummaries   []*valueSummary
	throttleReasons  uint64
	loadAtStart      string   // load average at the start
	loadAtEnd        string   // load average at the end
	busyClockRates   []uint32 // SM clocks while busy and not at the power cap
	samples          int
	foreignProcesses foreignProcessCounter
}

// StartWatcher starts sampling the clock rates, temperature, power, and throttle reasons of a GPU. The caller must call
// Stop, even if ctx has ended.
func StartWatcher(ctx context.Context, slot Slot) *Watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watcher{slot: slot, cancel: cancel, samplingDone: make(chan struct{}), loadAtStart: loadAverage()}
	if slot.nvmlDevice == nil {
		close(w.samplingDone)
		return w
	}
	w.valueSummaries = []*valueSummary{
		{name: "sm_clock", unitName: "MHz", divisor: 1, readValue: func() (uint32, nvml.Return) { return slot.nvmlDevice.GetClockInfo(nvml.CLOCK_SM) }},
		{name: "memory_clock", unitName: "MHz", divisor: 1, readValue: func() (uint32, nvml.Return) { return slot.nvmlDevice.GetClockInfo(nvml.CLOCK_MEM) }},
		{name: "temperature", unitName: "°C", divisor: 1, readValue: func() (uint32, nvml.Return) { return slot.nvmlDevice.GetTemperature(nvml.TEMPERATURE_GPU) }},
		{name: "power", unitName: "W", divisor: 1000, readValue: slot.nvmlDevice.GetPowerUsage},
	}
	w.foreignProcesses = newForeignProcessCounter(slot)
	w.sample()
	go w.sampleUntilStopped(ctx)
	return w
}

func (w *Watcher) sampleUntilStopped(ctx context.Context) {
	defer close(w.samplingDone)
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

// Stop takes a last sample and returns the conditions. For a GPU these are "sm_clock", "memory_clock", "temperature",
// and "power", each as a range with the first and last value ("1200–1980 MHz, 1980 at the start, 1755 at the end"),
// "throttle_reasons", and "other_processes". Every slot has "load_average", at the start and the end. Values that a
// device does not report are missing.
func (w *Watcher) Stop() map[string]string {
	w.cancel()
	<-w.samplingDone
	w.loadAtEnd = loadAverage()
	seen := map[string]string{"load_average": w.loadAtStart + " at the start, " + w.loadAtEnd + " at the end"}
	if w.slot.nvmlDevice == nil {
		return seen
	}
	w.sample()
	for _, s := range w.valueSummaries {
		if s.hasValue {
			seen[s.name] = s.String()
		}
	}
	seen["throttle_reasons"] = throttleReasonText(w.throttleReasons)
	if w.foreignProcesses.samples > 0 {
		seen["other_processes"] = w.foreignProcesses.String()
	}
	return seen
}

// StopAndStore stops the watcher and stores the conditions and disturbances in m.
func (w *Watcher) StopAndStore(m *job.Machine) {
	m.GPUConditions = w.Stop()
	d := w.disturbances()
	m.Disturbances = &d
}

// disturbances returns the disturbances that a kernel cannot cause. Call it after Stop.
func (w *Watcher) disturbances() job.Disturbances {
	d := job.Disturbances{
		SlowdownCause:         w.slowdownCause(),
		ClockSamples:          len(w.busyClockRates),
		ProcessSamples:        w.foreignProcesses.samples,
		ForeignProcessSamples: w.foreignProcesses.samplesWithForeign,
	}
	if w.slot.nvmlDevice == nil {
		d.ProcessorCount = runtime.NumCPU()
		for _, text := range []string{w.loadAtStart, w.loadAtEnd} {
			if load, err := strconv.ParseFloat(text, 64); err == nil {
				d.LoadAverage = max(d.LoadAverage, load)
			}
		}
		return d
	}
	highest := slices.Max(append(w.busyClockRates, 0))
	for _, clock := range w.busyClockRates {
		if float64(clock) < 0.9*float64(highest) {
			d.LowClockSamples++
		}
	}
	return d
}

// SlowedByLowClock is the result of StopAndExplain if the clock rate was low without a known cause. Unlike for the
// other reasons, a kernel can cause it, by short bursts of work.
const SlowedByLowClock = "low clock"

// StopAndExplain stops the watcher and returns the reason why the GPU was slow, or "". Reasons are throttling, a
// foreign process, or a clock rate of at most three quarters of the maximum for half of the time. Reaching the power
// cap is not a reason, because large kernels always do.
func (w *Watcher) StopAndExplain() string {
	w.Stop()
	if reasons := w.slowdownCause(); reasons != "" || w.slot.nvmlDevice == nil {
		return reasons
	}
	if w.foreignProcesses.samplesWithForeign > 0 {
		return "another process on the device"
	}
	if clocks := slices.Sorted(slices.Values(w.busyClockRates)); len(clocks) > 0 && 4*clocks[len(clocks)/2] < 3*clocks[len(clocks)-1] {
		return SlowedByLowClock
	}
	return ""
}

func (w *Watcher) slowdownCause() string {
	const slowing = nvml.ClocksThrottleReasonHwSlowdown | nvml.ClocksThrottleReasonSwThermalSlowdown |
		nvml.ClocksThrottleReasonHwThermalSlowdown | nvml.ClocksThrottleReasonHwPowerBrakeSlowdown
	if w.throttleReasons&slowing == 0 {
		return ""
	}
	return throttleReasonText(w.throttleReasons & slowing)
}

func (w *Watcher) sample() {
	for _, s := range w.valueSummaries {
		if value, ret := s.readValue(); ret == nvml.SUCCESS {
			s.addValue(value)
		}
	}
	reasons := readThrottleReasons(w.slot)
	w.throttleReasons |= reasons
	if clock := w.valueSummaries[0]; clock.hasValue && reasons&(nvml.ClocksThrottleReasonGpuIdle|nvml.ClocksThrottleReasonSwPowerCap) == 0 {
		w.busyClockRates = append(w.busyClockRates, clock.lastValue)
	}
	if w.samples%foreignProcessInterval == 0 {
		w.foreignProcesses.sample()
	}
	w.samples++
}

// valueSummary has the first, smallest, largest, and last value of a sampled quantity.
type valueSummary struct {
	name, unitName                  string
	divisor                         uint32 // divides NVML's value to get a value in unitName
	readValue                       func() (uint32, nvml.Return)
	firstValue, min, max, lastValue uint32
	hasValue                        bool
}

func (s *valueSummary) addValue(value uint32) {
	value /= s.divisor
	if !s.hasValue {
		s.firstValue, s.min, s.max, s.hasValue = value, value, value, true
	}
	s.min, s.max, s.lastValue = min(s.min, value), max(s.max, value), value
}

func (s *valueSummary) String() string {
	if s.min == s.max {
		return formatNumber(s.min) + " " + s.unitName
	}
	return formatNumber(s.min) + "–" + formatNumber(s.max) + " " + s.unitName + ", " +
		formatNumber(s.firstValue) + " at the start, " + formatNumber(s.lastValue) + " at the end"
}

func formatNumber(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// loadAverage returns the machine's load average over one minute.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	average, _, _ := strings.Cut(string(b), " ")
	return average
}
