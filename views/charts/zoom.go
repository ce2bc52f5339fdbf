package charts

import (
	"fmt"
	"math"
)

// maxZoom limits how often the zoom of a roofline can halve the range of the axes.
const maxZoom = 4

// Zoom is the visible part of a roofline: MiddleX and MiddleY are its middle, in thousandths of the whole; Level counts
// the times that each axis is halved.
type Zoom struct{ Level, MiddleX, MiddleY int }

// readZoom parses a text that Zoom.queryText returned; any other text gives the whole roofline.
func readZoom(text string) (z Zoom) {
	if n, err := fmt.Sscanf(text, "%d,%d,%d", &z.Level, &z.MiddleX, &z.MiddleY); n != 3 || err != nil || z.Level < 1 || z.Level > maxZoom {
		return Zoom{}
	}
	return z.movedBy(0, 0)
}

func (z Zoom) queryText() string { return fmt.Sprintf("%d,%d,%d", z.Level, z.MiddleX, z.MiddleY) }

// halfRange returns half of an axis's range, in thousandths.
func (z Zoom) halfRange() int { return 500 >> z.Level }

// movedBy returns the zoom moved by steps to the right and up, each half of the visible range. It stays inside the
// roofline.
func (z Zoom) movedBy(right, up int) Zoom {
	inside := func(at int) int { return min(max(at, z.halfRange()), 1000-z.halfRange()) }
	z.MiddleX, z.MiddleY = inside(z.MiddleX+right*z.halfRange()), inside(z.MiddleY+up*z.halfRange())
	return z
}

// atLevel returns the zoom at another level, with the same middle.
func (z Zoom) atLevel(level int) Zoom {
	if level == 0 {
		return Zoom{}
	}
	z.Level = level
	return z.movedBy(0, 0)
}

// rangeAround returns the range of an axis around a middle.
func (z Zoom) rangeAround(middle int, from, to float64) (float64, float64) {
	if z.Level == 0 {
		return from, to
	}
	size := (to - from) / math.Pow(2, float64(z.Level))
	begin := clamp(from+(to-from)*float64(middle)/1000-size/2, from, to-size)
	return begin, begin + size
}

// zoomLink is a link next to a roofline; if its target is empty, it is only text.
type zoomLink struct {
	id, text, helpText string
	targetZoom         Zoom
	disabled           bool
}

// zoomLinks returns the links for zooming in and out, and for moving.
func (z Zoom) zoomLinks() []zoomLink {
	list := []zoomLink{
		{"zoom-in", "Zoom in", "", z.atLevel(min(z.Level+1, maxZoom)), z.Level == maxZoom},
		{"zoom-out", "Zoom out", "", z.atLevel(max(z.Level-1, 0)), z.Level == 0},
		{"zoom-left", "←", "Move left", z.movedBy(-1, 0), false},
		{"zoom-right", "→", "Move right", z.movedBy(1, 0), false},
		{"zoom-up", "↑", "Move up", z.movedBy(0, 1), false}, {"zoom-down", "↓", "Move down", z.movedBy(0, -1), false},
		{"zoom-whole", "Reset", "Reset the zoom", Zoom{}, z.Level == 0},
	}
	for i := range list[2:6] {
		step := &list[2+i]
		step.disabled = z.Level == 0 || step.targetZoom == z
	}
	return list
}
