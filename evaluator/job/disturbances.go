package job

import "fmt"

// Disturbances are conditions of a slot, while a score was measured on it, that a kernel does not cause. Samples are taken
// ten times a second.
type Disturbances struct {
	AtWork     int     `json:"at_work,omitempty"`    // samples of a GPU that was busy, and was not held at its power cap
	LowClock   int     `json:"low_clock,omitempty"`  // of these, with an SM clock more than a tenth below the highest
	Samples    int     `json:"samples,omitempty"`    // in which the unit's processes could be read
	Others     int     `json:"others,omitempty"`     // of these, with a process on the GPU that is not the worker's
	Slowed     string  `json:"slowed,omitempty"`     // what slowed the unit down in a process that counts: "hardware slowdown"
	Load       float64 `json:"load,omitempty"`       // of a CPU: the higher of its load averages at the start and the end
	Processors int     `json:"processors,omitempty"` // of the machine, for Load
}

const (
	// lowShare is the share of samples in which a clock may be low: after a change of load a clock is low for a moment.
	lowShare = 0.1
	// overload is the load of each processor above which processes wait for each other.
	overload = 1.5
)

// Bad is the rule by which a run was measured under bad conditions: it names them, and is empty where they were good. A
// unit was slowed down for heat or by a power brake while a process was measured that counts; its clock was more than a
// tenth below its highest in more than a tenth of the samples at work, without being at its power cap; another program used
// the GPU; or a CPU had more than 1.5 processes waiting or running for each processor. What is not known is not bad.
func (d Disturbances) Bad() (reasons []string) {
	if d.Slowed != "" {
		reasons = append(reasons, "slowed down: "+d.Slowed)
	}
	if float64(d.LowClock) > lowShare*float64(d.AtWork) {
		reasons = append(reasons, fmt.Sprintf("clock more than a tenth below its highest in %d of %d samples", d.LowClock, d.AtWork))
	}
	if d.Others > 0 {
		reasons = append(reasons, fmt.Sprintf("another process on the device in %d of %d samples", d.Others, d.Samples))
	}
	if d.Processors > 0 && d.Load > overload*float64(d.Processors) {
		reasons = append(reasons, fmt.Sprintf("load average of %.1f on %d processors", d.Load, d.Processors))
	}
	return reasons
}
