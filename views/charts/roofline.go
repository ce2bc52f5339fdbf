package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// The roofline's drawing area, in the units of its viewBox.
const (
	roofHeight          = 316.0
	roofLeft, roofRight = 50.0, 396.0
	roofTop, roofBottom = 12.0, 272.0

	// What the axes can show, in operations per byte and per second: a forged counter must not stretch
	// them for ever.
	leastIntensity, mostIntensity = 1e-4, 1e8
	leastOperation, mostOperation = 1e6, 1e21
)

// roofChart is a roofline ready to draw: both axes are logarithmic.
type roofChart struct {
	xMin, xMax, yMin, yMax float64 // exponents of ten
	xTicks, yTicks         []tick
	slopes                 []slope // of DRAM, then of the caches
	ceilings               []ceiling
	dots                   []roofDot
	others                 []otherDot
}

// slope is the roof of a level of memory. A cache has a dot of the chosen kernel, too, left of that of DRAM.
type slope struct {
	level string // "DRAM", "L2", "L1"
	line  segment
	label label
	at    float64 // the label's intended place, as a part of the line's length
	side  float64 // of the line: where the label stands, in the drawing's units
	turn  float64 // degrees
	x, y  float64 // of the dot; 0: none
	title string
	name  label // of the dot
}

type tick struct {
	at   float64
	text string
}

type segment struct{ x1, y1, x2, y2 float64 }

type label struct {
	x, y   float64
	text   string // empty: nothing is written
	anchor string // "start", "middle" or "end" of the text is at x
}

type ceiling struct {
	line  segment
	label label
	fact  ncu.Fact
}

type roofDot struct {
	x, y   float64
	kernel *ncu.Kernel
	work   ncu.RoofKind
	chosen bool
	label  label
	name   string // beside the dot; empty: the kernel's
}

type otherDot struct {
	x, y  float64
	dot   Dot
	label label
}

// newRoofChart lays out the roofline of the chosen kernel, with a dot for every kernel of the
// report that did arithmetic, and for the other entries. It is nil when the report has no roofs.
func newRoofChart(r *ncu.Report, chosen *ncu.Kernel, others []Dot) *roofChart {
	roof := ncu.RooflineOf(chosen)
	if !roof.PeakBandwidth.Value.Measured || !(roof.PeakBandwidth.Value.Value > 0) || len(roof.Kinds) == 0 {
		return nil
	}
	c := &roofChart{}
	var points [][2]float64
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if w := ncu.RooflineOf(k).Main(); w != nil && w.Intensity.Value.Measured {
			c.dots = append(c.dots, roofDot{kernel: k, work: *w, chosen: k == chosen})
			points = append(points, [2]float64{w.Intensity.Value.Value, w.Rate.Value.Value})
		}
	}
	for _, l := range roof.Caches {
		if l.Intensity.Value.Value > 0 {
			points = append(points, [2]float64{l.Intensity.Value.Value, roof.Main().Rate.Value.Value})
		}
	}
	for _, d := range others {
		if d.Rate > 0 && d.Intensity > 0 {
			c.others = append(c.others, otherDot{dot: d})
			points = append(points, [2]float64{d.Intensity, d.Rate})
		}
	}
	c.scale(roof, points)
	c.place(roof)
	c.nameDots()
	return c
}

// newRoofPair lays out two kernels on the roofs that either report holds: A's dot, then B's. It is nil when there are no
// roofs, or when one of them did no arithmetic.
func newRoofPair(a, b *ncu.Kernel) *roofChart {
	roof, c := ncu.RooflineOf(a), &roofChart{}
	roof.Caches = nil // two dots and an arrow are enough
	if !roof.PeakBandwidth.Value.Measured || !(roof.PeakBandwidth.Value.Value > 0) {
		return nil
	}
	var points [][2]float64
	for i, k := range []*ncu.Kernel{a, b} {
		of := ncu.RooflineOf(k)
		w := of.Main()
		if w == nil || !w.Intensity.Value.Measured {
			return nil
		}
		c.dots = append(c.dots, roofDot{kernel: k, work: *w, chosen: true, name: []string{"A", "B"}[i]})
		points = append(points, [2]float64{w.Intensity.Value.Value, w.Rate.Value.Value})
		for _, kind := range of.Kinds {
			if !slices.ContainsFunc(roof.Kinds, func(has ncu.RoofKind) bool { return has.Name == kind.Name }) {
				roof.Kinds = append(roof.Kinds, kind)
			}
		}
	}
	c.scale(roof, points)
	c.place(roof)
	c.nameDots()
	return c
}

