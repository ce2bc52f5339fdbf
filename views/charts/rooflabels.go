package charts

import (
	"cmp"
	"math"
	"slices"
)

// labelPlacer finds positions for the names of the dots of a roofline, where no name covers a roof, a dot, or another
// name. A name without a free position is only in the tooltip of the dot and in the table.
type labelPlacer struct {
	drawingFrame
	occupied []area
}

type area struct{ x1, y1, x2, y2 float64 }

func (a area) overlaps(b area) bool {
	return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2
}

// hasEndNear reports whether an area begins or ends within 10 units of x, the position of a dot. A reader would not
// relate a name farther away to the dot.
func (a area) hasEndNear(x float64) bool { return a.x1 <= x+10 && x-10 <= a.x2 }

// letterWidth and lineHeight are the size of a letter, rounded up because fonts differ.
const letterWidth, lineHeight = 7.0, 13.0

// area returns the area of a label.
func (l chartLabel) area() area {
	width := letterWidth * float64(len([]rune(l.text)))
	left := l.x
	switch l.textAnchor {
	case "end":
		left -= width
	case "middle":
		left -= width / 2
	}
	return area{left, l.y - lineHeight + 3, left + width, l.y + 3}
}

func (l *labelPlacer) occupyArea(a area) { l.occupied = append(l.occupied, a) }

// areasAlongLine returns small areas along a line, or one area for a horizontal line. wide and high are half of the
// width and height of each.
func areasAlongLine(s lineSegment, wide, high float64) (steps []area) {
	if s.y1 == s.y2 {
		return []area{{min(s.x1, s.x2) - wide, s.y1 - high, max(s.x1, s.x2) + wide, s.y1 + high}}
	}
	n := math.Max(1, math.Hypot(s.x2-s.x1, s.y2-s.y1)/8)
	for i := 0.0; i <= n; i++ {
		x, y := s.x1+(s.x2-s.x1)*i/n, s.y1+(s.y2-s.y1)*i/n
		steps = append(steps, area{x - wide, y - high, x + wide, y + high})
	}
	return steps
}

func (l *labelPlacer) occupyLine(s lineSegment) {
	l.occupied = append(l.occupied, areasAlongLine(s, 3, 2)...)
}

func (s slope) isDrawn() bool { return s.line != lineSegment{} }

// labelAreas returns the areas of the rotated name of a slope.
func (s slope) labelAreas() []area {
	if s.label.text == "" {
		return nil
	}
	turned, half := s.angle*math.Pi/180, letterWidth*float64(len([]rune(s.label.text)))/2
	middle := s.labelDistance - 4 // perpendicular distance from the line to the middle of the letters
	x, y := s.label.x-middle*math.Sin(turned), s.label.y+middle*math.Cos(turned)
	dx, dy := half*math.Cos(turned), half*math.Sin(turned)
	return areasAlongLine(lineSegment{x - dx, y - dy, x + dx, y + dy}, 4, 5)
}

// placeSlope finds a position for the name of a slope along its line: the intended one, otherwise nearer to an end or
// on the other side. Without a free position the name is only in the table.
func (l *labelPlacer) placeSlope(s *slope) {
	side := s.labelDistance
	for _, off := range []float64{0, -0.08, 0.08, -0.16, 0.16, -0.24, 0.24, -0.32, 0.32} {
		at := s.labelPosition + off
		for _, s.labelDistance = range []float64{side, 9 - side} {
			s.label.x, s.label.y = (1-at)*s.line.x1+at*s.line.x2, (1-at)*s.line.y1+at*s.line.y2
			if covered := s.labelAreas(); !slices.ContainsFunc(covered, func(a area) bool { return !l.isFree(a) }) {
				l.occupied = append(l.occupied, covered...)
				return
			}
		}
	}
	s.label.text = ""
}

