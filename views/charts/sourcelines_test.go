package charts

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator/ncu"
)

// withLines adds line information to a kernel: each group of consecutive instructions, as many as each, belongs to one
// source line. Later groups belong to earlier lines.
func withLines(k *ncu.Kernel, each int) {
	for i := range k.Source.Lines {
		l := &k.Source.Lines[i]
		l.SourceFile, l.SourceLine = "/in/submission.cu", 1000-i/each
		l.SourceText = fmt.Sprintf("  sum += a[%d] * b[k * N + %d];", i, i)
	}
}

func TestSourceStandsInTheOrderOfItsFileBesideTheInstructions(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	withLines(vm.Kernel(), 4)
	doc, _ := render(t, Details(vm))
	rows := doc.Find("#source [data-together] > [data-pane] tbody tr")
	if rows.Length() != 52 || rows.First().AttrOr("data-line", "") != "submission.cu:949" ||
		rows.Last().AttrOr("data-line", "") != "submission.cu:1000" {
		t.Errorf("%d lines from %s to %s", rows.Length(), rows.First().AttrOr("data-line", ""),
			rows.Last().AttrOr("data-line", ""))
	}
	if code := rows.First().Find("code").Text(); !strings.HasPrefix(code, "  sum") {
		t.Errorf("the source has lost its indent: %q", code)
	}
	if n := doc.Find("#source [data-pane]").Length(); n != 2 {
		t.Errorf("%d panes", n)
	}
	if n := doc.Find("#source [data-pane] tbody tr").Not("[data-line]").Length(); n != 0 {
		t.Errorf("%d rows belong to no line", n)
	}
	vm.Query.SortBySamples = true
	hot, _ := render(t, Details(vm))
	if id := hot.Find("#source [data-pane] tbody tr").First().AttrOr("id", ""); id != "hottest-line" {
		t.Errorf("hottest first begins with %q", id)
	}
}

func TestTheHottestInstructionAndLineAreOneLinkAway(t *testing.T) {
	for _, hot := range []bool{false, true} {
		vm := detailsOf(report(t, "cuda4"), 1)
		withLines(vm.Kernel(), 4)
		vm.Query.SortBySamples, vm.Query.PinnedRun, vm.Query.SourceLine = hot, 17, "submission.cu:1000"
		doc, _ := render(t, Details(vm))
		for name, href := range map[string]string{
			"the hottest instruction": doc.Find("[data-hottest] a").First().AttrOr("href", ""),
			"that of a line": doc.Find("[data-line='submission.cu:960'] td.pf-right a").First().AttrOr("href",
				""),
		} {
			to := vm
			to.Query = readQueryOf(t, href)
			_, anchor, _ := strings.Cut(href, "#")
			there, _ := render(t, Details(to))
			if to.Query.PinnedRun != 17 || there.Find("#source tr#"+anchor).Length() != 1 {
				t.Errorf("%s is not at %s", name, href)
			}
		}
		if doc.Find(doc.Find("[data-hottest] a").Last().AttrOr("href", "")).Length() != 1 {
			t.Error("the hottest line is not on the page")
		}
	}
}

func TestALongSourceShowsItsHottestLines(t *testing.T) {
	vm := detailsOf(report(t, "tri"), 0)
	k := vm.Kernel()
	withLines(k, 1)
	doc, html := render(t, Details(vm))
	if n := doc.Find("#source [data-together] > [data-pane] tbody tr").Length(); n != maxSourceLines {
		t.Errorf("%d lines", n)
	}
	if got, want := doc.Find("#source caption").Text(),
		"Source lines of submission.cu: the hottest 60 of "; !strings.HasPrefix(got, want) {
		t.Errorf("caption %q", got)
	}
	if len(html) > 160_000 {
		t.Errorf("%d bytes", len(html))
	}
	t.Logf("%d bytes, %d lines", len(html), len(k.Source.Lines))
}

func TestWithoutSamplesNothingIsHottest(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	withLines(vm.Kernel(), 4)
	vm.Kernel().Source.Counters = nil
	doc, _ := render(t, Details(vm))
	if doc.Find("[data-hottest], #hottest-line").Length() != 0 {
		t.Error("something without samples is the hottest")
	}
}

func TestALineOfTheOnlyFileIsNamedByItsNumber(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	withLines(vm.Kernel(), 4)
	doc, _ := render(t, Details(vm))
	for _, cell := range doc.Find(".pf-sass td:last-child").EachIter() {
		if text := strings.TrimSpace(cell.Text()); text == "" || strings.Trim(text, "0123456789") != "" {
			t.Fatalf("an instruction belongs to line %q", text)
		}
	}
}
