package boardchart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warpboard/views/format"
)

// Board is a drawing of a board. The left side shows the best score over time, with a step for each record; the right
// side shows all entries. Both have the same logarithmic axis of scores. Invalid scores are omitted.
type Board struct {
	Steps []Step
	Dots  []Dot // all entries, best first
	Lines []Line
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
	Size       int // number of entries
	Title, URL string
	IsOwn      bool
}

// Line is a score for comparison, drawn across the whole chart: a baseline, or the lowest score possible on the device.
type Line struct {
	ScoreNS float64
	Label   string
	IsLimit bool // a limit that no score can beat
}

// drawing has the shapes of a chart in two boxes of 100 × 100 that are stretched to any size: in the first, x is time;
// in the second, x is a column for dots; in both, y is the score. Dots and texts, which must keep their shape, are
// positioned in percent.
type drawing struct {
	Curve, Area  string
	OlderCurve   string // curve of older software, up to the start of the other
	Points       []point
	Rows         []row // round scores at the left, smallest first
	Marks        []mark
	Dots         []dot
	UnlinkedDots string // dots without links, because there are too many
	First, Last  time.Time
	SameDay      bool // both ends are on the same day, so show times
	SameHour     bool // both ends are within an hour, so show seconds
	places       []place
}

type (
	point struct {
		X, Y, Title, URL string
		Name             string // empty if there is no space
		End, Below       bool   // End: the name ends at the point; Below: it is below the point
		Older            bool
		Phone            bool // also shown on a phone
	}
	row  struct{ Path, At, Label string }
	mark struct {
		Path, At, Label string // the label is empty if there is no space
		Limit           bool
		End, Below      bool // End: the label is at the right edge; Below: it is below its line
		Phone           bool // also shown on a phone
	}
	dot struct {
		X, Y, Title, URL string
		Mine             bool
	}
)

const (
	minScaleRange         = 0.02 // minimum range of the scale in decades, so that noise does not look like progress
	chartMargin           = 0.12 // of the scale, above and below
	chartLeft, chartRight = 2.0, 94.0
)

// draw computes the shapes of a chart; without any score it returns none.
func draw(p Board) drawing {
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return !isTime(s.ScoreNS) })
	p.Dots = slices.DeleteFunc(slices.Clone(p.Dots), func(d Dot) bool { return !isTime(d.ScoreNS) })
	p.Lines = slices.DeleteFunc(slices.Clone(p.Lines), func(l Line) bool { return !isTime(l.ScoreNS) })
	if len(p.Steps) == 0 && len(p.Dots) == 0 && len(p.Lines) == 0 {
		return drawing{}
	}
	y := p.scale()
	d := drawing{Rows: y.rows()}
	d.trace(p.Steps, y)
	texts := newTexts(d.places)
	for _, l := range p.Lines {
		at := y.position(l.ScoreNS)
		m := mark{Path: fmt.Sprintf("M0 %.2fH100", at), At: percent(at), Limit: l.IsLimit}
		m.Label, m.End, m.Below, m.Phone = texts.line(l.Label+", "+format.Nanoseconds(l.ScoreNS).String(), at)
		d.Marks = append(d.Marks, m)
	}
	for i, s := range slices.Backward(p.Steps) { // latest first, because they choose places for their names first
		one := &d.Points[i]
		one.Name, one.End, one.Below, one.Phone = texts.point(s.Name, d.places[i], i == len(p.Steps)-1)
	}
	d.scatter(p.Dots, y)
	return d
}

func isTime(ns float64) bool { return ns > 0 && !math.IsInf(ns, 0) }

func percent(at float64) string { return fmt.Sprintf("%.2f%%", at) }

// scoreScale maps logarithms of scores to 100 for the smallest and 0 for the largest.
type scoreScale struct{ low, high float64 }

func (p Board) scale() scoreScale {
	s := scoreScale{math.Inf(1), math.Inf(-1)}
	add := func(ns float64) { s.low, s.high = min(s.low, math.Log10(ns)), max(s.high, math.Log10(ns)) }
	for _, step := range p.Steps {
		add(step.ScoreNS)
	}
	for _, d := range p.Dots {
		add(d.ScoreNS)
	}
	for _, l := range p.Lines {
		add(l.ScoreNS)
	}
	margin := max((s.high-s.low)*chartMargin, minScaleRange)
	return scoreScale{s.low - margin, s.high + margin}
}

func (s scoreScale) position(ns float64) float64 {
	return 100 * (s.high - math.Log10(ns)) / (s.high - s.low)
}