// arrow leads from the first dot to the second, and stops before it.
func (c *roofChart) arrow() string {
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

// scale chooses whole decades that hold all dots, with room for their names, and every ridge.
func (c *roofChart) scale(roof ncu.Roofline, points [][2]float64) {
	bandwidth := roof.PeakBandwidth.Value.Value
	most := 0.0
	for _, w := range roof.Kinds {
		most = max(most, w.Peak.Value.Value)
	}
	lowX, highX, lowY := 0.1, 10*most/bandwidth, most/1e3
	for _, p := range points {
		lowX, highX = min(lowX, p[0]/1.5), max(highX, p[0])
		lowY, most = min(lowY, p[1]/1.5), max(most, p[1])
	}
	c.xMin, c.xMax = decades(lowX, highX, leastIntensity, mostIntensity)
	c.yMin, c.yMax = decades(lowY, most*1.2, leastOperation, mostOperation)
	for e := c.xMin; e <= c.xMax; e++ {
		c.xTicks = append(c.xTicks, tick{c.x(math.Pow(10, e)), format.Decimal(math.Pow(10, e))})
	}
	for e := c.yMin; e <= c.yMax; e++ {
		c.yTicks = append(c.yTicks, tick{c.y(math.Pow(10, e)), format.Prefixed(math.Pow(10, e), "")})
	}
}

// decades are the exponents of ten around low and high, at least one apart and within the axis.
func decades(low, high, least, most float64) (from, to float64) {
	from = math.Floor(math.Log10(within(low, least, most/10)))
	return from, max(math.Ceil(math.Log10(within(high, least, most))), from+1)
}

func (c *roofChart) x(v float64) float64 {
	e := math.Log10(within(v, leastIntensity, mostIntensity))
	return roofLeft + (roofRight-roofLeft)*within((e-c.xMin)/(c.xMax-c.xMin), 0, 1)
}

func (c *roofChart) y(v float64) float64 {
	e := math.Log10(within(v, leastOperation, mostOperation))
	return roofBottom - (roofBottom-roofTop)*within((e-c.yMin)/(c.yMax-c.yMin), 0, 1)
}

// place puts roofs and dots on the scaled axes.
func (c *roofChart) place(roof ncu.Roofline) {
	bandwidth, most := roof.PeakBandwidth.Value.Value, 0.0
	for _, w := range roof.Kinds {
		peak := w.Peak.Value.Value
		if !(peak > 0) {
			continue
		}
		most = max(most, peak)
		y := c.y(peak)
		c.ceilings = append(c.ceilings, ceiling{
			line:  segment{c.x(peak / bandwidth), y, roofRight, y},
			label: label{roofRight, y - 4, fmt.Sprintf("%s %s", w.Name, Text(w.Peak.Value)), "end"},
			fact:  w.Peak,
		})
	}
	c.slopes = []slope{c.slope("DRAM", roof.PeakBandwidth.Value, most, 0.45, 14)}
	for i, l := range roof.Caches {
		sl := c.slope(l.Name, l.Peak.Value, most, 0.7-0.25*float64(i), -5) // their lines are near each other: the names are not
		if v := l.Intensity.Value.Value; v > 0 {
			sl.x, sl.y, sl.title = c.x(v), c.y(roof.Main().Rate.Value.Value), fmt.Sprintf("%s of %s traffic", Text(l.Intensity.Value), l.Name)
		}
		c.slopes = append(c.slopes, sl)
	}
	for i := range c.dots {
		d := &c.dots[i]
		d.x, d.y = c.x(d.work.Intensity.Value.Value), c.y(d.work.Rate.Value.Value)
	}
	for i := range c.others {
		o := &c.others[i]
		o.x, o.y = c.x(o.dot.Intensity), c.y(o.dot.Rate)
	}
}

// slope is the roof of a level of memory. It begins where it enters the drawing: at the left edge or at the bottom.
// The name stands at a part of its length, above or below.
func (c *roofChart) slope(name string, bandwidth ncu.Metric, most, at, side float64) slope {
	per := bandwidth.Value
	start := max(math.Pow(10, c.xMin), math.Pow(10, c.yMin)/per)
	s := slope{level: name, at: at, line: segment{c.x(start), c.y(start * per), c.x(most / per), c.y(most)}, side: side}
	s.label = label{text: name + " " + Text(bandwidth), anchor: "middle"}
	s.turn = math.Atan2(s.line.y2-s.line.y1, s.line.x2-s.line.x1) * 180 / math.Pi
	return s
}

// cacheNote says how near the kernel comes to the roofs of the caches.
func cacheNote(k *ncu.Kernel) string {
	var parts []string
	for _, l := range ncu.RooflineOf(k).Caches {
		if l.Peak.Value.Value > 0 {
			parts = append(parts, fmt.Sprintf("%s gave %s, %s of its roof", l.Name, Text(l.Traffic.Value), format.Percent(l.Traffic.Value.Value/l.Peak.Value.Value)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// roofFacts are the numbers below the roofline.
func roofFacts(k *ncu.Kernel) []ncu.Fact {
	roof := ncu.RooflineOf(k)
	out := []ncu.Fact{roof.Bandwidth, roof.PeakBandwidth}
	for _, l := range roof.Caches {
		out = append(out, l.Traffic, l.Peak)
		if l.Intensity.Value.Measured {
			out = append(out, l.Intensity)
		}
	}
	for _, w := range roof.Kinds {
		out = append(out, w.Rate, w.Peak)
		if w.Did() {
			out = append(out, w.Intensity)
		}
	}
	return out
}

// roofNote says how near the kernel comes to the roof above its dot.
func roofNote(k *ncu.Kernel) string {
	roof := ncu.RooflineOf(k)
	w := roof.Main()
	if w == nil {
		return "This kernel did no arithmetic that the roofline counts, so it has no dot."
	}
	attainable, ok := roof.Attainable(*w)
	if !ok || attainable <= 0 {
		return fmt.Sprintf("%s: %s.", w.Name, Text(w.Rate.Value))
	}
	side := "the arithmetic roof"
	if attainable < w.Peak.Value.Value {
		side = "the DRAM roof"
	}
	return fmt.Sprintf("%s: %s, %s of what %s allows at %s.", w.Name, Text(w.Rate.Value),
		format.Percent(w.Rate.Value.Value/attainable), side, Text(w.Intensity.Value))
}
