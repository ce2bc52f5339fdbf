package job

import "fmt"

// Disturbances has conditions of a slot during a measurement that the kernel does not cause. Samples are taken ten
// times a second.
type Disturbances struct {
	ClockSamples int `json:"at_work,omitempty"` // samples with the GPU busy and not at its power cap
	// LowClockSamples is the number of busy samples with an SM clock more than a tenth below its maximum.
	LowClockSamples int `json:"low_clock,omitempty"`
	ProcessSamples  int `json:"samples,omitempty"` // samples in which the GPU's processes could be listed
	// ForeignProcessSamples is the number of samples with a process of another program on the GPU.
	ForeignProcessSamples int `json:"others,omitempty"`
	// SlowdownCause is the cause of a slowdown during a measured process, such as "hardware slowdown".
	SlowdownCause  string  `json:"slowed,omitempty"`
	LoadAverage    float64 `json:"load,omitempty"`       // CPU: the higher of its load averages at start and end
	ProcessorCount int     `json:"processors,omitempty"` // processors of the machine, to interpret LoadAverage
}

const (
	// maxLowClockShare is the allowed share of samples with a low clock rate, because the rate is low for a moment
	// after a change of load.
	maxLowClockShare = 0.1
	// maxLoadPerProcessor is the load average per processor above which processes wait for each other.
	maxLoadPerProcessor = 1.5
)

// Reasons returns the reasons why a run counts as disturbed, or none: heat or a power brake slowed the device down
// during a measured process; its clock rate was more than a tenth below its maximum in more than a tenth of the busy
// samples, without reaching the power cap; another program used the GPU; a CPU had more than 1.5 running or waiting
// processes per processor. Unknown conditions do not count.
func (d Disturbances) Reasons() (reasons []string) {
	if d.SlowdownCause != "" {
		reasons = append(reasons, "slowed down: "+d.SlowdownCause)
	}
	if float64(d.LowClockSamples) > maxLowClockShare*float64(d.ClockSamples) {
		reasons = append(reasons, fmt.Sprintf("clock more than a tenth below its highest in %d of %d samples", d.LowClockSamples, d.ClockSamples))
	}
	if d.ForeignProcessSamples > 0 {
		reasons = append(reasons, fmt.Sprintf("another process on the device in %d of %d samples", d.ForeignProcessSamples, d.ProcessSamples))
	}
	if d.ProcessorCount > 0 && d.LoadAverage > maxLoadPerProcessor*float64(d.ProcessorCount) {
		reasons = append(reasons, fmt.Sprintf("load average of %.1f on %d processors", d.LoadAverage, d.ProcessorCount))
	}
	return reasons
}
