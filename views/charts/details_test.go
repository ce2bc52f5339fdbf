package charts

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/ncu"
)

func TestPageStaysSmall(t *testing.T) {
	const most = 150_000
	for _, name := range []string{"cuda4", "tri"} {
		r := report(t, name)
		for id := range r.Kernels {
			if _, html := render(t, Details(detailsOf(r, id))); len(html) > most-25_000 {
				t.Errorf("%s kernel %d: %d bytes leave no room for the layout below %d", name, id, len(html), most)
			}
		}
	}
}

func TestNothingNeedsInlineStylesOrScripts(t *testing.T) {
	doc, _ := render(t, Details(detailsOf(report(t, "tri"), 0)))
	if n := doc.Find("[style], style, script, [onclick]").Length(); n != 0 {
		t.Errorf("%d elements break a strict content security policy", n)
	}
}

func TestAMissingNumberIsNeverShownAsZero(t *testing.T) {
	r := &ncu.Report{Kernels: []ncu.Kernel{{ID: 0, Name: "f", ShortName: "f"}},
		Warnings: []string{"Everything is missing."}}
	doc, _ := render(t, Details(detailsOf(r, 0)))
	if n := doc.Find("[data-from]").Length(); n != 0 {
		t.Errorf("%d numbers that no one measured", n)
	}
	if doc.Find(".pf-none").Length() < 20 ||
		!strings.Contains(doc.Find(".pf-warnings").Text(), "Everything is missing.") {
		t.Error("gaps are not said")
	}
}

func TestWithoutReportThereIsASentence(t *testing.T) {
	for want, vm := range map[string]ProfileView{
		"ncu was refused.":              {Failure: "ncu was refused."},
		"This run has no profile.":      {},
		"The report holds no kernel.":   {Report: &ncu.Report{Warnings: []string{"The report holds no kernel."}}},
		"Nothing but a failure is here": {Report: &ncu.Report{}, Failure: "Nothing but a failure is here"},
	} {
		if doc, _ := render(t, Details(vm)); strings.TrimSpace(doc.Find(".pf-failure").Text()) != want {
			t.Errorf("%q, want %q", doc.Text(), want)
		}
	}
}

func TestSearchNarrowsTheRawMetrics(t *testing.T) {
	k := &report(t, "cuda4").Kernels[0]
	for search, want := range map[string][]string{
		"dram__bytes_read -pct":   {"dram__bytes_read.sum", "dram__bytes_read.sum.per_second"},
		"DRAM sectors_WRITE":      {"dram__sectors_write.sum"},
		"no such metric anywhere": nil,
	} {
		if diff := cmp.Diff(want, append([]string(nil),
			newRawTable(k, Query{MetricSearch: search}).metricNames...)); diff != "" {
			t.Errorf("%q: %s", search, diff)
		}
	}
	vm := detailsOf(report(t, "cuda4"), 0)
	vm.Query.MetricSearch = `"><b>`
	if _, html := render(t, Details(vm)); strings.Contains(html, `"><b>`) {
		t.Error("the search is not escaped")
	}
}

func TestQueryRoundTrip(t *testing.T) {
	q := Query{Case: 2, Kernel: 3, MetricSearch: "l1 & l2", MetricsPage: 4, CodePage: 5, SortBySamples: true,
		ShowPTX:    true,
		SourceLine: "a b.cu:7",
		Zoom:       Zoom{3, 62, 938}, PinnedRun: 17}
	u, err := url.Parse(q.URL("/p"))
	if err != nil {
		t.Fatal(err)
	}
	if got := ReadQuery(u.Query()); got != q {
		t.Errorf("%+v", got)
	}
	odd := ReadQuery(url.Values{"case": {"-1"}, "kernel": {"x"}, "page": {"0"}, "code": {"9999999999999999999"},
		"q": {strings.Repeat("é", 99)}})
	if odd.Case != 0 || odd.Kernel != -1 || odd.MetricsPage != 1 || odd.CodePage != 1 || len(odd.MetricSearch) > 100 {
		t.Errorf("%+v", odd)
	}
	if got := ReadQuery(nil).URL("/p"); got != "/p" {
		t.Errorf("defaults give %q", got)
	}
}

