package charts

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// labels finds places for the names of a roofline's dots, so that none covers a roof, a dot or another
// name. A dot whose name fits nowhere keeps it in its title and in the table.
type labels struct{ taken []area }

type area struct{ x1, y1, x2, y2 float64 }

func (a area) overlaps(b area) bool {
	return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2
}

// near reports whether an area begins or ends close to a dot at x: a name that stands apart is nobody's.
func (a area) near(x float64) bool { return a.x1 <= x+10 && x-10 <= a.x2 }

// letter is the width of a letter and line the height of a text, generously: fonts differ.
const letter, line = 7.0, 13.0

// area is what a text on its baseline covers.
func (l label) area() area {
	width := letter * float64(len([]rune(l.text)))
	left := l.x
	switch l.anchor {
	case "end":
		left -= width
	case "middle":
		left -= width / 2
	}
	return area{left, l.y - line + 3, left + width, l.y + 3}
}

func (l *labels) take(a area) { l.taken = append(l.taken, a) }

// takeLine takes a line as small steps, which follow it where it is not level.
func (l *labels) takeLine(s segment) {
	steps := math.Max(1, math.Hypot(s.x2-s.x1, s.y2-s.y1)/8)
	for i := 0.0; i <= steps; i++ {
		x, y := s.x1+(s.x2-s.x1)*i/steps, s.y1+(s.y2-s.y1)*i/steps
		l.take(area{x - 3, y - 2, x + 3, y + 2})
	}
}

// takeSlope takes the roof of a level of memory; its turned label is taken as the line that it runs along.
func (l *labels) takeSlope(s slope) {
	l.takeLine(s.line)
	turned, half := s.turn*math.Pi/180, letter*float64(len([]rune(s.label.text)))/2
	dx, dy := half*math.Cos(turned), half*math.Sin(turned)
	middle := s.side - math.Copysign(3, s.side)
	l.takeLine(segment{s.label.x - dx, s.label.y - dy + middle, s.label.x + dx, s.label.y + dy + middle})
}

// place returns the label of a dot: beside it, else above or below within reach, shortened where it would
// not fit. It is empty when nothing is free.
func (l *labels) place(x, y, reach float64, text string) label {
	for _, most := range []int{20, 14, 10} {
		short := clip(text, most)
		for _, below := range []float64{4, -9, 19, -24, 34, -40, 50} {
			for _, try := range []label{
				{x + 10, y + below, short, "start"}, {x - 10, y + below, short, "end"},
				{x, y + below, short, "middle"}, {roofRight, y + below, short, "end"},
			} {
				if math.Abs(below) <= reach && try.area().near(x) && l.free(try.area()) {
					l.take(try.area())
					return try
				}
			}
		}
	}
	return label{}
}

// placeCeiling writes a roof's name at its right end, or farther left where roofs lie close.
func (l *labels) placeCeiling(at label) label {
	width := at.area().x2 - at.area().x1
	for range 3 {
		if l.free(at.area()) {
			l.take(at.area())
			return at
		}
		at.x -= width
	}
	return label{}
}

// free reports whether an area lies inside the drawing and covers nothing.
func (l *labels) free(a area) bool {
	inside := a.x1 >= roofLeft && a.x2 <= roofRight+4 && a.y1 >= roofTop && a.y2 <= roofBottom
	return inside && !slices.ContainsFunc(l.taken, a.overlaps)
}

// nameDots places the names: the chosen kernel's first, then those of the other kernels and entries.
func (c *roofChart) nameDots() {
	l := &labels{}
	for i := range c.ceilings {
		c.ceilings[i].label = l.placeCeiling(c.ceilings[i].label)
	}
	for _, r := range c.ceilings {
		l.takeLine(r.line)
	}
	for _, sl := range c.slopes {
		l.takeSlope(sl)
	}
	for _, d := range c.dots {
		l.take(area{d.x - 6, d.y - 6, d.x + 6, d.y + 6})
	}
	for _, o := range c.others {
		l.take(area{o.x - 5, o.y - 5, o.x + 5, o.y + 5})
	}
	reach := map[bool]float64{true: 50, false: 19} // the chosen kernel's name may stand farther off
	for _, chosen := range []bool{true, false} {
		for i := range c.dots {
			if d := &c.dots[i]; d.chosen == chosen {
				d.label = l.place(d.x, d.y, reach[chosen], cmp.Or(d.name, d.kernel.Short))
			}
		}
	}
	for i := range c.slopes {
		if sl := &c.slopes[i]; sl.x > 0 {
			l.take(area{sl.x - 5, sl.y - 5, sl.x + 5, sl.y + 5})
			sl.name = l.place(sl.x, sl.y, reach[true], strings.Fields(sl.label.text)[0])
		}
	}
	for i := range c.others {
		o := &c.others[i]
		o.label = l.place(o.x, o.y, reach[false], o.dot.Name)
	}
}
