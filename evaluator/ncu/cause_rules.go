package ncu

import "math"

// causeRule describes a counter that can explain a time difference.
type causeRule struct {
	key, label, counters string
	moreIsFaster         bool // a larger value means less time
	metric               func(*Kernel) Metric
	utilization          func(slow *Kernel) float64 // returns Cause.Utilization
}

const (
	executedMetric         = "smsp__inst_executed.sum"
	localSectorsMetric     = "l1tex__t_sectors_pipe_lsu_mem_local_op_"
	sharedWavefrontsMetric = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
)

// Keys of the rules. Those of warp states are "stall: " followed by the state.
const (
	CauseDRAM          = "dram"
	CauseL2            = "l2"
	CauseGlobalSectors = "sectors"
	CauseGlobalLoads   = "loads"
	CauseSharedMemory  = "shared"
	CauseSpills        = "spills"
	CauseInstructions  = "instructions"
	CauseTensorCores   = "tensor"
	CauseWarps         = "warps"
	CauseDeviceFill    = "waves"
	CauseClock         = "clock"
)

func causeRules() []causeRule {
	return append(memoryTrafficRules(),
		causeRule{key: CauseInstructions, label: "Warp instructions executed", counters: executedMetric, metric: counterMetric(executedMetric),
			utilization: metricFraction("smsp__issue_active" + pctOfActiveSuffix)},
		causeRule{key: CauseTensorCores, label: "Tensor cores busy", counters: "sm__pipe_tensor_cycles_active" + pctOfActiveSuffix, moreIsFaster: true,
			metric: tensorPipeUtilization, utilization: weightWithoutTensorCores},
		causeRule{key: CauseWarps, label: "Warps in flight per SM", counters: "sm__warps_active.avg.per_cycle_active", moreIsFaster: true,
			metric: counterMetric("sm__warps_active.avg.per_cycle_active"), utilization: distanceFromPeaks},
		causeRule{key: CauseDeviceFill, label: "Part of the device that the blocks fill", counters: "launch__waves_per_multiprocessor", moreIsFaster: true,
			metric: blockCapacityShare, utilization: func(*Kernel) float64 { return 1 }},
		causeRule{key: CauseClock, label: "Clock of the SMs under the profiler", counters: "sm__cycles_elapsed.avg.per_second", moreIsFaster: true,
			metric: counterMetric("sm__cycles_elapsed.avg.per_second"), utilization: func(*Kernel) float64 { return 1 }},
	)
}

// memoryTrafficRules returns the rules for traffic between memory levels, weighted by the utilization of the level.
func memoryTrafficRules() []causeRule {
	const l2, l1 = "lts__throughput" + pctOfElapsedSuffix, "l1tex__throughput" + pctOfActiveSuffix
	return []causeRule{
		{key: CauseDRAM, label: "Bytes from and to DRAM", counters: "dram__bytes_read.sum + dram__bytes_write.sum",
			metric: sumOfCounters("dram__bytes_read.sum", "dram__bytes_write.sum"), utilization: metricFraction("gpu__dram_throughput" + pctOfElapsedSuffix)},
		{key: CauseL2, label: "Bytes from L2 to the SMs", counters: "l1tex__m_xbar2l1tex_read_bytes.sum",
			metric: counterMetric("l1tex__m_xbar2l1tex_read_bytes.sum"), utilization: metricFraction(l2)},
		{key: CauseGlobalSectors, label: "Global-memory sectors accessed", counters: l2SectorsPrefix, metric: counterMetric(l2SectorsPrefix), utilization: metricFraction(l2)},
		{key: CauseGlobalLoads, label: "Load instructions on global memory", counters: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
			metric: counterMetric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), utilization: metricFraction(l1)},
		{key: CauseSharedMemory, label: "Shared-memory wavefronts", counters: sharedWavefrontsMetric,
			metric: counterMetric(sharedWavefrontsMetric), utilization: metricFraction(sharedWavefrontsMetric + ".pct_of_peak_sustained_elapsed")},
		{key: CauseSpills, label: "Local-memory sectors: register spills and indexed arrays", counters: localSectorsMetric + "ld.sum + " + localSectorsMetric + "st.sum",
			metric: sumOfCounters(localSectorsMetric+"ld.sum", localSectorsMetric+"st.sum"), utilization: metricFraction(l1)},
	}
}

func counterMetric(name string) func(*Kernel) Metric {
	return func(k *Kernel) Metric { return k.Metric(name) }
}

// sumOfCounters returns a function that adds counters with the same unit. The sum is not measured if one of them is
// not.
func sumOfCounters(names ...string) func(*Kernel) Metric {
	return func(k *Kernel) Metric {
		m := Metric{UnitName: k.Metric(names[0]).BaseUnit(), Measured: true}
		for _, name := range names {
			v, ok := k.valueInBaseUnit(name)
			m.Value, m.Measured = m.Value+v, m.Measured && ok
		}
		return m
	}
}

func metricFraction(name string) func(*Kernel) float64 {
	return func(k *Kernel) float64 {
		v, _ := k.valueInBaseUnit(name)
		return min(max(v/100, 0), 1)
	}
}

func tensorPipeUtilization(k *Kernel) Metric {
	for _, p := range pipeUtilizations(k) {
		if p.Label == "Tensor" {
			return p.Value
		}
	}
	return Metric{}
}

// weightWithoutTensorCores returns 1 for a kernel that does not use the tensor cores, and 0 for others, because then
// other counters explain the difference.
func weightWithoutTensorCores(slow *Kernel) float64 {
	if m := tensorPipeUtilization(slow); m.Measured && m.Value < 1 {
		return 1
	}
	return 0
}

// distanceFromPeaks returns 1 minus the higher of a kernel's utilizations of compute and memory, which are from 0 to 1,
// or 0 if they are not measured. If it is large, the kernel waits, and more warps can hide more latency.
func distanceFromPeaks(slow *Kernel) float64 {
	sol := SpeedOfLight(slow)
	if !sol[0].Value.Measured || !sol[1].Value.Measured {
		return 0
	}
	return 1 - min(max(sol[0].Value.Value, sol[1].Value.Value, 0)/100, 1)
}

// blockCapacityShare returns the number of blocks of a launch relative to the number that the device can hold at once,
// in percent.
func blockCapacityShare(k *Kernel) Metric {
	m := k.Metric("launch__waves_per_multiprocessor")
	m.UnitName, m.Text, m.Value = "%", "", 100*math.Min(m.Value, 1)
	return m
}
