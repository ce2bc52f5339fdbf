package ncu

import "strings"

// Roofline has the data of a roofline chart: operations in FLOP/s (or op/s) and traffic in byte/s. All limits come from
// the report, none from data sheets.
type Roofline struct {
	Bandwidth       Fact             `json:"traffic"`      // DRAM bytes per second, achieved
	PeakBandwidth   Fact             `json:"peak_traffic"` // peak of the device
	ArithmeticRoofs []ArithmeticRoof `json:"works"`
	// Caches has the limits of L2 and L1. Their arithmetic intensities are for the operations of
	// MostUsedArithmeticRoof.
	Caches []CacheRoof `json:"caches,omitempty"`
}

// CacheRoof is a memory level above DRAM: its traffic to the level above, and its peak.
type CacheRoof struct {
	Name      string `json:"name"`
	Traffic   Fact   `json:"traffic"`
	Peak      Fact   `json:"peak"`
	Intensity Fact   `json:"intensity"` // operations per byte of its traffic
}

// ArithmeticRoof is one kind of arithmetic: its peak rate and, if the kernel used it, the achieved rate.
type ArithmeticRoof struct {
	Name         string `json:"name"` // "FP32", "Tensor BF16"
	AchievedRate Fact   `json:"work"` // operations per second, achieved
	PeakRate     Fact   `json:"peak"`
	Intensity    Fact   `json:"intensity"` // operations per DRAM byte
}

// HasWork reports whether the kernel did operations of this kind.
func (w ArithmeticRoof) HasWork() bool {
	return w.AchievedRate.Value.Measured && w.AchievedRate.Value.Value > 0
}

// AttainableRate returns the rate that the limits allow at the arithmetic intensity of w, in operations per second.
func (r Roofline) AttainableRate(w ArithmeticRoof) (float64, bool) {
	if !w.Intensity.Value.Measured || !w.PeakRate.Value.Measured || !r.PeakBandwidth.Value.Measured {
		return 0, false
	}
	return min(w.PeakRate.Value.Value, w.Intensity.Value.Value*r.PeakBandwidth.Value.Value), true
}

// MostUsedArithmeticRoof returns the kind of arithmetic with the most operations, or nil if there were none.
func (r Roofline) MostUsedArithmeticRoof() *ArithmeticRoof {
	var best *ArithmeticRoof
	for i, w := range r.ArithmeticRoofs {
		if w.HasWork() && (best == nil || w.AchievedRate.Value.Value > best.AchievedRate.Value.Value) {
			best = &r.ArithmeticRoofs[i]
		}
	}
	return best
}

// flopsUnit is the unit of floating-point operations. Integer tensor operations are in "op/s".
const flopsUnit = "FLOP/s"

const (
	smspThreadOpsPrefix    = "smsp__sass_thread_inst_executed_op_"
	derivedThreadOpsPrefix = "derived__smsp__sass_thread_inst_executed_op_"
	smOpsPrefix            = "derived__sm__sass_thread_inst_executed_op_"
	perCycleSuffix         = "_pred_on.sum.per_cycle_elapsed"
)

// tensorPrecision lists the per-cycle counters whose sum is the number of tensor operations of one precision, and the
// counter of the peak.
type tensorPrecision struct {
	name              string
	operationCounters []string
	peakCounter       string
}

func tensorPrecisions() []tensorPrecision {
	return []tensorPrecision{
		{"FP32", []string{smspThreadOpsPrefix + "fadd" + perCycleSuffix, smspThreadOpsPrefix + "fmul" + perCycleSuffix, derivedThreadOpsPrefix + "ffma_pred_on_x2"}, smOpsPrefix + "ffma_pred_on_x2"},
		{"FP64", []string{smspThreadOpsPrefix + "dadd" + perCycleSuffix, smspThreadOpsPrefix + "dmul" + perCycleSuffix, derivedThreadOpsPrefix + "dfma_pred_on_x2"}, smOpsPrefix + "dfma_pred_on_x2"},
		{"FP16", []string{derivedThreadOpsPrefix + "hadd_pred_on_x2", derivedThreadOpsPrefix + "hmul_pred_on_x2", derivedThreadOpsPrefix + "hfma_pred_on_x4"}, smOpsPrefix + "hfma_pred_on_x4"},
	}
}

// RooflineOf computes the roofline of a kernel. Missing values are not measured.
func RooflineOf(k *Kernel) Roofline {
	r := Roofline{Bandwidth: k.metricFact("DRAM traffic", "dram__bytes.sum.per_second")}
	r.Bandwidth.Value = toBaseUnits(r.Bandwidth.Value)
	r.PeakBandwidth = k.opsPerSecondFact("DRAM roof", "byte/s", []string{"dram__bytes.sum.peak_sustained"}, "dram__cycles_elapsed.avg.per_second")
	for _, p := range tensorPrecisions() {
		w := ArithmeticRoof{
			Name: p.name,
			AchievedRate: k.opsPerSecondFact(p.name+" work", flopsUnit, p.operationCounters,
				"smsp__cycles_elapsed.avg.per_second"),
			PeakRate: k.opsPerSecondFact(p.name+" roof", flopsUnit, []string{p.peakCounter},
				"sm__cycles_elapsed.avg.per_second"),
		}
		r.addArithmeticRoof(w)
	}
	for _, w := range k.tensorRoofs() {
		r.addArithmeticRoof(w)
	}
	r.Caches = k.cacheLevels(r.MostUsedArithmeticRoof())
	return r
}

