package charts

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/views/diff"
)

func compareVM(t *testing.T) CompareVM {
	a, b := report(t, "cuda4"), report(t, "tri")
	return CompareVM{
		A: Side{Name: "#12 by ada", URL: "/runs/12", Score: "416.4 µs", Note: "H200, 2 hours ago"},
		B: Side{Name: "#15 by grace", URL: "/runs/15", Score: "175.9 µs", Note: "H200, 5 minutes ago"},
		Cases: []CasePair{
			{"size: 1024", &job.CaseResult{Mean: 416416, Err: 900}, &job.CaseResult{Mean: 175872, Err: 300}},
			{"size: 2048", &job.CaseResult{Mean: 1000, Err: 10}, &job.CaseResult{Mean: 1005, Err: 10}},
			{"size: 4096", &job.CaseResult{Mean: 1000, Err: 1}, &job.CaseResult{Mean: 1500, Err: 1}},
			{"size: 8192", &job.CaseResult{Mean: 1000, Err: 1}, nil},
		},
		Files: []FileDiff{
			{Name: "submission.cu", Lines: diff.Lines("int a;\nint b;\nint c;\n", "int a;\nfloat b;\nint c;\n")},
			{Name: "util.h"},
		},
		Pairs: ncu.Compare(a, b), JSON: "/compare.json",
	}
}

func TestComparePageSaysWhoIsFaster(t *testing.T) {
	doc, _ := render(t, Compare(compareVM(t)))
	var got []string
	doc.Find("#times tbody tr").Each(func(_ int, s *goquery.Selection) { got = append(got, s.Find(".pf-words").Text()) })
	want := []string{"B is 2.368× faster", "no difference seen", "B is 1.500× slower", "not run on both sides"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if doc.Find("#profile h3").Length() != 4 || doc.Find("#code ins").Length() != 1 || doc.Find("#code del").Text() != "- int b;" {
		t.Errorf("%d kernels, code %q", doc.Find("#profile h3").Length(), doc.Find("#code").Text())
	}
	if n := doc.Find("[style], style, script").Length(); n != 0 {
		t.Errorf("%d elements break a strict content security policy", n)
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
	if got := section.Text(); got != "Achieved Occupancy74.04\u00a0%14.64\u00a0%−59.40 points" {
		t.Errorf("%q", got)
	}
}

func TestCompareWithoutProfilesSaysSo(t *testing.T) {
	vm := compareVM(t)
	vm.Pairs, vm.NoProfile = nil, "Run #15 has no profile."
	if doc, _ := render(t, Compare(vm)); !strings.Contains(doc.Find("#profile").Text(), "Run #15 has no profile.") {
		t.Error("the missing profile is not said")
	}
}
