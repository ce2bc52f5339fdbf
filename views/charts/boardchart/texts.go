package boardchart

import "slices"

// percentPosition is a position in percent of the width and height of a drawing.
type percentPosition struct{ x, y float64 }

// area is the rectangle that a text or a point covers, in pixels.
type area struct{ x1, y1, x2, y2 float64 }

func (a area) overlaps(b area) bool { return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2 }

// canvas is the drawing for one class of window (wide, or a phone), in pixels of the smallest window of that class.
type canvas struct {
	width, height         float64
	pointAreas, textAreas []area
}

const (
	wideWindowWidth, phoneWindowWidth = 450.0, 160.0
	chartHeight                       = 128.0
	// letterWidth is the width of a letter and lineHeight the height of a text, rounded up because fonts differ.
	letterWidth, lineHeight = 7.0, 16.0
	pointSize               = 4.0
)

// textPlacer finds positions where the texts of a drawing do not overlap, in a wide window and on a phone.
type textPlacer struct{ canvases [2]canvas }

func newTextPlacer(points []percentPosition) *textPlacer {
	t := &textPlacer{canvases: [2]canvas{{width: wideWindowWidth, height: chartHeight},
		{width: phoneWindowWidth, height: chartHeight}}}
	for i := range t.canvases {
		canvas := &t.canvases[i]
		for _, p := range points {
			x, y := p.x*canvas.width/100, p.y*canvas.height/100
			canvas.pointAreas = append(canvas.pointAreas,
				area{x - pointSize, y - pointSize, x + pointSize, y + pointSize})
		}
	}
	return t
}

// textSpot is a possible position of a text: right or left of a point (place), at a vertical distance.
type textSpot struct {
	place                percentPosition
	endsAtPlace, isBelow bool
	dx, dy               float64 // pixels between the point and the nearest edges of the text
}

func (s textSpot) area(text string, canvas canvas) area {
	x, y, wide := s.place.x*canvas.width/100+s.dx, s.place.y*canvas.height/100-s.dy-lineHeight,
		letterWidth*float64(len([]rune(text)))
	if s.endsAtPlace {
		x = s.place.x*canvas.width/100 - s.dx - wide
	}
	if s.isBelow {
		y = s.place.y*canvas.height/100 + s.dy
	}
	return area{x, y, x + wide, y + lineHeight}
}

// placeLineLabel returns where to write the name of a line: at its left end above or below, otherwise at its right end.
// If nothing is free, the text may cover a point of the curve.
func (t *textPlacer) placeLineLabel(text string, y float64) (shown string, end, below, phone bool) {
	var spots []textSpot
	for _, end := range []bool{false, true} {
		at := percentPosition{0.5, y}
		if end {
			at.x = 99.5
		}
		spots = append(spots, textSpot{place: at, endsAtPlace: end, dy: 1},
			textSpot{place: at, endsAtPlace: end, isBelow: true, dy: 2})
	}
	return t.firstFreeSpot(text, spots, true)
}

// placePointName returns where to write the name of a point: above the step that begins there, otherwise below the step
// that ends there. On a phone only the name of the last point is written.
func (t *textPlacer) placePointName(text string, at percentPosition, last bool) (shown string, end, below, phone bool) {
	return t.firstFreeSpot(text, []textSpot{
		{place: at, dx: 4, dy: 4}, {place: at, dx: 6, dy: 5, endsAtPlace: true, isBelow: true},
		{place: at, dx: 4, dy: 5, isBelow: true}, {place: at, dx: 6, dy: 4, endsAtPlace: true},
	}, last)
}

// firstFreeSpot returns the first free position, in both sizes of window if possible and required; shown is "" if there
// is none.
func (t *textPlacer) firstFreeSpot(text string, spots []textSpot, onPhone bool) (shown string, end, below, phone bool) {
	for _, try := range []struct{ phone, overPoints bool }{{true, false}, {true, true}, {false, false}, {false, true}} {
		if try.phone && !onPhone {
			continue
		}
		for _, s := range spots {
			if !t.canvases[0].isFree(s.area(text, t.canvases[0]), try.overPoints) || try.phone && !t.canvases[1].isFree(s.area(text, t.canvases[1]), try.overPoints) {
				continue
			}
			t.occupy(text, s, try.phone)
			return text, s.endsAtPlace, s.isBelow, try.phone
		}
	}
	return "", false, false, false
}

func (t *textPlacer) occupy(text string, s textSpot, phone bool) {
	for i := range t.canvases {
		if i == 0 || phone {
			t.canvases[i].textAreas = append(t.canvases[i].textAreas, s.area(text, t.canvases[i]))
		}
	}
}

// isFree reports whether an area is inside the drawing and covers no text, and no point unless overPoints is set.
func (canvas canvas) isFree(a area, overPoints bool) bool {
	return a.x1 >= 0 && a.x2 <= canvas.width && !slices.ContainsFunc(canvas.textAreas, a.overlaps) && (overPoints || !slices.ContainsFunc(canvas.pointAreas, a.overlaps))
}
