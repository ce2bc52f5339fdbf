package charts

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
)

func timelineVM() TimelineView {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	after := func(ms int) time.Time { return at.Add(time.Duration(ms) * time.Millisecond) }
	return TimelineView{TraceURL: "/runs/12/trace.json", Spans: []TimeSpan{
		{Name: "Queued", Start: at, End: after(400)},
		{Name: "Build", Start: after(400), End: after(3100), Status: "pass", Note: "harness from the cache"},
		{Name: "Test", Start: after(3100), End: after(3600), Status: "pass"},
		{Name: "Benchmark", Start: after(3600), End: after(5600), Status: "pass"},
		{Name: "Ranked", Start: after(5600), End: after(8000), Status: "timeout", EndingText: "too slow"},
		{Name: "Clean", Start: after(8000), End: after(8000), Status: "pass"},
	}}
}

func TestTimelineDrawsEverySpanInItsPlace(t *testing.T) {
	vm := timelineVM()
	doc, _ := render(t, Timeline(vm))
	if n := doc.Find("li").Length(); n != len(vm.Spans) {
		t.Errorf("%d bars", n)
	}
	x, width := vm.spanPosition(vm.Spans[1])
	if x != 50 || width != 337.5 {
		t.Errorf("the build is at %v, %v wide", x, width)
	}
	if x, width := vm.spanPosition(vm.Spans[5]); width < 3 || x+width > 1000 {
		t.Errorf("a span without length is at %v, %v wide", x, width)
	}
	text := doc.Text()
	for _, want := range []string{"2.7\u00a0s", "too slow", "harness from the cache", "8\u00a0s in all"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	if doc.Find(".pf-stop").Length() != 1 || doc.Find(".pf-wait").Length() != 1 {
		t.Error("a failed and a waiting span look like the others")
	}
}

func TestTraceHoldsEverySpan(t *testing.T) {
	b, err := TraceJSON(timelineVM())
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name    string
			Ph      string
			TS, Dur int64
		}
	}
	if err := json.Unmarshal(b, &trace); err != nil {
		t.Fatal(err)
	}
	build := trace.TraceEvents[1]
	if len(trace.TraceEvents) != 6 || build.Name != "Build" || build.Ph != "X" || build.TS != 400_000 ||
		build.Dur != 2_700_000 {
		t.Errorf("%+v", trace)
	}
	if b, err := TraceJSON(TimelineView{}); err != nil || !strings.Contains(string(b), `"traceEvents":[]`) {
		t.Errorf("an empty run gives %s, %v", b, err)
	}
}

func TestRepeatsCountEveryTime(t *testing.T) {
	times := make([]float64, 500)
	for i := range times {
		times[i] = 1000 + float64(i%37)
	}
	h := newHistogram(append(times, math.NaN()))
	sum := 0
	for _, n := range h.bins {
		sum += n
	}
	if sum != 500 || h.lowNS != 1000 || h.highNS != 1036 || len(h.ticks) > 120 {
		t.Errorf("%d counted from %v to %v, %d ticks", sum, h.lowNS, h.highNS, len(h.ticks))
	}
	c := job.CaseResult{
		Times: times, Mean: 1018, Median: 1018, StandardDeviation: 10.7, Best: 1000, P95: 1035, Runs: 500,
	}
	doc, html := render(t, Repeats(RepeatsView{Case: c}))
	if doc.Find("dl div").Length() != 4 || !strings.Contains(doc.Text(), "1.018\u00a0µs") ||
		strings.Contains(html, "NaN") {
		t.Errorf("%s", doc.Text())
	}
}

func TestRepeatsOfOneTimeAreNoChart(t *testing.T) {
	for _, times := range [][]float64{nil, {5}, {math.NaN(), math.Inf(1), 4}} {
		doc, _ := render(t, Repeats(RepeatsView{Case: job.CaseResult{Times: times, Mean: 5}}))
		if doc.Find("svg").Length() != 0 || doc.Find("dl div").Length() != 1 {
			t.Errorf("%v draws %s", times, doc.Text())
		}
	}
	if h := newHistogram([]float64{7, 7, 7}); h == nil || h.maxCount != 3 {
		t.Errorf("equal times: %+v", h)
	}
}

// TestOneOutlierDoesNotFlattenAHistogram checks that one repeat of 25 ms does not put hundreds of repeats of 1.4 ms
// into a single bar.
func TestOneOutlierDoesNotFlattenAHistogram(t *testing.T) {
	times := make([]float64, 200)
	for i := range times {
		times[i] = 1.4e6 + 1e3*float64(i%37)
	}
	times[100] = 25.3e6
	doc, _ := render(t, Repeats(RepeatsView{Case: job.CaseResult{Times: times, Mean: 1.5e6}}))
	wide := doc.Find("svg rect:not(.pf-rug):not(.pf-median)").FilterFunction(func(_ int,
		e *goquery.Selection) bool {
		return e.AttrOr("height", "0") != "0"
	})
	if wide.Length() < 10 {
		t.Errorf("%d bars are left", wide.Length())
	}
	if text := doc.Find("[data-outliers]").Text(); !strings.Contains(text,
		"1 slower repeat is not drawn: up to 25.30\u00a0ms") {
		t.Errorf("of the outlier it says %q", text)
	}
}

// TestALongWaitDoesNotHideTheWork checks that an hour in the queue leaves enough width to compare the stages of the ten
// seconds after it.
func TestALongWaitDoesNotHideTheWork(t *testing.T) {
	at := time.Unix(1000, 0)
	after := func(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }
	vm := TimelineView{Spans: []TimeSpan{
		{Name: "Queued", Start: at, End: after(3600)},
		{Name: "Build", Start: after(3600), End: after(3608), Status: "pass"},
		{Name: "Test", Start: after(3608), End: after(3610), Status: "pass"},
	}}
	var got []float64
	for _, s := range vm.Spans {
		x, width := vm.spanPosition(s)
		got = append(got, math.Round(x), math.Round(width))
	}
	if diff := cmp.Diff([]float64{0, 167, 167, 667, 833, 167}, got); diff != "" {
		t.Errorf("starts and lengths in thousandths (-want +got):\n%s", diff)
	}
}
