package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpboard/evaluator/ncu"
)

// drawingFrame is the area of a drawing, in the units of its viewBox.
type drawingFrame struct{ width, drawingHeight, left, right, top, bottom float64 }

// smallDrawingFrame returns the frame for a phone or half of a page. Letters have the same size as in wideDrawingFrame.
func smallDrawingFrame() drawingFrame { return drawingFrame{400, 316, 58, 396, 12, 272} }

// wideDrawingFrame returns the frame for the width of a page.
func wideDrawingFrame() drawingFrame { return drawingFrame{840, 400, 60, 832, 12, 356} }

func (f drawingFrame) viewBox() string { return fmt.Sprintf("0 0 %.0f %.0f", f.width, f.drawingHeight) }

// Limits of the axes, in operations per byte and per second, so that a forged counter cannot stretch them without
// limit.
const (
	minIntensity, maxIntensity = 1e-4, 1e8
	minRate, maxRate           = 1e6, 1e21
)

// chooseScale chooses powers of ten as ends of the axes, so that they include all dots, the space for their names, and
// every ridge; then it selects the part inside the zoom.
func (c *roofChart) chooseScale(roof ncu.Roofline, points [][2]float64) {
	bandwidth := roof.PeakBandwidth.Value.Value
	most := 0.0
	for _, w := range roof.ArithmeticRoofs {
		most = max(most, w.PeakRate.Value.Value)
	}
	lowX, highX, lowY := 0.1, 10*most/bandwidth, most/1e3
	for _, p := range points {
		lowX, highX = min(lowX, p[0]/1.5), max(highX, p[0])
		lowY, most = min(lowY, p[1]/1.5), max(most, p[1])
	}
	c.xMin, c.xMax = axisExponents(lowX, highX, minIntensity, maxIntensity)
	c.yMin, c.yMax = axisExponents(lowY, most*1.2, minRate, maxRate)
	if c.zoom.Level == 0 { // so that zooming in begins at the selected kernel
		c.zoom.MiddleX, c.zoom.MiddleY = c.selectedMiddle()
	}
	c.xMin, c.xMax = c.zoom.rangeAround(c.zoom.MiddleX, c.xMin, c.xMax)
	c.yMin, c.yMax = c.zoom.rangeAround(c.zoom.MiddleY, c.yMin, c.yMax)
	c.setTicks()
}

// selectedMiddle returns the position of the selected kernel in the whole drawing, in thousandths.
func (c *roofChart) selectedMiddle() (x, y int) {
	for _, d := range c.dots {
		if d.isSelected {
			return toThousandths(intensityExponent(d.arithmeticRoof.Intensity.Value.Value), c.xMin, c.xMax), toThousandths(rateExponent(d.arithmeticRoof.AchievedRate.Value.Value), c.yMin, c.yMax)
		}
	}
	return 500, 500
}

func toThousandths(e, from, to float64) int {
	return int(math.Round(1000 * clamp((e-from)/(to-from), 0, 1)))
}

// setTicks sets ticks at powers of ten, and between them if the drawing shows few.
func (c *roofChart) setTicks() {
	for _, e := range tickExponents(c.xMin, c.xMax) {
		t := tick{c.atX(e), tickText(formatDigits(math.Pow(10, e))), "middle"}
		if a := (chartLabel{x: t.exponent, text: t.text, textAnchor: t.textAnchor}).area(); a.x2 > c.width {
			t.exponent, t.textAnchor = c.width, "end"
		}
		c.xTicks = append(c.xTicks, t)
	}
	c.xTicks = removeUntilTicksFit(c.xTicks, func(a, b tick) bool {
		next := chartLabel{x: b.exponent, text: b.text, textAnchor: b.textAnchor}.area()
		return chartLabel{x: a.exponent, text: a.text, textAnchor: a.textAnchor}.area().x2+letterWidth <= next.x1
	})
	for _, e := range tickExponents(c.yMin, c.yMax) {
		c.yTicks = append(c.yTicks, tick{c.atY(e), tickText(withUnitPrefix(math.Pow(10, e), "")), "end"})
	}
	c.yTicks = removeUntilTicksFit(c.yTicks, func(a, b tick) bool { return a.exponent-b.exponent >= lineHeight+2 })
}

// tickText removes trailing zeros.
func tickText(text string) string {
	number, unitName, _ := strings.Cut(text, noBreakSpace)
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSuffix(number+noBreakSpace+unitName, noBreakSpace)
}

func tickExponents(from, to float64) (at []float64) {
	within := []float64{1}
	switch {
	case to-from <= 0.75:
		within = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}
	case to-from <= 2.5:
		within = []float64{1, 2, 5}
	}
	for decade := math.Floor(from); decade <= to; decade++ {
		for _, n := range within {
			if e := decade + math.Log10(n); e >= from-1e-9 && e <= to+1e-9 {
				at = append(at, e)
			}
		}
	}
	return at
}

// removeUntilTicksFit removes every other tick, repeatedly, until the texts of all fit.
func removeUntilTicksFit(all []tick, fits func(a, b tick) bool) []tick {
	for step := 1; step < len(all); step++ {
		var kept []tick
		for i := 0; i < len(all); i += step {
			kept = append(kept, all[i])
		}
		crowded := false
		for i := range kept[1:] {
			crowded = crowded || !fits(kept[i], kept[i+1])
		}
		if !crowded {
			return kept
		}
	}
	return all[:min(1, len(all))]
}

