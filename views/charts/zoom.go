package charts

import (
	"fmt"
	"math"
)

// maxZoom limits how often the zoom of a roofline can halve the range of the axes.
const maxZoom = 4

// Zoom is the visible part of a roofline: X and Y are its middle, in thousandths of the whole; Level is how often each
// axis is halved.
type Zoom struct{ Level, X, Y int }

// readZoom parses a text that Zoom.text returned; any other text gives the whole roofline.
func readZoom(text string) (z Zoom) {
	if n, err := fmt.Sscanf(text, "%d,%d,%d", &z.Level, &z.X, &z.Y); n != 3 || err != nil || z.Level < 1 || z.Level > maxZoom {
		return Zoom{}
	}
	return z.moved(0, 0)
}

func (z Zoom) text() string { return fmt.Sprintf("%d,%d,%d", z.Level, z.X, z.Y) }

// half returns half of an axis's range, in thousandths.
func (z Zoom) half() int { return 500 >> z.Level }

// moved returns the zoom moved by half of its range per step, inside the whole.
func (z Zoom) moved(right, up int) Zoom {
	inside := func(at int) int { return min(max(at, z.half()), 1000-z.half()) }
	z.X, z.Y = inside(z.X+right*z.half()), inside(z.Y+up*z.half())
	return z
}

// at returns the zoom at another level, with the same middle.
func (z Zoom) at(level int) Zoom {
	if level == 0 {
		return Zoom{}
	}
	z.Level = level
	return z.moved(0, 0)
}

// part returns the range of an axis around a middle.
func (z Zoom) part(middle int, from, to float64) (float64, float64) {
	if z.Level == 0 {
		return from, to
	}
	size := (to - from) / math.Pow(2, float64(z.Level))
	begin := clamp(from+(to-from)*float64(middle)/1000-size/2, from, to-size)
	return begin, begin + size
}

// zoomStep is a link next to a roofline; if its target is empty, it is only text.
type zoomStep struct {
	id, text, help string
	target         Zoom
	disabled       bool
}

// steps returns the links for zooming in and out, and for moving.
func (z Zoom) steps() []zoomStep {
	list := []zoomStep{
		{"zoom-in", "Zoom in", "", z.at(min(z.Level+1, maxZoom)), z.Level == maxZoom},
		{"zoom-out", "Zoom out", "", z.at(max(z.Level-1, 0)), z.Level == 0},
		{"zoom-left", "←", "Move left", z.moved(-1, 0), false}, {"zoom-right", "→", "Move right", z.moved(1, 0), false},
		{"zoom-up", "↑", "Move up", z.moved(0, 1), false}, {"zoom-down", "↓", "Move down", z.moved(0, -1), false},
		{"zoom-whole", "Reset", "Reset the zoom", Zoom{}, z.Level == 0},
	}
	for i := range list[2:6] {
		step := &list[2+i]
		step.disabled = z.Level == 0 || step.target == z
	}
	return list
}
