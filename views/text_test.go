package views

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/views/format"
)

// show renders a component.
func show(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRenderSafeMarkdownFormatsWithoutScripts(t *testing.T) {
	text := "# Sum\n\nAdd **two** `float` vectors.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" +
		"<script>alert(1)</script>\n\n<a href='javascript:alert(2)'>x</a> [y](javascript:alert(3)) [z](https://example.org)\n"
	c, err := RenderDocumentation(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	doc := show(t, c)
	for _, selector := range []string{"h2", "strong", "code", "table td", "a[href='https://example.org']"} {
		if doc.Find(selector).Length() == 0 {
			t.Errorf("there is no %s", selector)
		}
	}
	if rel := doc.Find("a").AttrOr("rel", ""); !strings.Contains(rel, "nofollow") {
		t.Errorf("a link has rel=%q", rel)
	}
	if doc.Find("script, a[href^=javascript]").Length() > 0 {
		t.Error("the text can run something")
	}
}

func TestSourceIsColouredByClassesWithLinesToLinkTo(t *testing.T) {
	text := []byte("__global__ void f(int n) { /* <b> */ }\r\nint g = 1;\n")
	file := NewHighlighter(1<<10, MaxHighlightedBytes).NewSourceLimiter().ColorFile("kernel.cu", "<i>", text)
	page := show(t, file.HTML)
	if page.Find("[id='<i>L2']").Length() != 1 || page.Find(".line").Length() != 2 || page.Find(".k").Length() != 1 ||
		page.Find(".nf").Text() != "f" ||
		page.Find("[style], b, i").Length() > 0 ||
		page.Find(".cl").Text() != "__global__ void f(int n) { /* <b> */ }\nint g = 1;\n" {
		html, _ := page.Html()
		t.Errorf("the source became %s", html)
	}
	if file.Size != int64(len(text)) {
		t.Errorf("its size is %d", file.Size)
	}
}

func TestLineNamesAreThoseOfTheirPage(t *testing.T) {
	h := NewHighlighter(1<<10, MaxHighlightedBytes)
	h.NewSourceLimiter().ColorFile("x.py", "", []byte("c"))
	if show(t, h.NewSourceLimiter().ColorFile("x.py", "other-", []byte("c")).HTML).Find("#other-L1").Length() != 1 {
		t.Error("the same text on another page has the first page's line names")
	}
}

func TestBigSourceIsShownPlain(t *testing.T) {
	page := NewHighlighter(1<<20, 600).NewSourceLimiter()
	for i, lines := range []int{60, 40, 1} { // the first file has 360 bytes, the limit is 600
		want := []int{60, 40, 0}[i]
		file := page.ColorFile("big.py", "", []byte(strings.Repeat("x = 1\n", lines)))
		if n := show(t, file.HTML).Find(".m").Length(); n != want {
			t.Errorf("of %d lines %d numbers are coloured, want %d", lines, n, want)
		}
	}
}

func TestASourceOfShortLinesHasASmallPage(t *testing.T) {
	for _, end := range []string{"\n", "\r"} {
		text := strings.Repeat("<"+end, 500_000)
		file := NewHighlighter(1, MaxHighlightedBytes).NewSourceLimiter().ColorFile("lines.py", "", []byte(text))
		var page bytes.Buffer
		if err := file.HTML.Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if page.Len() > 3*len(text) || !strings.Contains(page.String(), "&lt;\n&lt;\n") {
			t.Errorf("%d bytes became %d: %.60s", len(text), page.Len(), page.String())
		}
	}
}

// worstSources returns texts of the maximum highlighted size that take the most time or space.
func worstSources() (list []string) {
	for _, part := range []string{"a b()}", "1 ", "1\n", "\n", "\r", "<\"", "'''\n", "R\"("} {
		text := strings.Repeat(part, MaxHighlightedBytes/len(part))
		list = append(list, text, text[:min(len(part)*(maxNumberedLines-1), len(text))])
	}
	return list
}

func TestColoringNoSourceCostsMoreThanARequestMay(t *testing.T) {
	for _, text := range worstSources() {
		for _, name := range []string{"a.cu", "a.py", "a.yml", "a.json", "a.js", "a.md", "a.diff"} {
			costtest.Check(t, fmt.Sprintf("%s, %d of %.8q", name, len(text), text), func() {
				NewHighlighter(1, MaxHighlightedBytes).NewSourceLimiter().ColorFile(name, "", []byte(text))
			})
		}
	}
}

func TestLargeFilesAreCutOnPages(t *testing.T) {
	text := []byte(strings.Repeat("1 ", 100<<10))
	costtest.Check(t, "512 files of 200 kB", func() {
		page, size := NewHighlighter(1, MaxHighlightedBytes).NewSourceLimiter(), 0
		for range 512 {
			var html bytes.Buffer
			if err := page.ColorFile("a.cu", "", text).HTML.Render(t.Context(), &html); err != nil {
				t.Fatal(err)
			}
			size += html.Len()
		}
		if size > 12<<20 {
			t.Errorf("they make a page of %d bytes", size)
		}
	})
}

func TestRunSaysItsStateInWords(t *testing.T) {
	run := func(state work.RunState, score *float64) work.Run {
		return work.Run{State: state, ScoreNS: score, Work: work.Work{Device: "T4"}}
	}
	for _, test := range []struct {
		run  RunCard
		want string
	}{
		{RunCard{Run: run("queued", nil), QueuePosition: 3}, "T4: number 3 in the queue."},
		{RunCard{Run: run("ranking", nil)}, "T4: ranked timing."},
		{RunCard{Run: run("done", new(1500.0))}, "T4: passed, 1.500\u00a0µs."},
		{RunCard{Run: run("failed", nil)}, "T4: failed."},
	} {
		if got := test.run.Status(); got != test.want {
			t.Errorf("%+v says %q, want %q", test.run, got, test.want)
		}
	}
}

func TestStagesShowTheirProgress(t *testing.T) {
	began := time.Unix(100, 0)
	stage := func(status job.Status, cases ...job.Status) StageView {
		s := StageView{Result: job.StageResult{Stage: job.StageTest, Status: status, StartedAt: began,
			EndedAt: began.Add(1300 * time.Millisecond)}}
		for _, c := range cases {
			s.Result.Cases = append(s.Result.Cases, job.CaseResult{Status: c})
		}
		return s
	}
	ended := func(s StageView) StageView { s.HasResult = true; return s }
	running := stage("", job.StatusPass)
	running.IsRunning, running.TotalCases = true, 4
	ranked := stage("", job.StatusPass)
	ranked.IsRunning, ranked.TotalCases, ranked.Result.Stage = true, 2, job.StageRanked
	ranked.MinProcesses = 5
	first := ranked
	ranked.StartNextProcess(0) // case 0 again, so from the second process
	ranked.Result.Cases = append(ranked.Result.Cases, job.CaseResult{Status: job.StatusPass})
	sixth := ranked
	sixth.ProcessNumber = 6
	skipped := StageView{IsSkipped: true}
	for _, test := range []struct {
		stage         StageView
		note, summary string
	}{
		{StageView{}, "waiting", ""},
		{skipped, "not reached", ""},
		{running, "1 of 4 done", "1 of 4 so far"},
		{first, "process 1 of at least 5, case 2 of 2", "1 of 2 so far; times appear when all processes have ended"},
		{ranked, "process 2 of at least 5, case 2 of 2", "1 of 2 so far; times appear when all processes have ended"},
		{sixth, "process 6, case 2 of 2", "1 of 2 so far; times appear when all processes have ended"},
		{ended(stage(job.StatusPass, job.StatusPass)), "1.3\u00a0s", "1 case passed"},
		{ended(stage(job.StatusTimeout, job.StatusPass, job.StatusTimeout)), "too slow, 1.3\u00a0s",
			"1 of 2 cases passed"},
	} {
		if note, summary := test.stage.BarNote(), test.stage.Summary(); note != test.note || summary != test.summary {
			t.Errorf("the stage says %q and %q, want %q and %q", note, summary, test.note, test.summary)
		}
	}
}

// TestAFailureQuotesItsException checks that the exception is shown with the reason of a failure if the viewer may see
// the program's output; otherwise the reason is unchanged.
func TestAFailureQuotesItsException(t *testing.T) {
	const before = "The program ended with exit code 1 in case 0 (size: 16): "
	for want, stderr := range map[string]string{
		"TypeError at submission.py:8: unsupported operand": "Traceback (most recent call last):\n  File \"/tmp/job/eval.py\", line 90, in call\n" +
			"  File \"/tmp/job/submission.py\", line 8, in custom_kernel\n    x + None\n  File \"/usr/lib/numpy.py\", line 3, in add\nTypeError: unsupported operand.\n",
		"MemoryError":           "MemoryError\n",
		unparsedExceptionReason: "",
	} {
		doc := show(t, Run(RunCard{Run: work.Run{State: "failed",
			Failure: &job.Failure{Reason: before + unparsedExceptionReason + ".", ExitCode: 1}},
			SourceNames: SourceNames{MainFileNames: []string{"submission.py"}},
			Stages: []StageView{{HasResult: true,
				Result: job.StageResult{Stage: job.StageTest, Status: job.StatusError, Stderr: stderr}}}}))
		if got := strings.TrimSpace(doc.Find("[data-failure]").Text()); got != before+want+"." {
			t.Errorf("the failure is %q, want %q", got, before+want+".")
		}
	}
}

func TestFailedStageShowsItsOutputAtOnceAndLeadsToTheLine(t *testing.T) {
	stage := func(name job.Stage, status job.Status, stderr string) StageView {
		return StageView{HasResult: true, Result: job.StageResult{Stage: name, Status: status, Stderr: stderr,
			Command: "python3 eval.py"}}
	}
	doc := show(t, Run(RunCard{Run: work.Run{SubmissionID: 7, State: "failed",
		Failure: &job.Failure{Reason: "it ended with an exception", ExitCode: 1}},
		SourceNames: SourceNames{MainFileNames: []string{"submission.py"}},
		Stages: []StageView{stage(job.StageBuild, job.StatusPass, ""), stage(job.StageTest, job.StatusError,
			"  File \"/tmp/job/submission.py\", line 6, in helper\nValueError: no such shape\n")}}))
	if doc.Find("[data-output=test][open]").Length() != 1 || doc.Find("[data-output=build][open]").Length() != 0 {
		t.Error("of the two outputs, not only that of the failed stage is open")
	}
	if line := doc.Find("[data-run-remarks] a").AttrOr("href", ""); line != "/submissions/7?tab=source#L6" {
		t.Errorf("the failure leads to %q", line)
	}
}

// TestACompilersMessageIsShownOnce checks that a message is in the list of remarks on lines if there is one, otherwise
// in the reason of the failure.
func TestACompilersMessageIsShownOnce(t *testing.T) {
	const text = "submission.cpp:3:1: error: ‘output_tt’ does not name a type"
	for output, want := range map[string]string{
		text + "\nsubmission.cpp:9:1: error: another\n": "Compiling submission.cpp failed.",
		"":                              "Compiling submission.cpp failed: " + text + ".",
		"reference.h:3: error: not his": "Compiling submission.cpp failed: " + text + ".",
	} {
		doc := show(t, Run(RunCard{Run: work.Run{State: "failed",
			Failure: &job.Failure{Reason: "Compiling submission.cpp failed: " + text + ".", ExitCode: 1}},
			SourceNames: SourceNames{MainFileNames: []string{"submission.cpp"}},
			Stages: []StageView{{HasResult: true,
				Result: job.StageResult{Stage: job.StageBuild, Status: job.StatusError, Stderr: output}}}}))
		if got := strings.TrimSpace(doc.Find("[data-failure]").Text()); got != want {
			t.Errorf("the failure is %q, want %q", got, want)
		}
	}
}

func TestBrowsersHaveReadableNames(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0": "Edge on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1":          "Safari on iPhone",
		"curl/8.1": "curl", "": "Unknown", "robot": "robot",
	} {
		if got := BrowserName(agent); got != want {
			t.Errorf("%q is called %q, want %q", agent, got, want)
		}
	}
}

func TestNumbersOfReportsHaveFewDigits(t *testing.T) {
	for want, value := range map[string]any{"7.451e-09": 7.450580596923828e-09, "0.1239": 0.12393, "20 756": 20756.0,
		"cuBLAS": "cuBLAS", "true": true} {
		if got := strings.ReplaceAll(shortNumber(value), "\u202f", " "); got != want {
			t.Errorf("%v is shown as %q, want %q", value, got, want)
		}
	}
}

// TestTheRestOfAnEventIsWrittenAsOnABoard checks that the remaining time of an event has seconds only on the last day.
func TestTheRestOfAnEventIsWrittenAsOnABoard(t *testing.T) {
	for left, want := range map[time.Duration]string{
		80 * time.Hour: format.Duration(80 * time.Hour), 30*time.Hour - time.Second: "1\u00a0day 5\u00a0h",
		24*time.Hour - time.Second: "23:59:59", time.Second: "00:00:01",
	} {
		if got := countdown(left); got != want {
			t.Errorf("%v is %q, want %q", left, got, want)
		}
	}
}
