package views

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"warpboard/models/events"
	"warpboard/views/format"
)

// SuitePage compares entrants on the boards of a set of tasks.
type SuitePage struct {
	Page
	Path                string // address of the page without a query
	ParentCrumb         crumb  // link to the page of the set of tasks: a tag or an event
	Suite               events.Suite
	FirstRow, SecondRow *events.SuiteRow // shown side by side; nil for none
}

// SetParent sets the link to the page of the set of tasks: a tag or an event.
func (p *SuitePage) SetParent(label string, to templ.SafeURL) { p.ParentCrumb = crumb{label, to} }

// TagSuiteURL returns the address of the suite of a tag.
func TagSuiteURL(tag string) string { return string(CollectionURL(tag)) + "/suite" }

// EventSuiteURL returns the address of an event's suite.
func EventSuiteURL(slug string) string { return string(EventPartURL(slug, "suite")) }

// EntrantKey returns the text for an entrant in the address of a suite.
func EntrantKey(e events.Entrant) string {
	if e.UserID == 0 {
		return "team-" + strconv.FormatInt(e.TeamID, 10)
	}
	return strconv.FormatInt(e.UserID, 10)
}

// pageURL returns the address of the page with changes to its query: keys and values; an empty value removes a key.
func (p SuitePage) pageURL(suffix string, changes ...string) string {
	q := url.Values{}
	set := func(key, value string) {
		if q.Del(key); value != "" {
			q.Set(key, value)
		}
	}
	if len(p.Suite.Devices) > 1 {
		set("device", p.Suite.Device)
	}
	if len(p.Suite.BaselineNames) > 1 {
		set("baseline", p.Suite.BaselineName)
	}
	for name, row := range map[string]*events.SuiteRow{"a": p.FirstRow, "b": p.SecondRow} {
		if row != nil && suffix == "" {
			set(name, EntrantKey(row.Entrant))
		}
	}
	for i := 0; i < len(changes); i += 2 {
		set(changes[i], changes[i+1])
	}
	if len(q) == 0 {
		return p.Path + suffix
	}
	return p.Path + suffix + "?" + q.Encode()
}

// boardsSentence describes the boards in a sentence.
func (p SuitePage) boardsSentence() string {
	text := format.Plural(len(p.Suite.Boards), "task", "tasks") + " on " + p.Suite.Device
	switch n := p.Suite.ComparedBoards; {
	case p.Suite.BaselineName == "":
		return text + ". No board has a baseline yet."
	case n == len(p.Suite.Boards):
		return text + ", compared with the baseline " + p.Suite.BaselineName
	default:
		return text + fmt.Sprintf(", of which %d have the baseline %s", n, p.Suite.BaselineName)
	}
}

// maxSuiteRows limits the entrants on the page.
const maxSuiteRows = 50

func (p SuitePage) shownRows() []events.SuiteRow {
	return p.Suite.Rows[:min(maxSuiteRows, len(p.Suite.Rows))]
}

// FastPValues returns the speedups p for which pages and the API show fast_p, the share of tasks with at least that
// speedup.
func FastPValues() []float64 { return []float64{0, 0.5, 0.8, 1, 1.5, 2, 4} }

func factorText(factor float64) string {
	if factor == 0 {
		return format.NotMeasured
	}
	return format.SpeedFactor(factor)
}

// bestOfAll returns a row with the best speedup of all entrants on each board.
func (p SuitePage) bestOfAll() events.SuiteRow {
	best := events.SuiteRow{Speedups: make([]float64, len(p.Suite.Boards))}
	for _, row := range p.Suite.Rows {
		for i, s := range row.Speedups {
			best.Speedups[i] = max(best.Speedups[i], s)
		}
	}
	return best
}

// fastPCurve is an entrant's fast_p curve.
type fastPCurve struct {
	cssClass, name string
	svgPath        string
}

// Size of the drawing of fast_p curves, and the range of p.
const (
	curveLeft, curveRight, curveTop, curveBottom = 66.0, 616.0, 14.0, 210.0
	minCurveFactor, maxCurveFactor               = 0.25, 8.0
)

func curveX(p float64) float64 {
	at := math.Log2(min(max(p, minCurveFactor), maxCurveFactor)/minCurveFactor) /
		math.Log2(maxCurveFactor/minCurveFactor)
	return curveLeft + at*(curveRight-curveLeft)
}

func curveY(share float64) float64 { return curveBottom - share*(curveBottom-curveTop) }

func coordinateText(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// curves returns the curve of the best of all entrants, and those of the chosen entrants.
func (p SuitePage) curves() (list []fastPCurve) {
	if p.Suite.ComparedBoards == 0 {
		return nil
	}
	add := func(class, name string, row events.SuiteRow) {
		list = append(list, fastPCurve{class, name, fastPCurvePath(row.Speedups, p.Suite.ComparedBoards)})
	}
	if len(p.Suite.Rows) > 1 {
		add("curve-best", "Best of all", p.bestOfAll())
	}
	if p.FirstRow != nil {
		add("curve-a", p.FirstRow.Name, *p.FirstRow)
	}
	if p.SecondRow != nil {
		add("curve-b", p.SecondRow.Name, *p.SecondRow)
	}
	return list
}

// fastPCurvePath returns the SVG path of the share of boards with at least each speedup, as steps.
func fastPCurvePath(speedups []float64, compared int) string {
	sorted := slices.DeleteFunc(slices.Clone(speedups), func(s float64) bool { return s == 0 })
	slices.Sort(sorted)
	var path strings.Builder
	left := len(sorted)
	fmt.Fprintf(&path, "M%s %s", coordinateText(curveLeft), coordinateText(curveY(float64(left-countBelow(sorted, minCurveFactor))/float64(compared))))
	for i, s := range sorted {
		if s < minCurveFactor || s > maxCurveFactor {
			continue
		}
		fmt.Fprintf(&path, "H%sV%s", coordinateText(curveX(s)),
			coordinateText(curveY(float64(left-i-1)/float64(compared))))
	}
	fmt.Fprintf(&path, "H%s", coordinateText(curveRight))
	return path.String()
}

func countBelow(sorted []float64, least float64) int {
	n, _ := slices.BinarySearch(sorted, least)
	return n
}