// Counters of ncu's hierarchical roofline. The one of L1 counts loads to registers, but neither TMA copies nor operands
// that matrix instructions read from shared memory.
const (
	l2BytesMetric = "derived__lts__lts2xbar_bytes.sum"
	l1BytesMetric = "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum"
)

// cacheLevels returns the measured cache levels. L1 is omitted if its traffic was a small part of L2's, because the
// data then took another path.
func (k *Kernel) cacheLevels(main *ArithmeticRoof) (list []CacheRoof) {
	passed := 0.0
	for _, level := range []struct{ name, bytes, cycles string }{{"L2", l2BytesMetric, "lts"}, {"L1", l1BytesMetric, "l1tex"}} {
		l := CacheRoof{Name: level.name, Traffic: k.metricFact(level.name+" traffic", level.bytes+".per_second"),
			Peak: k.opsPerSecondFact(level.name+" roof", "byte/s", []string{level.bytes + ".peak_sustained"}, level.cycles+"__cycles_elapsed.avg.per_second")}
		traffic, ok := l.Traffic.Value.BaseValue()
		l.Traffic.Value = Metric{UnitName: "byte/s", Value: traffic, Measured: ok}
		if !ok || !l.Peak.Value.Measured || !(traffic > passed/10) {
			continue
		}
		passed = traffic
		if main != nil {
			l.Intensity = newComputedFact(level.name+" intensity", main.AchievedRate.Origin+" ÷ "+l.Traffic.Origin, strings.Replace(main.AchievedRate.Value.UnitName, "/s", "/byte", 1),
				main.AchievedRate.Value.Value/traffic, true)
		}
		list = append(list, l)
	}
	return list
}

func (r *Roofline) addArithmeticRoof(w ArithmeticRoof) {
	if !w.PeakRate.Value.Measured {
		return
	}
	ok := w.HasWork() && r.Bandwidth.Value.Measured && r.Bandwidth.Value.Value > 0
	v := 0.0
	if ok {
		v = w.AchievedRate.Value.Value / r.Bandwidth.Value.Value
	}
	w.Intensity = newComputedFact(w.Name+" intensity", w.AchievedRate.Origin+" ÷ "+r.Bandwidth.Origin, strings.Replace(w.AchievedRate.Value.UnitName, "/s", "/byte", 1), v, ok)
	r.ArithmeticRoofs = append(r.ArithmeticRoofs, w)
}

// opsPerSecondFact returns the sum of per-cycle counters times cycles per second, all from the raw page.
func (k *Kernel) opsPerSecondFact(label, unitName string, addends []string, rate string) Fact {
	sum, ok := 0.0, true
	for _, a := range addends {
		v, measured := k.valueInBaseUnit(a)
		sum, ok = sum+v, ok && measured
	}
	hz, measured := k.valueInBaseUnit(rate)
	from := strings.Join(addends, " + ") + " × " + rate
	if len(addends) > 1 {
		from = "(" + strings.Join(addends, " + ") + ") × " + rate
	}
	return newComputedFact(label, from, unitName, sum*hz, ok && measured)
}

const (
	tensorPrefix     = "sm__ops_path_tensor_"
	tensorPeakSuffix = ".sum.peak_sustained_elapsed.per_second"
	tensorRateSuffix = ".sum.per_second"
)

// tensorRoofs returns the kinds of tensor operations that the kernel used. If it used none, the only result is dense
// FP16, so that the chart shows the peak of the tensor cores.
//
// Totals such as sm__ops_path_tensor_src_bf16_dst_fp32 are omitted: their peak includes structured sparsity, which a
// dense kernel cannot use, so their percentages would be halved.
func (k *Kernel) tensorRoofs() []ArithmeticRoof {
	var did []ArithmeticRoof
	var roof ArithmeticRoof
	for _, name := range k.metricNames(tensorPrefix, tensorPeakSuffix) {
		stem := strings.TrimSuffix(name, tensorPeakSuffix)
		if !strings.HasPrefix(stem, tensorPrefix+"op_") && stem != tensorPrefix+"src_fp64" {
			continue
		}
		w := k.tensorRoof(stem)
		if w.HasWork() {
			did = append(did, w)
		}
		dense := strings.Contains(stem, "src_fp16") && strings.HasSuffix(stem, "_sparsity_off")
		if dense && w.PeakRate.Value.Measured && w.PeakRate.Value.Value > roof.PeakRate.Value.Value {
			roof = w
		}
	}
	if len(did) == 0 && roof.Name != "" {
		return []ArithmeticRoof{roof}
	}
	return did
}

func (k *Kernel) tensorRoof(stem string) ArithmeticRoof {
	name := "Tensor"
	if _, src, ok := strings.Cut(stem, "src_"); ok {
		src, _, _ = strings.Cut(src, "_")
		name += " " + strings.ToUpper(src)
	}
	if strings.HasSuffix(stem, "_sparsity_on") {
		name += " sparse"
	}
	w := ArithmeticRoof{
		Name:         name,
		AchievedRate: k.metricFact(name+" work", stem+tensorRateSuffix),
		PeakRate:     k.metricFact(name+" roof", stem+tensorPeakSuffix),
	}
	unitName := flopsUnit
	if strings.HasPrefix(name, "Tensor INT") {
		unitName = "op/s"
	}
	w.AchievedRate.Value.UnitName, w.PeakRate.Value.UnitName = unitName, unitName
	return w
}

// toBaseUnits returns the metric in base units, without ncu's text, which is in another unit.
func toBaseUnits(m Metric) Metric {
	v, ok := m.BaseValue()
	return Metric{UnitName: m.BaseUnit(), Value: v, Measured: ok}
}
