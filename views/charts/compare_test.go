package charts

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
)

// apply rebuilds both texts from a diff without folding.
func apply(script []DiffLine) (a, b []string) {
	for _, l := range script {
		if l.Kind != DiffAdded {
			a = append(a, l.Text)
		}
		if l.Kind != DiffRemoved {
			b = append(b, l.Text)
		}
	}
	return a, b
}

func TestDiffIsShortestAndRebuildsBothTexts(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	for range 300 {
		a, b := randomLines(random), randomLines(random)
		script := script(a, b)
		gotA, gotB := apply(script)
		if !cmp.Equal(gotA, a) || !cmp.Equal(gotB, b) {
			t.Fatalf("%q and %q came back as %q and %q", a, b, gotA, gotB)
		}
		edits := 0
		for _, l := range script {
			if l.Kind != DiffSame {
				edits++
			}
			if l.A > 0 && a[l.A-1] != l.Text || l.B > 0 && b[l.B-1] != l.Text {
				t.Fatalf("line numbers of %+v are wrong", l)
			}
		}
		if want := len(a) + len(b) - 2*common(a, b); edits != want {
			t.Fatalf("%q to %q takes %d edits, want %d", a, b, edits, want)
		}
	}
}

func randomLines(r *rand.Rand) []string {
	var out []string
	for range r.Intn(12) {
		out = append(out, string(rune('a'+r.Intn(4))))
	}
	return out
}

// common is the length of the longest common subsequence, by the textbook's table.
func common(a, b []string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			}
		}
	}
	return table[len(a)][len(b)]
}

func TestDiffFoldsWhatIsEqual(t *testing.T) {
	a := "1\n2\n3\n4\n5\n6\n7\n8\n"
	got := Diff(a, strings.Replace(a, "5\n", "five\n", 1), 1)
	want := []DiffLine{
		{Kind: DiffSkipped, A: 1, B: 1, Hide: 3},
		{Kind: DiffSame, A: 4, B: 4, Text: "4"},
		{Kind: DiffRemoved, A: 5, Text: "5"},
		{Kind: DiffAdded, B: 5, Text: "five"},
		{Kind: DiffSame, A: 6, B: 6, Text: "6"},
		{Kind: DiffSkipped, A: 7, B: 7, Hide: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Diff(a, a, 3); got != nil {
		t.Errorf("equal texts differ: %v", got)
	}
}

func TestDiffOfStrangersStaysCheap(t *testing.T) {
	var a, b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	if got := Diff(a.String(), b.String(), 3); len(got) != 10000 {
		t.Errorf("%d lines", len(got))
	}
}

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
			{Name: "submission.cu", Lines: Diff("int a;\nint b;\nint c;\n", "int a;\nfloat b;\nint c;\n", 3)},
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