func TestPagesThatDoNotExistShowTheLast(t *testing.T) {
	for wanted, want := range map[int]paging{
		-5: {pageNumber: 1, pageCount: 3, start: 0, end: 40, rowCount: 100}, 2: {pageNumber: 2, pageCount: 3, start: 40, end: 80, rowCount: 100},
		99: {pageNumber: 3, pageCount: 3, start: 80, end: 100, rowCount: 100},
	} {
		if got := newPaging(wanted, 100, 40); got != want {
			t.Errorf("page %d: %+v", wanted, got)
		}
	}
	if got := newPaging(1, 0, 40); got.pageCount != 1 || got.end != 0 {
		t.Errorf("nothing to page: %+v", got)
	}
}

func TestSourceLinesLinkToTheSubmission(t *testing.T) {
	r := report(t, "cuda4")
	for i := range r.Kernels[0].Source.Lines {
		l := &r.Kernels[0].Source.Lines[i]
		l.SourceFile, l.SourceLine, l.SourceText = "/tmp/x/submission.cu", 7, "y[i] = a * x[i] + y[i];"
	}
	r.Kernels[0].Source.Lines[0].SourceFile = "/usr/include/cuda.h"
	doc, _ := render(t, Details(detailsOf(r, 0)))
	if href := doc.Find("#source [data-pane] a:contains('submission.cu:7')").First().AttrOr("href",
		""); href != "/runs/12/source/submission.cu#L7" {
		t.Errorf("links to %q", href)
	}
	if doc.Find("#source a:contains('cuda.h')").Length() != 0 {
		t.Error("a header that is not part of the submission is linked")
	}
	if got := doc.Find("#source caption").Text(); got != "Source lines" {
		t.Errorf("caption %q", got)
	}
	// The instructions are next to the source: those of all lines, or of the selected line.
	vm := detailsOf(r, 0)
	vm.Query.SourceLine = "cuda.h:7"
	one, _ := render(t, Details(vm))
	if all, few := doc.Find(".pf-beside > div:last-child tbody tr").Length(),
		one.Find(".pf-beside > div:last-child tbody tr").Length(); all != 32 || few != 1 {
		t.Errorf("%d instructions of all lines, %d of one", all, few)
	}
	vm.Query.SourceLine = "gone.cu:1"
	if gone, _ := render(t, Details(vm)); gone.Find(".pf-beside > div:last-child tbody tr").Length() != 32 {
		t.Error("a line that is not there leaves no instructions")
	}
}

