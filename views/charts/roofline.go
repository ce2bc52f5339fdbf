package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// roofChart has the shapes of a roofline; both axes are logarithmic.
type roofChart struct {
	drawingFrame
	zoom                   Zoom
	xMin, xMax, yMin, yMax float64 // exponents of ten
	xTicks, yTicks         []tick
	slopes                 []slope // DRAM, then the caches
	ceilings               []ceiling
	dots                   []roofDot
	otherDots              []otherEntryDot
	dotsOutside            int // number of dots outside the zoom
}

// slope is the roof of a level of memory. The selected kernel has a dot for each cache, left of its dot for DRAM.
type slope struct {
	memoryLevel   string // "DRAM", "L2", "L1"
	line          lineSegment
	label         chartLabel
	labelPosition float64 // intended position of the label, as a share of the line's length
	labelDistance float64 // distance of the label from the line, in the drawing's units
	angle         float64 // degrees
	dotX, dotY    float64 // position of the dot; 0 if none
	title         string
	dotLabel      chartLabel // label of the dot
}

type tick struct {
	exponent   float64
	text       string
	textAnchor string
}

type lineSegment struct{ x1, y1, x2, y2 float64 }

type chartLabel struct {
	x, y       float64
	text       string // may be empty
	textAnchor string // part of the text at x: "start", "middle", or "end"
}

type ceiling struct {
	line  lineSegment
	label chartLabel
	kind  string // kind of arithmetic
}

type roofDot struct {
	x, y           float64
	kernel         *ncu.Kernel
	arithmeticRoof ncu.ArithmeticRoof
	isSelected     bool
	isPinned       bool // kernel of the baseline
	label          chartLabel
	name           string // name beside the dot; if empty, the kernel's name is shown
}

type otherEntryDot struct {
	x, y     float64
	entry    RooflineDot
	label    chartLabel
	isInZoom bool // inside the zoom
}

// roofChart computes the roofline of the selected kernel with the baseline and the other entries.
func (vm ProfileView) roofChart(f drawingFrame) *roofChart {
	var pins []roofDot
	others := vm.OtherDots
	if k := vm.pinnedKernel(); k != nil {
		pins = []roofDot{{kernel: k, isPinned: true, name: vm.PinnedProfile.Name}}
		others = slices.DeleteFunc(slices.Clone(vm.OtherDots),
			func(d RooflineDot) bool { return d.RunID == int64(vm.Query.PinnedRun) })
	}
	return newRoofChart(vm.Report, vm.Kernel(), pins, others, f, vm.Query.Zoom)
}

// newRoofChart computes the roofline of the selected kernel, with a dot for each kernel of the report that did
// arithmetic, for each of pins, and for each other entry. It returns nil if the report has no roofs.
func newRoofChart(
	r *ncu.Report, chosen *ncu.Kernel, pins []roofDot, others []RooflineDot, f drawingFrame, z Zoom,
) *roofChart {
	roof := ncu.RooflineOf(chosen)
	if !roof.PeakBandwidth.Value.Measured || !(roof.PeakBandwidth.Value.Value > 0) || len(roof.ArithmeticRoofs) == 0 {
		return nil
	}
	c := &roofChart{drawingFrame: f, zoom: z}
	var points [][2]float64
	for i := range r.Kernels {
		k := &r.Kernels[i]
		c.dots = append(c.dots, roofDot{kernel: k, isSelected: k == chosen})
	}
	all := append(c.dots, pins...)
	c.dots = nil
	for _, d := range all {
		if w := ncu.RooflineOf(d.kernel).MostUsedArithmeticRoof(); w != nil && w.Intensity.Value.Measured {
			d.arithmeticRoof = *w
			c.dots = append(c.dots, d)
			points = append(points, [2]float64{w.Intensity.Value.Value, w.AchievedRate.Value.Value})
		}
	}
	for _, l := range roof.Caches {
		if l.Intensity.Value.Value > 0 {
			points = append(points, [2]float64{l.Intensity.Value.Value,
				roof.MostUsedArithmeticRoof().AchievedRate.Value.Value})
		}
	}
	for _, d := range others {
		if d.Rate > 0 && d.Intensity > 0 {
			c.otherDots = append(c.otherDots, otherEntryDot{entry: d})
			points = append(points, [2]float64{d.Intensity, d.Rate})
		}
	}
	c.chooseScale(roof, points)
	c.placeRoofs(roof)
	c.nameDots()
	return c
}

// newRoofPair computes a roofline with two kernels and the roofs of both reports: first the kernel of run a, then that
// of run b. It returns nil without roofs, or if a kernel did no arithmetic.
func newRoofPair(a, b string, w ncu.Explanation) *roofChart {
	roof, c := ncu.RooflineOf(w.KernelA), &roofChart{drawingFrame: smallDrawingFrame()}
	roof.Caches = nil // without caches, to keep the small chart of two dots readable
	if !roof.PeakBandwidth.Value.Measured || !(roof.PeakBandwidth.Value.Value > 0) {
		return nil
	}
	var points [][2]float64
	for i, k := range []*ncu.Kernel{w.KernelA, w.KernelB} {
		of := ncu.RooflineOf(k)
		w := of.MostUsedArithmeticRoof()
		if w == nil || !w.Intensity.Value.Measured {
			return nil
		}
		c.dots = append(c.dots, roofDot{kernel: k, arithmeticRoof: *w, isSelected: true, name: []string{a, b}[i]})
		points = append(points, [2]float64{w.Intensity.Value.Value, w.AchievedRate.Value.Value})
		for _, kind := range of.ArithmeticRoofs {
			if !rooflineHasOperations(roof, kind.Name) {
				roof.ArithmeticRoofs = append(roof.ArithmeticRoofs, kind)
			}
		}
	}
	c.chooseScale(roof, points)
	c.placeRoofs(roof)
	c.nameRoofs(a, b, w)
	c.nameDots()
	return c
}

