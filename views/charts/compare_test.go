package charts

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/versus"
	"warpboard/tasks"
	"warpboard/views/format"
)

// processes returns a case that a judge timed in five fresh processes, with medians within 1 % of ns.
func processes(spec string, ns float64) job.CaseResult {
	c := job.CaseResult{SpecLine: spec, Status: job.StatusPass, Median: ns,
		ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent}}
	for _, off := range []float64{0.99, 0.995, 1, 1.005, 1.01} {
		c.ProcessMedians = append(c.ProcessMedians, ns*off)
	}
	return c
}

func compareVM(t *testing.T) CompareView {
	a, b := report(t, "cuda4"), report(t, "tri")
	return CompareView{
		RunA: ComparedSide{Name: "Submission 12 by ada", ShortName: "#12", URL: "/runs/12", Score: "416.4 µs",
			Note: "H200, 2 hours ago"},
		RunB: ComparedSide{Name: "Submission 15 by grace", ShortName: "#15", URL: "/runs/15", Score: "175.9 µs",
			Note: "H200, 5 minutes ago"},
		Ranking: "geometric mean",
		TimeComparison: versus.CompareRuns(tasks.RankGeometricMean,
			[]job.CaseResult{processes("size: 1024", 416416), processes("size: 2048", 1000),
				processes("size: 4096", 1000), processes("size: 8192", 1000)},
			[]job.CaseResult{processes("size: 1024", 175872), processes("size: 2048", 1004),
				processes("size: 4096", 1500)}),
		Files: []FileDiff{
			{Name: "submission.cu", Lines: format.Diff("int a;\nint b;\nint c;\n", "int a;\nfloat b;\nint c;\n")},
			{Name: "util.h"},
		},
		Pairs: ncu.CompareReports(a, b), JSONURL: "/compare.json",
	}
}

func TestComparePageSaysWhoIsFaster(t *testing.T) {
	doc, _ := render(t, Compare(compareVM(t)))
	var got []string
	doc.Find("#times tbody tr").Each(func(_ int, s *goquery.Selection) {
		if word := s.Find(".pf-words"); word.Length() > 0 {
			got = append(got, word.Text())
		}
	})
	want := []string{"#15 is 2.37× faster", "no clear difference", "#15 is 1.50× slower", "not timed on both sides"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	doc.Find("th, b, span, title, h3").Each(func(_ int, s *goquery.Selection) {
		if name, _, _ := strings.Cut(strings.Fields(s.Text() + " .")[0], ":"); name == "A" || name == "B" {
			t.Errorf("a run is called %s: %q", name, s.Text())
		}
	})
	if doc.Find("#profile h3").Length() != 4 || doc.Find("#code ins").Length() != 1 ||
		doc.Find("#code del").Text() != "- int b;" {
		t.Errorf("%d kernels, code %q", doc.Find("#profile h3").Length(), doc.Find("#code").Text())
	}
	if n := doc.Find("[style], style, script").Length(); n != 0 {
		t.Errorf("%d elements break a strict content security policy", n)
	}
}

func TestAComparisonThatIsCutSaysSo(t *testing.T) {
	long := strings.Repeat("a\n", 20_000)
	for want, lines := range map[string][]format.DiffLine{
		"the same in both":        nil,
		"too long to be compared": format.Diff(long, long+"b\n"),
		"2 lines added, 0 removed, and more": append(format.Diff("", "a\nb\n"),
			format.DiffLine{Kind: format.DiffLineOmitted}),
		"2 lines added, 0 removed": format.Diff("", "a\nb\n"),
	} {
		if got := changedLinesText([]FileDiff{{Lines: lines}}, ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCompareShowsBothSidesOfEverySection(t *testing.T) {
	vm := compareVM(t)
	doc, _ := render(t, Compare(vm))
	rows := 0
	for _, p := range vm.Pairs {
		for _, s := range p.Sections {
			rows += len(s.Rows)
		}
	}
	if got := doc.Find("#profile tbody tr").Length(); got != rows || rows < 150 {
		t.Errorf("%d rows, want %d", got, rows)
	}
	section := doc.Find("#profile tr:contains('Achieved Occupancy')").First()
	if got := section.Text(); got != "Achieved Occupancy74.0\u00a0%14.6\u00a0%−59.4 points" {
		t.Errorf("%q", got)
	}
}

func TestCompareWithoutProfilesSaysSo(t *testing.T) {
	vm := compareVM(t)
	vm.Pairs, vm.NoProfileReason = nil, "Run #15 has no profile."
	if doc, _ := render(t, Compare(vm)); !strings.Contains(doc.Find("[data-no-profile]").Text(),
		"Run #15 has no profile.") || doc.Find("#profile").Length() > 0 {
		t.Error("the missing profile is not said, or there is an empty panel")
	}
	vm.NoProfileReason = ""
	if doc, _ := render(t, Compare(vm)); doc.Find("[data-no-profile], #profile").Length() > 0 {
		t.Error("where neither has a profile, one is said to be missing")
	}
}