// axisExponents returns exponents of ten around low and high, at least one apart and inside the limits of the axis.
func axisExponents(low, high, least, most float64) (from, to float64) {
	from = math.Floor(math.Log10(clamp(low, least, most/10)))
	return from, max(math.Ceil(math.Log10(clamp(high, least, most))), from+1)
}

func intensityExponent(v float64) float64 { return math.Log10(clamp(v, minIntensity, maxIntensity)) }
func rateExponent(v float64) float64      { return math.Log10(clamp(v, minRate, maxRate)) }

// atX returns the horizontal position of an exponent of ten.
func (c *roofChart) atX(e float64) float64 {
	return c.left + (c.right-c.left)*clamp((e-c.xMin)/(c.xMax-c.xMin), 0, 1)
}

// atY returns the vertical position of an exponent of ten.
func (c *roofChart) atY(e float64) float64 {
	return c.bottom - (c.bottom-c.top)*clamp((e-c.yMin)/(c.yMax-c.yMin), 0, 1)
}

// dotPosition returns the position of a dot in the drawing; ok is false if it is outside the zoom.
func (c *roofChart) dotPosition(intensity, rate float64) (x, y float64, ok bool) {
	const edge = 1e-9
	ex, ey := intensityExponent(intensity), rateExponent(rate)
	ok = ex >= c.xMin-edge && ex <= c.xMax+edge && ey >= c.yMin-edge && ey <= c.yMax+edge
	return c.atX(ex), c.atY(ey), ok
}

// placeRoofs positions roofs and dots.
func (c *roofChart) placeRoofs(roof ncu.Roofline) {
	bandwidth, most := roof.PeakBandwidth.Value.Value, 0.0
	for _, w := range roof.ArithmeticRoofs {
		if peak := w.PeakRate.Value.Value; peak > 0 {
			most = max(most, peak)
			c.addCeiling(w, bandwidth)
		}
	}
	c.slopes = []slope{c.newSlope("DRAM", roof.PeakBandwidth.Value, most, 0.45, 14)}
	for i, l := range roof.Caches {
		// The lines of the caches are close together, so their names are at different fractions.
		sl := c.newSlope(l.Name, l.Peak.Value, most, 0.7-0.25*float64(i), -5)
		if v := l.Intensity.Value.Value; v > 0 {
			if x, y, ok := c.dotPosition(v, roof.MostUsedArithmeticRoof().AchievedRate.Value.Value); ok {
				sl.dotX, sl.dotY, sl.title = x, y, fmt.Sprintf("%s of %s traffic", MetricText(l.Intensity.Value), l.Name)
			}
		}
		c.slopes = append(c.slopes, sl)
	}
	before := len(c.dots) + len(c.otherDots)
	c.dots = slices.DeleteFunc(c.dots, func(d roofDot) bool {
		_, _, ok := c.dotPosition(d.arithmeticRoof.Intensity.Value.Value, d.arithmeticRoof.AchievedRate.Value.Value)
		return !ok
	})
	for i := range c.dots {
		d := &c.dots[i]
		d.x, d.y, _ = c.dotPosition(d.arithmeticRoof.Intensity.Value.Value, d.arithmeticRoof.AchievedRate.Value.Value)
	}
	for i := range c.otherDots {
		o := &c.otherDots[i]
		o.x, o.y, o.isInZoom = c.dotPosition(o.entry.Intensity, o.entry.Rate)
	}
	c.dotsOutside = before - len(c.dots) - len(c.shownOtherDots())
}

// shownOtherDots returns the other entries inside the zoom; the table has all of them.
func (c *roofChart) shownOtherDots() []otherEntryDot {
	return slices.DeleteFunc(slices.Clone(c.otherDots), func(o otherEntryDot) bool { return !o.isInZoom })
}

// addCeiling adds the roof of a kind of arithmetic, if it is inside the zoom.
func (c *roofChart) addCeiling(w ncu.ArithmeticRoof, bandwidth float64) {
	e := rateExponent(w.PeakRate.Value.Value)
	from := math.Max(c.xMin, e-math.Log10(bandwidth))
	if e < c.yMin || e > c.yMax || !(from < c.xMax) {
		return
	}
	y := c.atY(e)
	c.ceilings = append(c.ceilings, ceiling{
		line:  lineSegment{c.atX(from), y, c.right, y},
		label: chartLabel{c.right, y - 4, fmt.Sprintf("%s %s", w.Name, MetricText(w.PeakRate.Value)), "end"},
		kind:  w.Name,
	})
}

// newSlope returns the roof of a level of memory, up to the highest ceiling (most). Its line begins at the left or the
// lower edge of the drawing. Its name is at the fraction at of the line's length, side away from the line. Outside the
// zoom, line and name are empty.
func (c *roofChart) newSlope(name string, bandwidth ncu.Metric, most, at, side float64) slope {
	per := math.Log10(bandwidth.Value)
	from, to := math.Max(c.xMin, c.yMin-per), math.Min(c.xMax, math.Min(c.yMax, rateExponent(most))-per)
	if !(from < to) {
		return slope{memoryLevel: name}
	}
	s := slope{
		memoryLevel:   name,
		labelPosition: at,
		line:          lineSegment{c.atX(from), c.atY(from + per), c.atX(to), c.atY(to + per)},
		labelDistance: side,
	}
	s.label = chartLabel{text: name + " " + MetricText(bandwidth), textAnchor: "middle"}
	s.angle = math.Atan2(s.line.y2-s.line.y1, s.line.x2-s.line.x1) * 180 / math.Pi
	return s
}