func (s scoreScale) rows() (rows []row) {
	for _, score := range chartScores(math.Pow(10, s.low), math.Pow(10, s.high)) {
		y := s.position(score)
		rows = append(rows, row{Path: fmt.Sprintf("M0 %.2fH100", y), At: percent(y), Label: roundTime(score)})
	}
	return rows
}

// trace draws one step per record; the last step ends at the right edge.
func (d *drawing) trace(steps []Step, scale scoreScale) {
	if len(steps) == 0 {
		return
	}
	d.First, d.Last = steps[0].SetAt, steps[len(steps)-1].SetAt
	d.SameDay = format.Day(d.First) == format.Day(d.Last)
	span := d.Last.Sub(d.First)
	d.SameHour = d.SameDay && len(steps) > 1 && span < time.Hour
	var curve, older strings.Builder
	d.Points = make([]point, len(steps))
	for i, s := range steps {
		x, y := chartLeft, scale.position(s.ScoreNS)
		if span > 0 {
			x += (chartRight - chartLeft) * min(max(float64(s.SetAt.Sub(d.First))/float64(span), 0), 1)
		}
		d.Points[i] = point{X: percent(x), Y: percent(y), URL: s.URL, Older: s.ByOlderSoftware,
			Title: fmt.Sprintf("%s, %s, %s", format.Nanoseconds(s.ScoreNS), s.Name, format.Minute(s.SetAt))}
		d.places = append(d.places, place{x, y})
	}
	began := d.places[len(d.places)-1].x
	for i, p := range d.Points {
		line, x, y := &curve, strings.TrimSuffix(p.X, "%"), strings.TrimSuffix(p.Y, "%")
		if p.Older {
			line = &older
		} else {
			began = min(began, d.places[i].x)
		}
		if line.Len() == 0 {
			line.WriteString("M" + x + " " + y)
		} else {
			line.WriteString("H" + x + "V" + y)
		}
	}
	if older.Len() > 0 {
		d.OlderCurve = fmt.Sprintf("%sH%.2f", older.String(), began)
	}
	if curve.Len() > 0 {
		d.Curve = curve.String() + "H100"
		d.Area = fmt.Sprintf("%sV100H%.2fZ", d.Curve, began)
	}
}

const (
	lanes     = 32  // of a warp
	dotHeight = 5.6 // of the drawing
	// MaxLinks limits the dots with a link and a label: the first ones, and those of the viewer. A board with many
	// entries has more dots than a pointer can distinguish, and each link adds 25 bytes to a compressed page.
	MaxLinks = 24
)

// spot is the position of a dot: its column and its height.
type spot struct {
	lane int
	y    float64
	dot  *Dot // nil for a dot without a link
}

// scatter puts each dot into the first column that is free at its height, so that many dots with similar scores extend
// to the right. Dots without a free column are omitted.
func (d *drawing) scatter(dots []Dot, scale scoreScale) {
	spots, used, links := layOutDots(dots, scale), 8, 0
	for _, s := range spots {
		for s.lane >= used {
			used *= 2
		}
	}
	var rest strings.Builder
	var last place
	for _, s := range spots {
		x := 100 * (float64(s.lane) + 0.5) / float64(used)
		if s.dot == nil || s.dot.URL == "" || links >= MaxLinks && !s.dot.IsOwn {
			// A move from the last dot: crowded lanes repeat the same ones, so that they compress well.
			to := place{math.Round(10*x) / 10, math.Round(10*s.y) / 10}
			fmt.Fprintf(&rest, "m%.1f %.1fh0", to.x-last.x, to.y-last.y)
			last = to
			continue
		}
		links++
		d.Dots = append(d.Dots, dot{
			X:     percent(x),
			Y:     percent(s.y),
			Title: s.dot.Title,
			URL:   s.dot.URL,
			Mine:  s.dot.IsOwn,
		})
	}
	d.UnlinkedDots = rest.String()
}

func layOutDots(dots []Dot, scale scoreScale) (spots []spot) {
	var free [lanes]float64 // height down to which each lane is taken
	for i := range free {
		free[i] = math.Inf(1)
	}
	for i, one := range dots {
		y := scale.position(one.ScoreNS)
		for k := range min(one.Size, lanes) {
			lane := slices.IndexFunc(free[:], func(taken float64) bool { return taken-y >= dotHeight })
			if lane < 0 {
				break
			}
			free[lane] = y
			s := spot{lane: lane, y: y}
			if k == 0 {
				s.dot = &dots[i]
			}
			spots = append(spots, s)
		}
	}
	return spots
}
