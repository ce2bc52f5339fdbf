package ncu

import "strings"

// Roofline has the data of the roofline chart: work in FLOP/s (or op/s), traffic in byte/s. All roofs come from the
// report, none from data sheets.
type Roofline struct {
	Bandwidth     Fact       `json:"traffic"`      // DRAM bytes per second, achieved
	PeakBandwidth Fact       `json:"peak_traffic"` // peak of the device
	Kinds         []RoofKind `json:"works"`
	// Caches are the roofs of L2 and L1. Their intensities are for the work of Main.
	Caches []RoofLevel `json:"caches,omitempty"`
}

// RoofLevel is a level of memory above DRAM: its traffic to the next level, and its peak.
type RoofLevel struct {
	Name      string `json:"name"`
	Traffic   Fact   `json:"traffic"`
	Peak      Fact   `json:"peak"`
	Intensity Fact   `json:"intensity"` // operations per byte of its traffic
}

// RoofKind is one kind of arithmetic: its roof and, if the kernel did any, its rate.
type RoofKind struct {
	Name      string `json:"name"` // "FP32", "Tensor BF16"
	Rate      Fact   `json:"work"` // operations per second, achieved
	Peak      Fact   `json:"peak"`
	Intensity Fact   `json:"intensity"` // operations per DRAM byte
}

// HasWork reports whether the kernel did any work of this kind.
func (w RoofKind) HasWork() bool { return w.Rate.Value.Measured && w.Rate.Value.Value > 0 }

// Attainable returns the rate that the roofs allow at the work's intensity, in operations per second.
func (r Roofline) Attainable(w RoofKind) (float64, bool) {
	if !w.Intensity.Value.Measured || !w.Peak.Value.Measured || !r.PeakBandwidth.Value.Measured {
		return 0, false
	}
	return min(w.Peak.Value.Value, w.Intensity.Value.Value*r.PeakBandwidth.Value.Value), true
}

// Main returns the kind of work that the kernel did most, or nil if it did no arithmetic.
func (r Roofline) Main() *RoofKind {
	var best *RoofKind
	for i, w := range r.Kinds {
		if w.HasWork() && (best == nil || w.Rate.Value.Value > best.Rate.Value.Value) {
			best = &r.Kinds[i]
		}
	}
	return best
}

// flops is the unit of floating-point work; integer tensor work is in "op/s".
const flops = "FLOP/s"

const (
	smspThread = "smsp__sass_thread_inst_executed_op_"
	derivedOps = "derived__smsp__sass_thread_inst_executed_op_"
	smOps      = "derived__sm__sass_thread_inst_executed_op_"
	perCycle   = "_pred_on.sum.per_cycle_elapsed"
)

// precision lists the counters, per cycle, that add up to operations, and the peak's counter.
type precision struct {
	name string
	work []string
	peak string
}

func precisions() []precision {
	return []precision{
		{"FP32", []string{smspThread + "fadd" + perCycle, smspThread + "fmul" + perCycle, derivedOps + "ffma_pred_on_x2"}, smOps + "ffma_pred_on_x2"},
		{"FP64", []string{smspThread + "dadd" + perCycle, smspThread + "dmul" + perCycle, derivedOps + "dfma_pred_on_x2"}, smOps + "dfma_pred_on_x2"},
		{"FP16", []string{derivedOps + "hadd_pred_on_x2", derivedOps + "hmul_pred_on_x2", derivedOps + "hfma_pred_on_x4"}, smOps + "hfma_pred_on_x4"},
	}
}

// RooflineOf derives the roofline of a kernel. Missing data is not measured.
func RooflineOf(k *Kernel) Roofline {
	r := Roofline{Bandwidth: k.fact("DRAM traffic", "dram__bytes.sum.per_second")}
	r.Bandwidth.Value = inBase(r.Bandwidth.Value)
	r.PeakBandwidth = k.product("DRAM roof", "byte/s", []string{"dram__bytes.sum.peak_sustained"}, "dram__cycles_elapsed.avg.per_second")
	for _, p := range precisions() {
		w := RoofKind{
			Name: p.name,
			Rate: k.product(p.name+" work", flops, p.work, "smsp__cycles_elapsed.avg.per_second"),
			Peak: k.product(p.name+" roof", flops, []string{p.peak}, "sm__cycles_elapsed.avg.per_second"),
		}
		r.add(w)
	}
	for _, w := range k.tensorWorks() {
		r.add(w)
	}
	r.Caches = k.caches(r.Main())
	return r
}

// Counters of ncu's own hierarchical roofline. That of L1 counts loads to registers, but neither TMA copies nor
// operands that matrix instructions read from shared memory.
const (
	l2Bytes = "derived__lts__lts2xbar_bytes.sum"
	l1Bytes = "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum"
)

