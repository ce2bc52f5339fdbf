package boardchart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warpboard/views/format"
)

// Chart is a drawing of a board. The left side shows the best score over time, with a step for each record; the right
// side shows all entries. Both have the same logarithmic axis of scores. Invalid scores are omitted.
type Chart struct {
	RecordSteps []Step
	Dots        []Dot // all entries, best first
	Lines       []Line
}

// Step is a record: a score that was the best when it was set.
type Step struct {
	SetAt           time.Time
	ScoreNS         float64
	Name, URL       string
	ByOlderSoftware bool // measured with software that the board no longer ranks
}

// Dot is one entry, or several with almost the same score.
type Dot struct {
	ScoreNS    float64
	EntryCount int // number of entries
	Title, URL string
	IsOwn      bool
}

// Line is a score for comparison, drawn across the whole chart: a baseline, or the lowest score possible on the device.
type Line struct {
	ScoreNS float64
	Label   string
	IsLimit bool // a limit that no score can beat
}

// chartShapes has the shapes of a chart in two boxes of 100 × 100 that are stretched to any size: in the first, x is
// time; in the second, x is a column for dots; in both, y is the score. Dots and texts, which must keep their shape,
// are positioned in percent.
type chartShapes struct {
	CurvePath, AreaPath string
	OlderCurvePath      string // records by older software, up to the start of CurvePath
	Points              []recordPoint
	ScaleRows           []scaleRow // round scores at the left, smallest first
	LineMarks           []lineMark
	Dots                []drawnDot
	UnlinkedDotsPath    string // dots without links, because there are too many
	FirstTime, LastTime time.Time
	SameDay             bool // both ends are on the same day, so show times
	SameHour            bool // both ends are within an hour, so show seconds
	pointPlaces         []percentPosition
}

type (
	recordPoint struct {
		X, Y, Title, URL string
		Name             string // empty if there is no space
		// NameEndsAtPoint means that the name ends at the point, IsNameBelow that it is below the point.
		NameEndsAtPoint, IsNameBelow bool
		IsOlderSoftware              bool
		NameShownOnPhone             bool // also shown on a phone
	}
	scaleRow struct{ Path, At, Label string }
	lineMark struct {
		Path, At, Label string // the label is empty if there is no space
		IsLimit         bool
		// IsLabelAtEnd means that the label is at the right edge, IsLabelBelow that it is below its line.
		IsLabelAtEnd, IsLabelBelow bool
		ShownOnPhone               bool // also shown on a phone
	}
	drawnDot struct {
		X, Y, Title, URL string
		IsOwn            bool
	}
)

const (
	minScaleDecades       = 0.02 // minimum range of the scale in decades, so that noise does not look like progress
	scaleMarginShare      = 0.12 // margin above and below the scores, as a share of the scale
	chartLeft, chartRight = 2.0, 94.0
)

// drawChart computes the shapes of a chart; without any score it returns none.
func drawChart(p Chart) chartShapes {
	p.RecordSteps = slices.DeleteFunc(slices.Clone(p.RecordSteps),
		func(s Step) bool { return !isPositiveTime(s.ScoreNS) })
	p.Dots = slices.DeleteFunc(slices.Clone(p.Dots), func(d Dot) bool { return !isPositiveTime(d.ScoreNS) })
	p.Lines = slices.DeleteFunc(slices.Clone(p.Lines), func(l Line) bool { return !isPositiveTime(l.ScoreNS) })
	if len(p.RecordSteps) == 0 && len(p.Dots) == 0 && len(p.Lines) == 0 {
		return chartShapes{}
	}
	y := p.scale()
	d := chartShapes{ScaleRows: y.scaleRows()}
	d.traceRecords(p.RecordSteps, y)
	texts := newTextPlacer(d.pointPlaces)
	for _, l := range p.Lines {
		at := y.position(l.ScoreNS)
		m := lineMark{Path: fmt.Sprintf("M0 %.2fH100", at), At: percentText(at), IsLimit: l.IsLimit}
		m.Label, m.IsLabelAtEnd, m.IsLabelBelow, m.ShownOnPhone = texts.placeLineLabel(l.Label+", "+format.Nanoseconds(l.ScoreNS).String(), at)
		d.LineMarks = append(d.LineMarks, m)
	}
	for i, s := range slices.Backward(p.RecordSteps) { // latest first: their names choose positions first
		one := &d.Points[i]
		one.Name, one.NameEndsAtPoint, one.IsNameBelow, one.NameShownOnPhone = texts.placePointName(s.Name, d.pointPlaces[i], i == len(p.RecordSteps)-1)
	}
	d.scatterDots(p.Dots, y)
	return d
}

func isPositiveTime(ns float64) bool { return ns > 0 && !math.IsInf(ns, 0) }

func percentText(at float64) string { return fmt.Sprintf("%.2f%%", at) }

// scoreScale maps the logarithms of scores to vertical positions: 0 (top) for the largest, 100 (bottom) for the
// smallest.
type scoreScale struct{ low, high float64 }

func (p Chart) scale() scoreScale {
	s := scoreScale{math.Inf(1), math.Inf(-1)}
	add := func(ns float64) { s.low, s.high = min(s.low, math.Log10(ns)), max(s.high, math.Log10(ns)) }
	for _, step := range p.RecordSteps {
		add(step.ScoreNS)
	}
	for _, d := range p.Dots {
		add(d.ScoreNS)
	}
	for _, l := range p.Lines {
		add(l.ScoreNS)
	}
	margin := max((s.high-s.low)*scaleMarginShare, minScaleDecades)
	return scoreScale{s.low - margin, s.high + margin}
}

