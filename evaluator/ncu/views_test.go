package ncu

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warpboard/evaluator/ncu/ncutest"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestUnitsComeToOneBase(t *testing.T) {
	for _, c := range []struct {
		text, unitName, base string
		want                 float64
	}{
		{"57.70", "us", "s", 57.70e-6}, {"57.70", "usecond", "s", 57.70e-6}, {"1.5", "Kbyte", "byte", 1500},
		{"2.326292", "Tbyte/s", "byte/s", 2.326292e12}, {"3.20", "Gbyte/second", "byte/s", 3.2e9},
		{"5.962154", "sector/ns", "sector/s", 5.962154e9}, {"1.98", "Ghz", "hz", 1.98e9},
		{"1.504", "Kbyte/cycle", "byte/cycle", 1504},
		{"65.967164", "%", "%", 65.967164}, {"1,048,576", "", "", 1048576},
		{"0.18", "register/thread", "register/thread", 0.18},
	} {
		m := NewMetric(c.text, c.unitName)
		got, ok := m.BaseValue()
		if !ok || m.BaseUnit() != c.base {
			t.Errorf("%s %s: measured %v, base unit %q", c.text, c.unitName, ok, m.BaseUnit())
		}
		near(t, c.text+" "+c.unitName, got, c.want)
	}
}

func TestRooflineMatchesWhatTheKernelsDid(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	matmul := RooflineOf(&r.Kernels[1])
	w := matmul.MostUsedArithmeticRoof()
	ns, _ := r.Kernels[1].Duration()
	// 2·1024³ operations by definition of the product; the counters sample, so 1 % is allowed.
	if want := 2 * math.Pow(1024, 3) / (ns / 1e9); w.Name != "FP32" ||
		math.Abs(w.AchievedRate.Value.Value/want-1) > 0.01 {
		t.Errorf("%s does %v, want about %v", w.Name, w.AchievedRate.Value.Value, want)
	}
	if RooflineOf(&r.Kernels[2]).MostUsedArithmeticRoof() != nil {
		t.Error("the transpose does no arithmetic, yet has a dot")
	}
	tri := ParsePages(pages(t, "tri"))
	gemm := RooflineOf(&tri.Kernels[0])
	w = gemm.MostUsedArithmeticRoof()
	ns, _ = tri.Kernels[0].Duration()
	if want := 2 * math.Pow(4096, 3) / (ns / 1e9); w.Name != "Tensor BF16" ||
		math.Abs(w.AchievedRate.Value.Value/want-1) > 0.01 {
		t.Errorf("%s does %v, want about %v", w.Name, w.AchievedRate.Value.Value, want)
	}
	// The peak must be that of dense operations, not of sparse ones: the tensor pipe was 90.4 % busy.
	if share := w.AchievedRate.Value.Value / w.PeakRate.Value.Value; math.Abs(share-0.904) > 0.01 {
		t.Errorf("the product reaches %v of its roof", share)
	}
}

func TestOpcodesAddUpToTheCounters(t *testing.T) {
	for _, name := range reports {
		r := ParsePages(pages(t, name))
		for i := range r.Kernels {
			k := &r.Kernels[i]
			sum, last := 0.0, math.Inf(1)
			for _, op := range InstructionMixOf(k).Opcodes {
				sum += op.WarpInstructions
				if op.WarpInstructions > last {
					t.Errorf("%s: %s is out of order", k.ShortName, op.Name)
				}
				last = op.WarpInstructions
			}
			want, _ := k.valueInBaseUnit("sass__inst_executed_per_opcode")
			near(t, k.ShortName, sum, want)
		}
	}
}

func TestPipesTellTheirCyclesNotTheirInstructions(t *testing.T) {
	product, naive := ParsePages(pages(t, "tri")).Kernels[0], ParsePages(pages(t, "cuda4")).Kernels[1]
	find := func(k *Kernel, label string) (found Fact) {
		for _, p := range InstructionMixOf(k).Pipes {
			if p.Label == label {
				found = p
			}
		}
		return found
	}
	// Few matrix instructions keep the tensor cores busy all the time.
	if first := InstructionMixOf(&product).Pipes[0]; first.Label != "Tensor" || first.Value.Value != 94.928653 {
		t.Errorf("the busiest pipe of the matrix product is %+v", first)
	}
	for label, want := range map[string]float64{"FMA": 25.128786, "ALU": 4.246970, "LSU": 64.284393, "XU": 0} {
		if got := find(&naive, label); got.Origin == "" || got.Value.Value != want {
			t.Errorf("%s: %+v, want %v", label, got, want)
		}
	}
}

