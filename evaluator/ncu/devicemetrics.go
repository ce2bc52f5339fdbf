package ncu

import "strings"

// apiDeviceField is one field of the evaluation API's device metrics: its category and name, and the raw metrics of
// which the first measured one is used.
type apiDeviceField struct {
	category, name string
	metrics        []string
}

const (
	pctOfElapsedSuffix = ".avg.pct_of_peak_sustained_elapsed"
	pctOfActiveSuffix  = ".avg.pct_of_peak_sustained_active"
	l1SharedMetric     = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
	l2SectorsPrefix    = "memory_l2_theoretical_sectors_global"
)

// deviceFields lists the API's fields that equal one raw metric in base units.
func deviceFields() []apiDeviceField {
	var out []apiDeviceField
	add := func(category string, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, apiDeviceField{category, pairs[i], strings.Fields(pairs[i+1])})
		}
	}
	addWholeDeviceMetrics(add)
	addHardwareUnitMetrics(add)
	return out
}

// addWholeDeviceMetrics calls add with the API's fields for the whole device and launch: for each category, pairs of a
// field and the names of its metrics.
func addWholeDeviceMetrics(add func(category string, pairs ...string)) {
	add("speed_of_light",
		"compute_memory_throughput_pct", "gpu__compute_memory_throughput"+pctOfElapsedSuffix,
		"compute_throughput_pct", "gpu__compute_memory_throughput"+pctOfElapsedSuffix+" sm__throughput"+pctOfElapsedSuffix,
		"sm_throughput_pct", "sm__throughput"+pctOfElapsedSuffix,
		"gpu_dram_throughput_pct", "gpu__dram_throughput"+pctOfElapsedSuffix,
		"memory_throughput_pct", "gpu__dram_throughput"+pctOfElapsedSuffix+" dram__throughput"+pctOfElapsedSuffix,
		"dram_throughput_pct", "dram__throughput"+pctOfElapsedSuffix+" gpu__dram_throughput"+pctOfElapsedSuffix)
	add("detailed_metrics",
		"l1_hit_rate_pct", "l1tex__t_sector_hit_rate.pct",
		"l2_hit_rate_pct", "lts__t_sector_hit_rate.pct",
		"warp_occupancy_pct", "sm__warps_active"+pctOfActiveSuffix,
		"sm_active_cycles_pct", "sm__cycles_active"+pctOfElapsedSuffix,
		"instructions_per_cycle", "sm__inst_executed.avg.per_cycle_active",
		"waves_per_sm", "launch__waves_per_multiprocessor")
	add("memory_metrics",
		"dram_active_cycles_pct", "dram__cycles_active"+pctOfElapsedSuffix,
		"l1_writeback_active_pct", "l1tex__lsu_writeback_active"+pctOfElapsedSuffix,
		"l1_read_sectors_pct", "l1tex__m_xbar2l1tex_read_sectors"+pctOfElapsedSuffix,
		"l2_throughput_pct", "lts__throughput"+pctOfElapsedSuffix)
	add("timing_metrics", "gpc_cycles_elapsed_max", "gpc__cycles_elapsed.max")
}

// addHardwareUnitMetrics calls add with the API's fields for single hardware units: pipes, schedulers, limits, and
// kinds of memory access.
func addHardwareUnitMetrics(add func(category string, pairs ...string)) {
	for _, pipe := range []string{"fma", "fp64", "alu", "xu"} {
		add("compute_metrics", pipe+"_pipe_utilization_pct", "sm__inst_executed_pipe_"+pipe+pctOfActiveSuffix)
	}
	add("compute_metrics",
		"tensor_pipe_utilization_pct", "sm__inst_executed_pipe_tensor_op_hmma"+pctOfActiveSuffix,
		"instructions_per_cycle", "sm__inst_executed.avg.per_cycle_active",
		"registers_per_thread", "launch__registers_per_thread")
	for _, limit := range []string{"blocks", "registers", "shared_mem", "warps"} {
		add("compute_metrics", "occupancy_limit_"+limit, "launch__occupancy_limit_"+limit)
		add("occupancy_metrics", "occupancy_limit_"+limit, "launch__occupancy_limit_"+limit)
	}
	for _, pipe := range []string{"fma", "alu", "tensor", "shared", "fp64"} {
		add("pipeline_metrics", pipe+"_pipe_active_pct", "sm__pipe_"+pipe+"_cycles_active"+pctOfElapsedSuffix)
	}
	add("pipeline_metrics", "sm_issue_active_pct", "sm__issue_active"+pctOfElapsedSuffix)
	add("occupancy_metrics",
		"waves_per_sm", "launch__waves_per_multiprocessor",
		"block_size", "launch__block_size",
		"grid_size", "launch__grid_size",
		"shared_mem_per_block", "launch__shared_mem_per_block")
	for _, stall := range []string{"long_scoreboard", "short_scoreboard", "barrier", "not_selected"} {
		add("stall_metrics", "stall_"+stall+"_pct", "smsp__warp_issue_stalled_"+stall+"_per_warp_active.pct")
	}
	add("scheduler_metrics",
		"warps_eligible_per_cycle", "smsp__warps_eligible.avg.per_cycle_active",
		"inst_issued_per_cycle", "smsp__inst_issued.avg.per_cycle_active",
		"issue_active_pct", "smsp__issue_active"+pctOfActiveSuffix)
	add("access_pattern_metrics",
		l2SectorsPrefix[len("memory_"):], l2SectorsPrefix,
		l2SectorsPrefix[len("memory_"):]+"_ideal", l2SectorsPrefix+"_ideal",
		"shared_bank_conflicts_load_sum", l1SharedMetric+"ld.sum",
		"shared_bank_conflicts_store_sum", l1SharedMetric+"st.sum")
}

