package charts

import (
	"strings"

	"warpboard/evaluator/ncu"
)

// BoardRoof has the data for a roofline of a board: the device's roofs and the board's entries. Unlike the roofline of
// a profile, it has no selected kernel.
type BoardRoof struct {
	Bandwidth float64 // roof of DRAM in bytes per second; each dot has its own arithmetic roof
	Dots      []RooflineDot
}

// HasChart reports whether there is a roof and at least one dot.
func (b BoardRoof) HasChart() bool { return b.chart() != nil }

// chart returns nil if the roof of DRAM is unknown or there is no dot.
func (b BoardRoof) chart() *roofChart {
	if !(b.Bandwidth > 0) {
		return nil
	}
	c, roof := &roofChart{drawingFrame: smallDrawingFrame()},
		ncu.Roofline{PeakBandwidth: roofFact(b.Bandwidth, "byte/s")}
	var points [][2]float64
	for _, d := range b.Dots {
		if !(d.Rate > 0) || !(d.Intensity > 0) || !(d.PeakRate > 0) {
			continue
		}
		c.otherDots = append(c.otherDots, otherEntryDot{entry: d})
		points = append(points, [2]float64{d.Intensity, d.Rate})
		if !rooflineHasOperations(roof, d.OperationKind) {
			roof.ArithmeticRoofs = append(roof.ArithmeticRoofs, ncu.ArithmeticRoof{
				Name:     d.OperationKind,
				PeakRate: roofFact(d.PeakRate, "FLOP/s"),
			})
		}
	}
	if len(points) == 0 {
		return nil
	}
	c.chooseScale(roof, points)
	c.placeRoofs(roof)
	c.nameDots()
	return c
}

// clocksText describes, for each arithmetic roof, the SM clock with which it was computed: that of the first entry with
// this kind of arithmetic. Roofs without a known clock are omitted.
func (c *roofChart) clocksText() string {
	var parts []string
	for _, r := range c.ceilings {
		for _, o := range c.otherDots {
			if o.entry.OperationKind == r.kind {
				if o.entry.ClockHz > 0 {
					parts = append(parts, r.kind+" at "+withUnitPrefix(o.entry.ClockHz, "Hz"))
				}
				break
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Each arithmetic roof holds at the SM clock of a run: " + strings.Join(parts, ", ") + "."
}

func roofFact(value float64, unitName string) ncu.Fact {
	return ncu.Fact{Value: ncu.Metric{UnitName: unitName, Value: value, Measured: true}}
}