func TestStallsAreSortedAndComplete(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	stalls := StallReasons(&r.Kernels[1])
	if len(stalls) != 19 || stalls[0].Label != "LG throttle" || stalls[0].Value.Value != 14.354961 {
		t.Fatalf("%d states, first %+v", len(stalls), stalls[0])
	}
	sum := 0.0
	for _, s := range stalls {
		sum += s.Share
		if s.Explanation == "" {
			t.Errorf("%s has no explanation", s.Label)
		}
	}
	near(t, "shares", sum, 1)
}

func TestOccupancyNamesItsLimiters(t *testing.T) {
	r := ParsePages(pages(t, "tri"))
	var limits []string
	for _, l := range OccupancyOf(&r.Kernels[0]).Limiters {
		if l.IsTightest {
			limits = append(limits, l.Label)
		}
	}
	if !slices.Equal(limits, []string{"Registers", "Shared memory"}) {
		t.Errorf("limited by %v", limits)
	}
}

func TestSortedRulesAreWorstFirst(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	rules := SortedRules(&r.Kernels[1])
	if rules[0].Speedup == nil || *rules[0].Speedup != 40.8 || rules[len(rules)-1].Severity != "INF" {
		t.Errorf("first %+v, last %+v", rules[0], rules[len(rules)-1])
	}
}

func TestSharesAddUp(t *testing.T) {
	shares, sum := KernelShares(ParsePages(pages(t, "cuda4"))), 0.0
	for _, s := range shares {
		sum += s.Share
	}
	near(t, "shares", sum, 1)
	near(t, "the product's time", shares[1].NS, 416416)
}

func TestCompareSortsByEffect(t *testing.T) {
	a, b := ParsePages(pages(t, "cuda4")), ParsePages(pages(t, "tri"))
	for _, p := range CompareReports(a, a) {
		for _, s := range p.Sections {
			if s.RelativeEffect != 0 {
				t.Errorf("%s of %s differs from itself: %+v", s.Name, p.KernelA.ShortName, s.Rows[0])
			}
		}
	}
	pairs := CompareReports(a, b)
	if len(pairs) != 4 || pairs[0].KernelB == nil || pairs[3].KernelB != nil {
		t.Fatalf("%d pairs", len(pairs))
	}
	last := 1.0
	for _, s := range pairs[0].Sections {
		if s.RelativeEffect > last || s.RelativeEffect != s.Rows[0].RelativeEffect {
			t.Errorf("%s is out of order", s.Name)
		}
		last = s.RelativeEffect
	}
}

func TestCompareHasTheDerivedViews(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	rows := map[string]MetricDiff{}
	for _, s := range compareSections(&r.Kernels[0], &r.Kernels[1]) {
		for _, d := range s.Rows {
			rows[s.Name+" / "+d.Label] = d
		}
	}
	for label, want := range map[string][2]float64{
		"Warp States / Long scoreboard":                     {57.340362, 13.946578},
		"Memory Chart / Global loads: L1 / TEX → Registers": {134217728, 4294967296},
		"Pipe Utilization / LSU":                            {14.771477, 64.284393},
	} {
		if d := rows[label]; !d.IsComparable || d.ValueA.Value != want[0] || d.ValueB.Value != want[1] {
			t.Errorf("%s: %+v, want %v", label, d, want)
		}
	}
	// A state with hardly any cycles comes after those that matter, whatever its ratio.
	if tiny, great := rows["Warp States / IMC miss"],
		rows["Warp States / Long scoreboard"]; tiny.RelativeEffect >= great.RelativeEffect || great.RelativeEffect < 0.7 {
		t.Errorf("effects: %v of a tiny state, %v of the greatest", tiny.RelativeEffect, great.RelativeEffect)
	}
	if d := rows["Roofline / FP32 work"]; !d.IsComparable || d.Change <= 0 {
		t.Errorf("roofline: %+v", d)
	}
}