func (s scoreScale) position(ns float64) float64 {
	return 100 * (s.high - math.Log10(ns)) / (s.high - s.low)
}

func (s scoreScale) scaleRows() (rows []scaleRow) {
	for _, score := range roundScaleScores(math.Pow(10, s.low), math.Pow(10, s.high)) {
		y := s.position(score)
		rows = append(rows, scaleRow{Path: fmt.Sprintf("M0 %.2fH100", y), At: percentText(y), Label: roundTime(score)})
	}
	return rows
}

// traceRecords draws one step per record; the last step ends at the right edge.
func (d *chartShapes) traceRecords(steps []Step, scale scoreScale) {
	if len(steps) == 0 {
		return
	}
	d.FirstTime, d.LastTime = steps[0].SetAt, steps[len(steps)-1].SetAt
	d.SameDay = format.Day(d.FirstTime) == format.Day(d.LastTime)
	span := d.LastTime.Sub(d.FirstTime)
	d.SameHour = d.SameDay && len(steps) > 1 && span < time.Hour
	var curve, older strings.Builder
	d.Points = make([]recordPoint, len(steps))
	for i, s := range steps {
		x, y := chartLeft, scale.position(s.ScoreNS)
		if span > 0 {
			x += (chartRight - chartLeft) * min(max(float64(s.SetAt.Sub(d.FirstTime))/float64(span), 0), 1)
		}
		d.Points[i] = recordPoint{X: percentText(x), Y: percentText(y), URL: s.URL, IsOlderSoftware: s.ByOlderSoftware,
			Title: fmt.Sprintf("%s, %s, %s", format.Nanoseconds(s.ScoreNS), s.Name, format.DateMinute(s.SetAt))}
		d.pointPlaces = append(d.pointPlaces, percentPosition{x, y})
	}
	began := d.pointPlaces[len(d.pointPlaces)-1].x
	for i, p := range d.Points {
		line, x, y := &curve, strings.TrimSuffix(p.X, "%"), strings.TrimSuffix(p.Y, "%")
		if p.IsOlderSoftware {
			line = &older
		} else {
			began = min(began, d.pointPlaces[i].x)
		}
		if line.Len() == 0 {
			line.WriteString("M" + x + " " + y)
		} else {
			line.WriteString("H" + x + "V" + y)
		}
	}
	if older.Len() > 0 {
		d.OlderCurvePath = fmt.Sprintf("%sH%.2f", older.String(), began)
	}
	if curve.Len() > 0 {
		d.CurvePath = curve.String() + "H100"
		d.AreaPath = fmt.Sprintf("%sV100H%.2fZ", d.CurvePath, began)
	}
}

const (
	dotColumns = 32  // number of columns for dots
	dotHeight  = 5.6 // height of a dot, in percent of the drawing
	// MaxLinkedDots limits the dots with a link and a label: the first ones, and those of the viewer. A board with many
	// entries has more dots than a pointer can distinguish, and each link adds 25 bytes to a compressed page.
	MaxLinkedDots = 24
)

// dotSpot is the position of a dot: its column and its height.
type dotSpot struct {
	column int
	y      float64
	dot    *Dot // nil for a dot without a link
}

// scatterDots puts each dot into the first column that is free at its height, so that many dots with similar scores
// extend to the right. Dots without a free column are omitted.
func (d *chartShapes) scatterDots(dots []Dot, scale scoreScale) {
	spots, used, links := layOutDots(dots, scale), 8, 0
	for _, s := range spots {
		for s.column >= used {
			used *= 2
		}
	}
	var rest strings.Builder
	var last percentPosition
	for _, s := range spots {
		x := 100 * (float64(s.column) + 0.5) / float64(used)
		if s.dot == nil || s.dot.URL == "" || links >= MaxLinkedDots && !s.dot.IsOwn {
			// The SVG path reaches each dot by a relative move from the last one: crowded columns repeat the same
			// moves, so they compress well.
			to := percentPosition{math.Round(10*x) / 10, math.Round(10*s.y) / 10}
			fmt.Fprintf(&rest, "m%.1f %.1fh0", to.x-last.x, to.y-last.y)
			last = to
			continue
		}
		links++
		d.Dots = append(d.Dots, drawnDot{
			X:     percentText(x),
			Y:     percentText(s.y),
			Title: s.dot.Title,
			URL:   s.dot.URL,
			IsOwn: s.dot.IsOwn,
		})
	}
	d.UnlinkedDotsPath = rest.String()
}

func layOutDots(dots []Dot, scale scoreScale) (spots []dotSpot) {
	var free [dotColumns]float64 // y down to which each column has dots
	for i := range free {
		free[i] = math.Inf(1)
	}
	for i, one := range dots {
		y := scale.position(one.ScoreNS)
		for k := range min(one.EntryCount, dotColumns) {
			lane := slices.IndexFunc(free[:], func(taken float64) bool { return taken-y >= dotHeight })
			if lane < 0 {
				break
			}
			free[lane] = y
			s := dotSpot{column: lane, y: y}
			if k == 0 {
				s.dot = &dots[i]
			}
			spots = append(spots, s)
		}
	}
	return spots
}