func TestPTXStandsBesideItsSourceLikeTheMachineCode(t *testing.T) {
	r := report(t, "cuda4")
	source := r.Kernels[0].Source
	for i := range source.Lines {
		source.Lines[i].SourceFile, source.Lines[i].SourceLine, source.Lines[i].SourceText = "/in/submission.cu", 7+i/16,
			"y[i] = a * x[i] + y[i];"
	}
	source.PTX = ".version 8.0\n.entry saxpy()\n{\n\t.loc\t1 7 0\n\tfma.rn.f32 %f3, %f1, %f2;\n\tst.global.f32 [%rd1], %f3;\n\t.loc 1 99 0\n\tret;\n" +
		strings.Repeat("\tmov.u32 %r1, %r2;\n", 2*instructionsPerPage) + "}\n\t.file\t1 \"/in/submission.cu\"\n"
	vm := detailsOf(r, 0)
	vm.PTXURL = "/runs/12/profile.ptx"
	machine, _ := render(t, Details(vm))
	if machine.Find("#source a:contains('PTX, the compiler')").AttrOr("href",
		"") != "/runs/12/profile?kernel=0&show=ptx#source" ||
		machine.Find(".pf-downloads a[href='/runs/12/profile.ptx?case=0&kernel=0']").Length() != 1 ||
		machine.Find("#source th:contains('PTX')").Length() != 0 {
		t.Error("the machine code does not lead to its PTX")
	}
	vm.Query.ShowPTX = true
	doc, _ := render(t, Details(vm))
	rows := doc.Find(".pf-beside > div:last-child tbody tr")
	fma := rows.FilterFunction(func(_ int,
		row *goquery.Selection) bool {
		return strings.Contains(row.Text(), "fma.rn.f32")
	})
	if rows.Length() != instructionsPerPage || fma.Length() != 1 ||
		fma.Find("a").AttrOr("href", "") != "/runs/12/source/submission.cu#L7" ||
		!strings.Contains(fma.Text(), "%\n") && !strings.Contains(fma.Text(), "\u00a0%") {
		t.Errorf("%d lines, of which the first is %q", rows.Length(), fma.Text())
	}
	vm.Query.SourceLine = "submission.cu:7"
	few, _ := render(t, Details(vm))
	vm.Query.ShowPTX = false
	both, _ := render(t, Details(vm))
	if n := few.Find(".pf-beside > div:last-child tbody tr").Length(); n != 2 {
		t.Errorf("%d lines of PTX of one source line", n)
	}
	if n := both.Find(".pf-beside > div:last-child tbody tr").Length(); n != 16+2 {
		t.Errorf("%d instructions and lines of PTX of one source line", n)
	}
	source.PTX = ""
	vm.Query.ShowPTX = true
	if gone, _ := render(t, Details(vm)); gone.Find(".pf-beside > div:last-child tbody tr").Length() != 16 ||
		gone.Find("#source th:contains('PTX')").Length() != 0 {
		t.Error("without PTX the machine code is not shown")
	}
}

func TestOpcodesThatCountAreExplained(t *testing.T) {
	for _, name := range []string{"cuda4", "tri"} {
		for _, k := range report(t, name).Kernels {
			for i, op := range ncu.InstructionMixOf(&k).Opcodes {
				if i < maxOpcodes && opcodeHelp(op.Name) == "" {
					t.Errorf("%s of %s is not explained", op.Name, k.ShortName)
				}
			}
		}
	}
	doc, _ := render(t, Details(detailsOf(report(t, "cuda4"), 1)))
	if title := doc.Find("#source code:contains('LDG')").First().AttrOr("title", ""); !strings.HasPrefix(title,
		"LDG: loads from global memory (+0x") {
		t.Errorf("an instruction says %q", title)
	}
}

func TestSortHottestFirst(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 0)
	vm.Query.SortBySamples = true
	doc, _ := render(t, Details(vm))
	row := doc.Find("#source tbody tr").First()
	if !strings.Contains(row.Text(), "FFMA R7, R2, UR6, R7") || !row.HasClass("pf-heat-5") ||
		!strings.Contains(row.Text(), "long scoreboard") {
		t.Errorf("%q", row.Text())
	}
}

func TestDotsOfOtherEntriesComeFromTheirReports(t *testing.T) {
	dot, ok := LongestKernelDot("ada", "/runs/3", report(t, "tri"))
	if !ok || dot.Rate < 781e12 || dot.Rate > 782e12 || dot.Intensity < 1265 || dot.Intensity > 1267 {
		t.Errorf("%+v %v", dot, ok)
	}
	if _, ok := LongestKernelDot("ada", "/runs/3", &ncu.Report{}); ok {
		t.Error("an empty report has a dot")
	}
}

// TestAProfileWarnsWhereItsTimeIsNotThatOfTheRun checks that a profile warns if its time and the time of the run differ
// by a factor of more than two in either direction.
func TestAProfileWarnsWhereItsTimeIsNotThatOfTheRun(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 0)
	together := 0.0
	for _, share := range ncu.KernelShares(vm.Report) {
		together += share.NS
	}
	for factor, want := range map[float64]bool{0.4: true, 0.6: false, 1: false, 1.9: false, 2.1: true} {
		vm.CaseTimeNS = together * factor
		doc, _ := render(t, Details(vm))
		if text := doc.Find(".pf-kernels caption").Text(); strings.Contains(text,
			"may not represent the scored run") != want {
			t.Errorf("at %v times the time: %q", factor, text)
		}
	}
}