// DeviceMetrics returns a kernel's metrics by the categories and names of the evaluation API, without fields that were
// not measured.
func DeviceMetrics(k *Kernel) map[string]map[string]any {
	out := map[string]map[string]any{}
	set := func(category, name string, v any) {
		if out[category] == nil {
			out[category] = map[string]any{}
		}
		out[category][name] = v
	}
	for _, f := range deviceFields() {
		for _, metric := range f.metrics {
			if v, ok := k.valueInBaseUnit(metric); ok {
				set(f.category, f.name, v)
				break
			}
		}
	}
	k.setActiveShare(set)
	k.setBandwidthFields(set)
	k.setMemoryAccessFields(set)
	k.setRooflineFields(set)
	k.setTimingFields(set)
	return out
}

type deviceFieldSetter func(category, name string, v any)

// setActiveShare computes a share for which current versions of ncu report only cycles.
func (k *Kernel) setActiveShare(set deviceFieldSetter) {
	if _, measured := k.valueInBaseUnit("sm__cycles_active" + pctOfElapsedSuffix); measured {
		return
	}
	active, ok := k.valueInBaseUnit("sm__cycles_active.avg")
	if elapsed, both := k.valueInBaseUnit("sm__cycles_elapsed.avg"); ok && both && elapsed > 0 {
		set("detailed_metrics", "sm_active_cycles_pct", 100*active/elapsed)
	}
}

// setBandwidthFields sets the bandwidths, divided by 1024³ although their names contain gb, because API clients expect
// this.
func (k *Kernel) setBandwidthFields(set deviceFieldSetter) {
	for name, metric := range map[string]string{
		"dram_avg_bandwidth_gb_s":   "dram__bytes.avg.per_second",
		"dram_total_bandwidth_gb_s": "dram__bytes.sum.per_second",
	} {
		if v, ok := k.valueInBaseUnit(metric); ok {
			set("memory_metrics", name, v/(1<<30))
		}
	}
}

func (k *Kernel) setMemoryAccessFields(set deviceFieldSetter) {
	const category = "access_pattern_metrics"
	for name, op := range map[string]string{"l1_load_sectors_per_req": "ld", "l1_store_sectors_per_req": "st"} {
		sectors, ok := k.valueInBaseUnit("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum")
		requests, both := k.valueInBaseUnit("l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum")
		if ok && both && requests > 0 {
			set(category, name, sectors/requests)
		}
	}
	all, ok := k.valueInBaseUnit(l2SectorsPrefix)
	ideal, both := k.valueInBaseUnit(l2SectorsPrefix + "_ideal")
	excess, direct := k.valueInBaseUnit("derived__" + l2SectorsPrefix + "_excessive")
	if !direct && ok && both {
		excess, direct = max(all-ideal, 0), true
	}
	if direct {
		set(category, "l2_theoretical_sectors_global_excessive", excess)
		if ok && all > 0 {
			set(category, "l2_excess_frac", excess/all)
		}
	}
}

// setRooflineFields sets the transferred bytes. Numbers of operations need counters that current versions of ncu do not
// have, and are absent without them.
func (k *Kernel) setRooflineFields(set deviceFieldSetter) {
	const category = "roofline_metrics"
	ns, timed := k.Duration()
	bytes, ok := k.valueInBaseUnit("dram__bytes.sum")
	if rate, measured := k.valueInBaseUnit("dram__bytes.sum.per_second"); !ok && measured && timed {
		bytes, ok = rate*ns/1e9, true
	}
	if ok {
		set(category, "dram_bytes_sum", bytes)
	}
	flops, counted := 0.0, false
	for _, kind := range []string{"sp", "hp", "dp", "tensor"} {
		if v, measured := k.valueInBaseUnit("flop_count_" + kind); measured {
			flops, counted = flops+v, true
		}
	}
	if !counted {
		return
	}
	set(category, "flop_count_total", flops)
	if ok && bytes > 0 {
		set(category, "arithmetic_intensity", flops/bytes)
	}
	if timed && ns > 0 {
		set(category, "gflops", flops/ns)
	}
}

func (k *Kernel) setTimingFields(set deviceFieldSetter) {
	const category = "timing_metrics"
	if ns, ok := k.Duration(); ok {
		set(category, "gpu_time_duration_sum", ns)
		set(category, "gpu_time_duration_unit", "ns")
		set(category, "gpu_time_duration_seconds", ns/1e9)
	}
	if m := k.Metric("gpc__cycles_elapsed.max"); m.Measured {
		set(category, "gpc_cycles_elapsed_unit", m.UnitName)
	}
}