func rooflineHasOperations(roof ncu.Roofline, name string) bool {
	return slices.ContainsFunc(roof.ArithmeticRoofs, func(has ncu.ArithmeticRoof) bool { return has.Name == name })
}

// nameRoofs adds the name of the run to the name of a roof that only one of the reports has.
func (c *roofChart) nameRoofs(a, b string, w ncu.Explanation) {
	ofA, ofB := ncu.RooflineOf(w.KernelA), ncu.RooflineOf(w.KernelB)
	for i := range c.ceilings {
		of := &c.ceilings[i]
		run := ""
		switch {
		case !rooflineHasOperations(ofB, of.kind):
			run = " (" + a + ")"
		case !rooflineHasOperations(ofA, of.kind):
			run = " (" + b + ")"
		}
		of.label.text, of.kind = of.label.text+run, of.kind+run
	}
}

// smClock returns the SM clock of a kernel in hertz, or 0 if unknown.
func smClock(k *ncu.Kernel) float64 {
	hz, _ := k.Metric("sm__cycles_elapsed.avg.per_second").BaseValue()
	return hz
}

// clockNote describes the SM clock with which the arithmetic roofs were computed: another run on the same device has a
// different clock.
func clockNote(k *ncu.Kernel) string {
	if smClock(k) == 0 {
		return ""
	}
	return "The arithmetic roofs hold at this kernel's SM clock, " + withUnitPrefix(smClock(k), "Hz") + "; other runs may have another clock."
}

// pairClockNote describes the SM clocks with which the roofs of two kernels were computed, if the clocks differ.
func pairClockNote(c *roofChart, w ncu.Explanation) string {
	a, b := smClock(w.KernelA), smClock(w.KernelB)
	if a == 0 || b == 0 {
		return ""
	}
	at := withUnitPrefix(a, "Hz")
	if other := withUnitPrefix(b, "Hz"); other != at {
		return fmt.Sprintf("Arithmetic roofs hold at the SM clock of their kernel: %s for %s, %s for %s. One that both reports have is that of %s.",
			at, c.dots[0].name, other, c.dots[1].name, c.dots[0].name)
	}
	return "The arithmetic roofs hold at the SM clock of both kernels, " + at + "."
}

// arrowPath returns the path from the first dot to just before the second.
func (c *roofChart) arrowPath() string {
	a, b := c.dots[0], c.dots[1]
	dx, dy := b.x-a.x, b.y-a.y
	long := math.Hypot(dx, dy)
	if long < 20 {
		return "" // the dots touch
	}
	dx, dy = dx/long, dy/long
	x, y := b.x-9*dx, b.y-9*dy
	return fmt.Sprintf("M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1f", a.x+7*dx, a.y+7*dy, x, y,
		x-7*dx+4*dy, y-7*dy-4*dx, x, y, x-7*dx-4*dy, y-7*dy+4*dx)
}

// cacheNote describes how close the kernel is to the bandwidth of the caches.
func cacheNote(k *ncu.Kernel) string {
	var parts []string
	for _, l := range ncu.RooflineOf(k).Caches {
		if l.Peak.Value.Value > 0 {
			parts = append(parts, fmt.Sprintf("%s gave %s, %s of its roof", l.Name, MetricText(l.Traffic.Value), format.Percent(l.Traffic.Value.Value/l.Peak.Value.Value)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// roofFacts returns the numbers below the roofline.
func roofFacts(k *ncu.Kernel) []ncu.Fact {
	roof := ncu.RooflineOf(k)
	out := []ncu.Fact{roof.Bandwidth, roof.PeakBandwidth}
	for _, l := range roof.Caches {
		out = append(out, l.Traffic, l.Peak)
		if l.Intensity.Value.Measured {
			out = append(out, l.Intensity)
		}
	}
	for _, w := range roof.ArithmeticRoofs {
		out = append(out, w.AchievedRate, w.PeakRate)
		if w.HasWork() {
			out = append(out, w.Intensity)
		}
	}
	return out
}

// roofNote describes how close the kernel is to the roof above it.
func roofNote(k *ncu.Kernel) string {
	roof := ncu.RooflineOf(k)
	w := roof.MostUsedArithmeticRoof()
	if w == nil {
		return "This kernel did no arithmetic that the roofline counts, so it has no dot."
	}
	attainable, ok := roof.AttainableRate(*w)
	if !ok || attainable <= 0 {
		return fmt.Sprintf("%s: %s.", w.Name, MetricText(w.AchievedRate.Value))
	}
	side := "the arithmetic roof"
	if attainable < w.PeakRate.Value.Value {
		side = "the DRAM roof"
	}
	return fmt.Sprintf("%s: %s, %s of what %s allows at %s.", w.Name, MetricText(w.AchievedRate.Value),
		format.Percent(w.AchievedRate.Value.Value/attainable), side, MetricText(w.Intensity.Value))
}