// placeDotLabel returns the label of a dot: next to it, or at most reach above or below it. The text is shortened if
// necessary, and "" if no position is free.
func (l *labelPlacer) placeDotLabel(x, y, reach float64, text string) chartLabel {
	for _, most := range []int{20, 14, 10} {
		short := shortenName(text, most)
		for _, below := range []float64{4, -9, 19, -24, 34, -40, 50} {
			for _, try := range []chartLabel{
				{x + 10, y + below, short, "start"}, {x - 10, y + below, short, "end"},
				{x, y + below, short, "middle"}, {l.right, y + below, short, "end"},
			} {
				if math.Abs(below) <= reach && try.area().hasEndNear(x) && l.isFree(try.area()) {
					l.occupyArea(try.area())
					return try
				}
			}
		}
	}
	return chartLabel{}
}

// placeCeiling finds a position for the name of a roof: above its right end, otherwise farther left between roofs and
// dots, or one or two lines higher; without the number if it would reach a memory roof. The name is beyond the ends of
// the roof only if no other position is free.
func (l *labelPlacer) placeCeiling(c ceiling, slopes []slope) chartLabel {
	crossed := func(a area) bool {
		return slices.ContainsFunc(slopes, func(s slope) bool {
			return s.isDrawn() &&
				slices.ContainsFunc(areasAlongLine(s.line, 1, 1), a.overlaps)
		})
	}
	for _, left := range []float64{c.line.x1, l.left} {
		for _, text := range []string{c.label.text, c.kind} {
			for _, higher := range []float64{0, lineHeight, 2 * lineHeight} {
				at := c.label
				at.text, at.y = text, at.y-higher
				for a := at.area(); (a.x1+a.x2)/2 >= left; a = at.area() {
					if l.isFree(a) && !crossed(a) {
						l.occupyArea(a)
						return at
					}
					at.x -= 2 * letterWidth
				}
			}
		}
	}
	return chartLabel{}
}

// isFree reports whether an area is inside the drawing and covers nothing.
func (l *labelPlacer) isFree(a area) bool {
	inside := a.x1 >= l.left && a.x2 <= l.right+4 && a.y1 >= l.top && a.y2 <= l.bottom
	return inside && !slices.ContainsFunc(l.occupied, a.overlaps)
}

// nameDots sets the names, first those of the selected and the pinned kernel, then those of other kernels and entries.
func (c *roofChart) nameDots() {
	l := &labelPlacer{drawingFrame: c.drawingFrame}
	// The lowest roof is first: the name of a roof just above it is moved up.
	slices.SortStableFunc(c.ceilings, func(a, b ceiling) int { return cmp.Compare(b.line.y1, a.line.y1) })
	for _, d := range c.dots {
		l.occupyArea(area{d.x - 6, d.y - 6, d.x + 6, d.y + 6})
	}
	for _, o := range c.shownOtherDots() {
		l.occupyArea(area{o.x - 5, o.y - 5, o.x + 5, o.y + 5})
	}
	for i := range c.ceilings {
		c.ceilings[i].label = l.placeCeiling(c.ceilings[i], c.slopes)
	}
	for _, r := range c.ceilings {
		l.occupyLine(r.line)
	}
	for _, sl := range c.slopes {
		if sl.dotX > 0 {
			l.occupyArea(area{sl.dotX - 5, sl.dotY - 5, sl.dotX + 5, sl.dotY + 5})
		}
	}
	for i := range c.slopes {
		if c.slopes[i].isDrawn() {
			l.placeSlope(&c.slopes[i])
		}
	}
	for _, sl := range c.slopes {
		if sl.isDrawn() {
			l.occupyLine(sl.line)
		}
	}
	reach := map[bool]float64{true: 50, false: 19} // maximum distance; true is for selected and pinned kernels
	for _, first := range []bool{true, false} {
		for i := range c.dots {
			if d := &c.dots[i]; (d.isSelected || d.isPinned) == first {
				d.label = l.placeDotLabel(d.x, d.y, reach[first], cmp.Or(d.name, d.kernel.ShortName))
			}
		}
	}
	for i := range c.slopes {
		if sl := &c.slopes[i]; sl.dotX > 0 {
			sl.dotLabel = l.placeDotLabel(sl.dotX, sl.dotY, reach[true], sl.memoryLevel)
		}
	}
	for i := range c.otherDots {
		o := &c.otherDots[i]
		if !o.isInZoom {
			continue
		}
		o.label = l.placeDotLabel(o.x, o.y, reach[false], o.entry.Name)
	}
}
