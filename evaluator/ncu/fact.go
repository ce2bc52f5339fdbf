package ncu

import (
	"math"
	"slices"
)

// Fact is one value of a chart, with its origin.
type Fact struct {
	Label string `json:"label"`
	// Origin is the name of the raw metric, or the formula of a computed value.
	Origin string `json:"from"`
	Value  Metric `json:"value"`
}

// labelledMetric has a label and the name of a raw metric.
type labelledMetric struct{ label, metric string }

// metricFacts returns the named metrics as facts; absent ones are not measured.
func (k *Kernel) metricFacts(list []labelledMetric) []Fact {
	out := make([]Fact, len(list))
	for i, n := range list {
		out[i] = k.metricFact(n.label, n.metric)
	}
	return out
}

func (k *Kernel) metricFact(label, metric string) Fact {
	return Fact{Label: label, Origin: metric, Value: k.Metric(metric)}
}

// newComputedFact returns a fact that this package computes. It is not measured unless ok is true and v is finite.
func newComputedFact(label, from, unitName string, v float64, ok bool) Fact {
	m := Metric{UnitName: unitName}
	if ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
		m.Value, m.Measured = v, true
	}
	return Fact{Label: label, Origin: from, Value: m}
}

// valueInBaseUnit returns the value of a metric in base units.
func (k *Kernel) valueInBaseUnit(name string) (float64, bool) { return k.Metric(name).BaseValue() }

// SpeedOfLight returns the utilization of each hardware unit, in percent of its peak.
func SpeedOfLight(k *Kernel) []Fact {
	return k.metricFacts([]labelledMetric{
		{"Compute (SM)", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
		{"Memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
		{"L1/TEX cache", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
		{"L2 cache", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
		{"DRAM", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
	})
}

// SchedulerFacts returns the utilization of the warp schedulers, per scheduler and cycle.
func SchedulerFacts(k *Kernel) []Fact {
	return k.metricFacts([]labelledMetric{
		{"Warps that fit (theoretical)", "smsp__maximum_warps_avg_per_active_cycle"},
		{"Active warps", "smsp__warps_active.avg.per_cycle_active"},
		{"Eligible warps", "smsp__warps_eligible.avg.per_cycle_active"},
		{"Issued warps", "smsp__issue_active.avg.per_cycle_active"},
		{"Cycles with an issue", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
		{"Cycles with nothing eligible", "smsp__issue_inst0.avg.pct_of_peak_sustained_active"},
		{"Instructions per cycle (SM)", "sm__inst_executed.avg.per_cycle_active"},
		{"Threads per warp instruction", "smsp__thread_inst_executed_per_inst_executed.ratio"},
		{"… not predicated off", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"},
	})
}

// LaunchFacts returns the launch parameters.
func LaunchFacts(k *Kernel) []Fact {
	return k.metricFacts([]labelledMetric{
		{"Blocks", "launch__grid_size"},
		{"Threads per block", "launch__block_size"},
		{"Threads", "launch__thread_count"},
		{"Waves per SM", "launch__waves_per_multiprocessor"},
		{"Registers per thread", "launch__registers_per_thread"},
		{"Static shared memory", "launch__shared_mem_per_block_static"},
		{"Dynamic shared memory", "launch__shared_mem_per_block_dynamic"},
		{"Driver's shared memory", "launch__shared_mem_per_block_driver"},
		{"Shared memory configured", "launch__shared_mem_config_size"},
		{"Cluster size", "launch__cluster_size"},
		{"Stack size, bytes", "launch__stack_size"},
		{"SMs", "launch__sm_count"},
		{"Cache preference", "launch__func_cache_config"},
		{"Spilling requests", "derived__local_spilling_requests"},
		{"Passes of the profiler", "profiler__replayer_passes"},
	})
}

// Names of derived sections whose rows add up to a whole.
const (
	warpStatesSection  = "Warp States"
	memoryChartSection = "Memory Chart"
)

// setRelativeEffects sets the RelativeEffect of each row to its difference relative to the largest row of the same
// unit, so that a small part of the whole has a small effect even if it changed much.
func setRelativeEffects(rows []MetricDiff) {
	largest := map[string]float64{}
	size := func(d MetricDiff) float64 { return math.Max(d.ValueA.Value, d.ValueB.Value) }
	for _, d := range rows {
		largest[d.ValueB.BaseUnit()] = max(largest[d.ValueB.BaseUnit()], size(d))
	}
	for i, d := range rows {
		if whole := largest[d.ValueB.BaseUnit()]; d.ValueA.Measured && d.ValueB.Measured && whole > 0 {
			rows[i].RelativeEffect = math.Abs(d.ValueB.Value-d.ValueA.Value) / whole
		}
	}
}

// withDerivedSections returns a copy of the kernel with the derived views as additional sections, because the details
// page has neither warp states nor traffic between memory levels.
func (k *Kernel) withDerivedSections() *Kernel {
	all := &Kernel{Sections: slices.Clone(k.Sections)}
	add := func(section string, f Fact) {
		if f.Value.Measured {
			all.sectionByName(section).addRow(f.Label, f.Value)
		}
	}
	for _, s := range StallReasons(k) {
		add(warpStatesSection, s.Fact)
	}
	path := MemoryPathOf(k)
	for _, l := range path.Links {
		add(memoryChartSection, Fact{Label: path.LinkLabel(l), Value: toBaseUnits(l.Amount.Value)})
	}
	for _, p := range pipeUtilizations(k) {
		add("Pipe Utilization", p)
	}
	for _, w := range RooflineOf(k).ArithmeticRoofs {
		add("Roofline", w.AchievedRate)
		add("Roofline", w.Intensity)
	}
	return all
}
