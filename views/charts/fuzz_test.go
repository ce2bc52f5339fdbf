package charts

import (
	"hash/fnv"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"warpboard/e2e/fuzztest"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/versus"
	"warpboard/tasks"
)

var oddFloats = []float64{
	0, -1, 1, 500, 1.1e-308, math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1),
	math.NaN(), 1e100,
}

// eachPair calls f with each of oddFloats as a, three times, with different other values for b and c.
func eachPair(f func(a, b, c float64)) {
	for i, a := range oddFloats {
		for j := range 3 {
			f(a, oddFloats[(i+j+1)%len(oddFloats)], oddFloats[(i+5*j+3)%len(oddFloats)])
		}
	}
}

// forge replaces the value of each counter of a report by one of three values.
func forge(r *ncu.Report, values [3]float64) {
	for i := range r.Kernels {
		for name, m := range r.Kernels[i].Metrics {
			sum := fnv.New32a()
			sum.Write([]byte(name))
			m.Value, m.Measured = values[sum.Sum32()%3], true
			r.Kernels[i].Metrics[name] = m
		}
	}
}

// FuzzProfileCharts checks that drawing the charts of a profile terminates and gives valid SVG for all values of its
// counters.
func FuzzProfileCharts(f *testing.F) {
	fuzztest.Moment(f)
	eachPair(func(a, b, c float64) { f.Add(a, b, c) })
	r := report(f, "tri")
	f.Fuzz(func(t *testing.T, a, b, c float64) {
		forge(r, [3]float64{a, b, c})
		others := []RooflineDot{{Name: "ada", Rate: a, Intensity: b}, {Name: "grace", Rate: c, Intensity: a},
			{Name: "mary", Rate: b, Intensity: c}}
		for i := range r.Kernels {
			k := &r.Kernels[i]
			for level := range maxZoom + 1 {
				drawable(t, roofline(ProfileView{Report: r, OtherDots: others,
					Query: Query{Zoom: Zoom{MiddleX: 300, MiddleY: 700}.atLevel(level)}}, k))
			}
			drawable(t, memory(ncu.MemoryPathOf(k)))
			drawable(t, bars(speedOfLightBars(ncu.SpeedOfLight(k))))
			drawable(t, bars(occupancyBars(ncu.OccupancyOf(k))))
		}
		drawable(t, bars([]chartBar{opcodeBar("FFMA", a, b, c), opcodeBar("MOV", b, c, a)}))
	})
}

// FuzzRepeats checks that drawing the repeats of a case terminates and gives valid SVG for all times.
func FuzzRepeats(f *testing.F) {
	fuzztest.Moment(f)
	eachPair(func(a, b, c float64) { f.Add(a, b, c) })
	f.Fuzz(func(t *testing.T, a, b, c float64) {
		drawable(t, Repeats(RepeatsView{Case: job.CaseResult{Times: []float64{a, b, c, a}, Runs: 4, Mean: a, StandardDeviation: b,
			StandardError: c, Median: b, Best: c}}))
		judged := func(spec string, times ...float64) job.CaseResult {
			return job.CaseResult{SpecLine: spec, Status: job.StatusPass, Median: times[0], ProcessMedians: times,
				ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent}}
		}
		drawable(t, Compare(CompareView{TimeComparison: versus.CompareRuns(tasks.RankMean,
			[]job.CaseResult{judged("n: 1", a, b), judged("n: 2", b, c, a)},
			[]job.CaseResult{judged("n: 1", c, a), judged("n: 2", a, a, a)})}))
	})
}

// FuzzTimeline checks that the timeline of a run is valid SVG, even with forged times from a worker.
func FuzzTimeline(f *testing.F) {
	fuzztest.Moment(f)
	for _, a := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		f.Add(a, int64(0))
		f.Add(int64(1), a)
	}
	f.Fuzz(func(t *testing.T, began, ended int64) {
		drawable(t, Timeline(TimelineView{Spans: []TimeSpan{
			{Name: "Queued", Start: time.Unix(0, began), End: time.Unix(0, ended)},
			{Name: "Build", Start: time.Unix(began, 0), End: time.Unix(ended, 0), Status: "pass"},
		}}))
	})
}

// place matches the SVG attributes that contain coordinates or sizes.
var place = regexp.MustCompile(`^(x|y|x1|x2|y1|y2|cx|cy|r|width|height|points|d|transform|stroke-width)$`)

// drawable fails the test if a page is larger than 200 kB, or a drawing has a coordinate that is not a finite number.
func drawable(t *testing.T, page templ.Component) {
	t.Helper()
	doc, text := render(t, page)
	if len(text) > 200_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
	doc.Find("svg *").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			if place.MatchString(a.Key) &&
				(strings.Contains(a.Val, "NaN") || strings.Contains(a.Val, "Inf") || len(a.Val) > 300) {
				t.Errorf("%s is drawn at %s=%q", s.Nodes[0].Data, a.Key, a.Val)
			}
		}
	})
}
