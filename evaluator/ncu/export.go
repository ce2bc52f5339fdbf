package ncu

import "strconv"

// DerivedViews has the derived views of one kernel for the details page and its JSON.
type DerivedViews struct {
	SpeedOfLight   []Fact         `json:"speed_of_light"`
	Roofline       Roofline       `json:"roofline"`
	Memory         MemoryPath     `json:"memory"`
	Occupancy      Occupancy      `json:"occupancy"`
	Stalls         []Stall        `json:"stalls"`
	Scheduler      []Fact         `json:"scheduler"`
	InstructionMix InstructionMix `json:"mix"`
	Launch         []Fact         `json:"launch"`
	Rules          []Rule         `json:"rules"`
}

// ViewsOf returns every derived view of a kernel.
func ViewsOf(k *Kernel) DerivedViews {
	return DerivedViews{
		SpeedOfLight: SpeedOfLight(k), Roofline: RooflineOf(k), Memory: MemoryPathOf(k),
		Occupancy: OccupancyOf(k), Stalls: StallReasons(k), Scheduler: SchedulerFacts(k), InstructionMix: InstructionMixOf(k),
		Launch: LaunchFacts(k), Rules: SortedRules(k),
	}
}

// MetricTable returns all raw metrics of all kernels with a header row. The columns are kernel number, kernel name,
// metric, unit, value (empty if not measured), and ncu's text.
func (r *Report) MetricTable() [][]string {
	rows := [][]string{{"kernel", "name", "metric", "unit", "value", "text"}}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		for _, name := range k.MetricNames() {
			m, value := k.Metric(name), ""
			if m.Measured {
				value = strconv.FormatFloat(m.Value, 'f', -1, 64)
			}
			rows = append(rows, []string{strconv.Itoa(k.ID), k.Name, name, m.UnitName, value, m.Text})
		}
	}
	return rows
}
