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
)

// explained returns a comparison of two stored reports in which run B takes factor times as long as run A.
func explained(t *testing.T, factor float64, a, b *ncu.Report) CompareView {
	t.Helper()
	vm := CompareView{RunA: ComparedSide{ShortName: "#1"}, RunB: ComparedSide{ShortName: "#2"}, Ranking: "mean",
		Pairs: ncu.CompareReports(a, b),
		TimeComparison: versus.CompareRuns(tasks.RankLastCase, []job.CaseResult{processes("n: 1", 1000)},
			[]job.CaseResult{processes("n: 1", 1000*factor)})}
	if w, ok := ncu.ExplainDifference(a, b); ok {
		vm.Explanation = &w
	}
	return vm
}

func only(r *ncu.Report, kernel int) *ncu.Report {
	return &ncu.Report{Kernels: r.Kernels[kernel : kernel+1]}
}

func TestTheReasonForASpeedupHasNumbersAndEvidence(t *testing.T) {
	cuda, tri := report(t, "cuda4"), report(t, "tri")
	for name, c := range map[string]struct {
		factor float64
		a, b   *ncu.Report
		want   []string
	}{
		"tensor cores": {0.5, only(cuda, 1), only(tri, 0), []string{
			"#2 keeps the tensor cores busy for 94.9 % of the cycles; #1 does not use them.",
			"#2 executes fewer load instructions on global memory (0 instead of 67.1 M; TMA copies are not counted); L1 was 96.5 % busy in #1.",
			"#2 executes 9.16× fewer instructions (16.9 M instead of 155 M); #1 issued one in 37.0 % of its cycles.",
		}},
		"sectors, and B is slower": {2, only(cuda, 0), only(cuda, 2), []string{
			"#1 accesses 3.00× fewer 32-byte sectors of global memory (6.29 M sectors instead of 18.9 M sectors); L2 was 82.6 % busy in #2.",
			"Warps of #1 spend 139× fewer cycles per instruction waiting for its stores to leave after its exit (1.16 cycles instead of 161 cycles).",
		}},
		"the times show no clear difference": {1, only(cuda, 1), only(tri, 0), nil},
		"the profiles differ the other way":  {2, only(cuda, 1), only(tri, 0), nil},
		"there is no profile of one":         {2, only(cuda, 1), &ncu.Report{}, nil},
		"the slower one runs kernels that no one needs": {0.5, cuda, &ncu.Report{Kernels: cuda.Kernels[:2]},
			[]string{"#2 does not run 2 kernels (transpose_strided, …): 100.0 % of the difference."}},
	} {
		t.Run(name, func(t *testing.T) {
			vm := explained(t, c.factor, c.a, c.b)
			doc, _ := render(t, Compare(vm))
			text := doc.Find(".pf-why li").Map(func(_ int, e *goquery.Selection) string {
				link := e.Find("a").Remove()
				if id := link.AttrOr("href", "#none"); doc.Find(id).Length() != 1 {
					t.Errorf("%q leads to %s, which is not there", link.Text(), id)
				}
				return strings.TrimSpace(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(e.Text()))
			})
			if diff := cmp.Diff(c.want, text,
				cmp.Transformer("empty", func(l []string) string { return strings.Join(l, "\n") })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBothKernelsAreOnOneRooflineWithAnArrow(t *testing.T) {
	cuda, tri := report(t, "cuda4"), report(t, "tri")
	doc, _ := render(t, Compare(explained(t, 0.5, only(cuda, 1), only(tri, 0))))
	chart := doc.Find("#rooflines svg")
	if chart.Find("circle").Length() != 2 || chart.Find(".pf-arrow[d^='M']").Length() != 1 {
		t.Errorf("%d dots, %d arrows", chart.Find("circle").Length(), chart.Find(".pf-arrow").Length())
	}
	if roofs := chart.Find(".pf-roof").Length(); roofs < 4 {
		t.Errorf("%d roofs: those of both reports belong there", roofs)
	}
	if newRoofPair("#1", "#2", ncu.Explanation{KernelA: &cuda.Kernels[1], KernelB: &cuda.Kernels[2]}) != nil {
		t.Error("a kernel that does no arithmetic is drawn")
	}
}

func TestInstructionsAreComparedWithoutTheNamesOfRegisters(t *testing.T) {
	kernel := func(lines ...string) *ncu.Kernel {
		k := &ncu.Kernel{ShortName: "k", Source: &ncu.Source{}}
		for _, l := range lines {
			k.Source.Lines = append(k.Source.Lines, ncu.InstructionLine{Instruction: l})
		}
		return k
	}
	a, b := kernel("LDG.E R2, [R4.64]", "FADD R2, R2, R5", "BRA 0x7f2953"),
		kernel("LDG.E R8, [R6.64]", "FMUL R8, R8, R5", "BRA 0x7f2000")
	list := CompareView{Pairs: []ncu.KernelPair{{KernelA: a, KernelB: b}, {KernelA: a}}}.SASSDiffs()
	if len(list) != 1 || changedLinesText(list, "") != "1 line added, 1 removed" {
		t.Errorf("%d programs: %s", len(list), changedLinesText(list, ""))
	}
}

func TestRepeatsOfBothLieOverOneAxis(t *testing.T) {
	a, b := &job.CaseResult{Times: []float64{100, 101, 102, 103}}, &job.CaseResult{Times: []float64{90, 91, 92, 1e9}}
	list := newOverlays([]versus.ComparedCase{{Spec: "n: 1", ResultA: a, ResultB: b}, {Spec: "n: 2", ResultA: a}})
	if len(list) != 1 || list[0].low != 90 || list[0].high > 200 && list[0].repeatsAbove == 0 ||
		strings.ContainsAny(list[0].outlinePathA+list[0].outlinePathB, "NI") {
		t.Errorf("%+v", list)
	}
	spread := &job.CaseResult{Times: []float64{100, 120, 150, 400, 900}}
	if wide := newOverlays([]versus.ComparedCase{{Spec: "n: 1", ResultA: a, ResultB: spread}}); len(wide) != 1 ||
		!wide[0].isLogarithmic ||
		list[0].isLogarithmic || !(wide[0].relativePosition(300) > 0.45 && wide[0].relativePosition(300) < 0.55) {
		t.Errorf("repeats from 100 to 900: %+v", wide)
	}
	short := &job.CaseResult{Times: []float64{1, 30, 40}, ClockTimes: job.ClockTimes{WallTolerance: 20}}
	if list := newOverlays([]versus.ComparedCase{{Spec: "n: 1", ResultA: short, ResultB: short}}); len(list) != 1 ||
		!strings.HasPrefix(list[0].lowText(), "< 20") {
		t.Errorf("repeats within the clock's tolerance: %+v", list)
	}
	if a.Times[0] != 100 || b.Times[3] != 1e9 {
		t.Error("the repeats were sorted in place")
	}
}