// caches returns the measured levels. L1 is omitted if its traffic was a small part of L2's: then the data took another
// path.
func (k *Kernel) caches(main *RoofKind) (list []RoofLevel) {
	passed := 0.0
	for _, level := range []struct{ name, bytes, cycles string }{{"L2", l2Bytes, "lts"}, {"L1", l1Bytes, "l1tex"}} {
		l := RoofLevel{Name: level.name, Traffic: k.fact(level.name+" traffic", level.bytes+".per_second"),
			Peak: k.product(level.name+" roof", "byte/s", []string{level.bytes + ".peak_sustained"}, level.cycles+"__cycles_elapsed.avg.per_second")}
		traffic, ok := l.Traffic.Value.Base()
		l.Traffic.Value = Metric{Unit: "byte/s", Value: traffic, Measured: ok}
		if !ok || !l.Peak.Value.Measured || !(traffic > passed/10) {
			continue
		}
		passed = traffic
		if main != nil {
			l.Intensity = computed(level.name+" intensity", main.Rate.From+" ÷ "+l.Traffic.From, strings.Replace(main.Rate.Value.Unit, "/s", "/byte", 1),
				main.Rate.Value.Value/traffic, true)
		}
		list = append(list, l)
	}
	return list
}

func (r *Roofline) add(w RoofKind) {
	if !w.Peak.Value.Measured {
		return
	}
	ok := w.HasWork() && r.Bandwidth.Value.Measured && r.Bandwidth.Value.Value > 0
	v := 0.0
	if ok {
		v = w.Rate.Value.Value / r.Bandwidth.Value.Value
	}
	w.Intensity = computed(w.Name+" intensity", w.Rate.From+" ÷ "+r.Bandwidth.From, strings.Replace(w.Rate.Value.Unit, "/s", "/byte", 1), v, ok)
	r.Kinds = append(r.Kinds, w)
}

// product returns (the sum of the addends per cycle) × (cycles per second), all from the raw page.
func (k *Kernel) product(label, unit string, addends []string, rate string) Fact {
	sum, ok := 0.0, true
	for _, a := range addends {
		v, measured := k.base(a)
		sum, ok = sum+v, ok && measured
	}
	hz, measured := k.base(rate)
	from := strings.Join(addends, " + ") + " × " + rate
	if len(addends) > 1 {
		from = "(" + strings.Join(addends, " + ") + ") × " + rate
	}
	return computed(label, from, unit, sum*hz, ok && measured)
}

const (
	tensorPrefix = "sm__ops_path_tensor_"
	tensorPeak   = ".sum.peak_sustained_elapsed.per_second"
	tensorWork   = ".sum.per_second"
)

// tensorWorks returns the tensor operations that the kernel did. If it did none, the only result is the dense FP16
// roof, so that the chart shows the peak of the tensor cores.
//
// Totals such as sm__ops_path_tensor_src_bf16_dst_fp32 are omitted: their peak includes structured sparsity, which a
// dense kernel cannot use, so that its percentage would be halved.
func (k *Kernel) tensorWorks() []RoofKind {
	var did []RoofKind
	var roof RoofKind
	for _, name := range k.metricNames(tensorPrefix, tensorPeak) {
		stem := strings.TrimSuffix(name, tensorPeak)
		if !strings.HasPrefix(stem, tensorPrefix+"op_") && stem != tensorPrefix+"src_fp64" {
			continue
		}
		w := k.tensorWork(stem)
		if w.HasWork() {
			did = append(did, w)
		}
		dense := strings.Contains(stem, "src_fp16") && strings.HasSuffix(stem, "_sparsity_off")
		if dense && w.Peak.Value.Measured && w.Peak.Value.Value > roof.Peak.Value.Value {
			roof = w
		}
	}
	if len(did) == 0 && roof.Name != "" {
		return []RoofKind{roof}
	}
	return did
}

func (k *Kernel) tensorWork(stem string) RoofKind {
	name := "Tensor"
	if _, src, ok := strings.Cut(stem, "src_"); ok {
		src, _, _ = strings.Cut(src, "_")
		name += " " + strings.ToUpper(src)
	}
	if strings.HasSuffix(stem, "_sparsity_on") {
		name += " sparse"
	}
	w := RoofKind{Name: name, Rate: k.fact(name+" work", stem+tensorWork), Peak: k.fact(name+" roof", stem+tensorPeak)}
	unit := flops
	if strings.HasPrefix(name, "Tensor INT") {
		unit = "op/s"
	}
	w.Rate.Value.Unit, w.Peak.Value.Unit = unit, unit
	return w
}

// inBase returns the metric in base units, without ncu's text, which is in another unit.
func inBase(m Metric) Metric {
	v, ok := m.Base()
	return Metric{Unit: m.BaseUnit(), Value: v, Measured: ok}
}