func TestCompareMetricsKnowsUnits(t *testing.T) {
	d := CompareMetrics("x", NewMetric("500", "ns"), NewMetric("1.00", "us"))
	if !d.IsComparable || math.Abs(d.Change-1) > 1e-12 {
		t.Errorf("500 ns to 1 us: %+v", d)
	}
	if d := CompareMetrics("x", NewMetric("40", "%"), NewMetric("55", "%")); d.Change != 15 ||
		d.RelativeEffect != 0.15 {
		t.Errorf("points: %+v", d)
	}
	if d := CompareMetrics("x", NewMetric("nan", ""), NewMetric("1", "")); d.IsComparable {
		t.Errorf("NaN compared: %+v", d)
	}
}

func TestDeviceMetricsHaveTheEvalAPIsNames(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	got := DeviceMetrics(&r.Kernels[0])
	for _, c := range []struct {
		category, name string
		want           float64
	}{
		{"speed_of_light", "compute_memory_throughput_pct", 65.967164},
		{"speed_of_light", "sm_throughput_pct", 35.614202},
		{"detailed_metrics", "l2_hit_rate_pct", 33.899538},
		{"memory_metrics", "dram_total_bandwidth_gb_s", 3.172703e12 / (1 << 30)},
		{"compute_metrics", "registers_per_thread", 16},
		{"occupancy_metrics", "shared_mem_per_block", 1024},
		{"scheduler_metrics", "warps_eligible_per_cycle", 0.222153},
		{"access_pattern_metrics", "l1_load_sectors_per_req", 4},
		{"access_pattern_metrics", "l2_theoretical_sectors_global", 6291456},
		{"timing_metrics", "gpu_time_duration_seconds", 57.696e-6},
	} {
		v, ok := got[c.category][c.name].(float64)
		if !ok {
			t.Errorf("%s.%s is absent", c.category, c.name)
			continue
		}
		near(t, c.name, v, c.want)
	}
	if got["timing_metrics"]["gpu_time_duration_unit"] != "ns" || got["roofline_metrics"]["flop_count_total"] != nil {
		t.Errorf("unit %v, flops %v", got["timing_metrics"]["gpu_time_duration_unit"],
			got["roofline_metrics"]["flop_count_total"])
	}
	if light := got["speed_of_light"]; light["dram_throughput_pct"] == nil ||
		light["dram_throughput_pct"] != light["gpu_dram_throughput_pct"] {
		t.Errorf("where dram__throughput was not measured, gpu__dram_throughput counts: %v", light)
	}
	near(t, "cycles of active SMs by all", got["detailed_metrics"]["sm_active_cycles_pct"].(float64), 96.23674799138142)
}

func TestVerdicts(t *testing.T) {
	r, tri := ParsePages(pages(t, "cuda4")), ParsePages(pages(t, "tri"))
	for want, k := range map[string]*Kernel{
		"Bound by memory":  &r.Kernels[1],
		"Bound by latency": &r.Kernels[3],
		"Bound by compute: the SMs reach 90.4 % of their peak (busiest pipe: Tensor)": &tri.Kernels[0],
	} {
		if got := BottleneckSentence(k); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", k.ShortName, got)
		}
	}
	small := r.Kernels[3]
	small.Metrics = maps.Clone(small.Metrics)
	small.Metrics["launch__waves_per_multiprocessor"], small.Metrics["launch__grid_size"] = NewMetric("0.25", ""),
		NewMetric("33", "")
	if got := BottleneckSentence(&small); !strings.Contains(got,
		"Its 33 blocks are less than the device holds at once (0.25 waves)") {
		t.Errorf("a small grid: %q", got)
	}
	if got := BottleneckSentence(&Kernel{}); got != "" {
		t.Errorf("no numbers: %q", got)
	}
}

func TestTheTableHasEveryMetric(t *testing.T) {
	r := ParsePages(pages(t, "tri"))
	rows := r.MetricTable()
	if len(rows) != 1+2*2227 {
		t.Fatalf("%d rows", len(rows))
	}
	page := ncutest.PlainCSV(t, fixture(t, "tri", "raw"))
	at := columnIndexes(page[0])
	for _, row := range rows[1:] {
		id, _ := strconv.Atoi(row[0])
		cell, value := page[2+id][at[row[2]]], ""
		if v, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64); err == nil && !math.IsNaN(v) {
			value = strconv.FormatFloat(v, 'f', -1, 64)
		}
		if want := []string{row[0], page[2+id][at["Kernel Name"]], row[2], page[1][at[row[2]]], value,
			cell}; !slices.Equal(row, want) {
			t.Errorf("%q, want %q", row, want)
		}
	}
}
