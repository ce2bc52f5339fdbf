package submissions_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/ncu"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestProfilePageShowsTheReportOfItsCase(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	doc := b.Page(webtest.ProfilePath(s.Second), http.StatusOK)
	webtest.CheckSound(t, doc)
	if tabs := doc.Find(".pf-cases a"); tabs.Length() != 3 ||
		webtest.Words(tabs.First()) != "m: 1024; n: 1024; k: 1024" {
		t.Errorf("tabs: %q", webtest.Words(tabs))
	}
	webtest.WantText(t, doc, "#sol", "90.4 %")
	webtest.WantText(t, doc, ".pf-kernels", "softmax_row")
	webtest.WantText(t, doc, "#roofline", "other entries on the board")
	webtest.WantText(t, doc, "#roofline", "1. Linus Ncu")
	webtest.WantText(t, doc, "#source", "S2R R2, SR_TID.X")
	if doc.Find(`.pf-downloads a[href$=".ncu-rep?case=0"]`).Length() != 1 {
		t.Error("there is no report file to download")
	}
	webtest.WantText(t, b.Page(webtest.ProfilePath(s.Second)+"?case=1", http.StatusOK), ".pf-failure",
		"longer than its time limit")
	doc = b.Page(webtest.ProfilePath(s.Second)+"?case=2", http.StatusOK)
	webtest.WantText(t, doc, ".pf-downloads", "This file of 20.0 MB (packed) was not kept")
	webtest.WantText(t, b.Page(webtest.ProfilePath(s.Second)+"?case=77", http.StatusOK), ".pf-failure",
		"was not profiled")
	if resp := b.Post(fmt.Sprintf("/runs/%d/disqualify", s.Second.ID),
		url.Values{"reason": {"It knows the answers."}}); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	webtest.WantText(t, b.Page(webtest.ProfilePath(s.Second), http.StatusOK), ".meta", "disqualified")
}

func TestTheProfileIsThereForPrograms(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	want := webtest.FixtureReport(t, "tri")
	var answer struct {
		Case   int
		Report ncu.Report
		Views  []ncu.DerivedViews
	}
	webtest.DecodeBody(t, b.Get(webtest.ProfilePath(s.Second)+".json?case=2"), &answer)
	if answer.Case != 2 || len(answer.Report.Kernels) != len(want.Kernels) || len(answer.Views) != len(want.Kernels) {
		t.Fatalf("case %d with %d kernels and %d views", answer.Case, len(answer.Report.Kernels), len(answer.Views))
	}
	got, ok := answer.Report.Kernels[0].Duration()
	if expected, _ := want.Kernels[0].Duration(); !ok || got != expected || answer.Report.Kernels[0].Source == nil {
		t.Errorf("duration %v, want %v", got, expected)
	}
	rows, err := csv.NewReader(b.Get(webtest.ProfilePath(s.Second) + ".csv").Body).ReadAll()
	if err != nil || len(rows) != 1+len(want.Kernels[0].Metrics)+len(want.Kernels[1].Metrics) {
		t.Errorf("%d rows of CSV, %v", len(rows), err)
	}
	webtest.WantStatus(t, b.Get(webtest.ProfilePath(s.Second)+".json?case=1"), http.StatusNotFound)
	webtest.WantStatus(t, b.Get(webtest.ProfilePath(s.Second)+".ncu-rep?case=2"), http.StatusNotFound)
}

func TestOthersSeeTheNumbersOfAProfileAndNotTheProgram(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	owner, err := s.Cfg.Store.Accounts.User(t.Context(), s.Second.UserID)
	if err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]struct {
		browser *webtest.Browser
		source  bool
	}{
		"visitor":   {s.Browser(), false},
		"other":     {s.BrowserOf(s.Ada), false},
		"submitter": {s.BrowserOf(owner), true},
		"admin":     {s.BrowserOf(s.Admin), true},
	} {
		doc := c.browser.Page(webtest.ProfilePath(s.Second), http.StatusOK)
		webtest.WantText(t, doc, "#sol", "90.4 %")
		whole := webtest.Words(doc.Find("main"))
		links := doc.Find(`.pf-downloads a[href*="ncu-rep"]`).Length() == 1
		if shown := strings.Contains(whole, "SR_TID"); shown != c.source || links != c.source {
			t.Errorf("%s: instructions shown: %v, report file linked: %v", who, shown, links)
		}
		text := webtest.Body(t, c.browser.Get(webtest.ProfilePath(s.Second)+".json"))
		if strings.Contains(text, "SR_TID") != c.source || !strings.Contains(text, "sm__throughput") {
			t.Errorf("%s: JSON with source: %v", who, !c.source)
		}
		status := http.StatusForbidden
		if c.source {
			status = http.StatusOK
		}
		webtest.WantStatus(t, c.browser.Get(webtest.ProfilePath(s.Second)+".ncu-rep"), status)
		compared := c.browser.Page(fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID), http.StatusOK)
		// One of the sources belongs to another person, so only the admin sees the comparison of both.
		if hidden := strings.Contains(webtest.Words(compared.Find("#code")),
			"The source of submission "); hidden != (who != "admin") {
			t.Errorf("%s: code of the comparison: %q", who, webtest.Words(compared.Find("#code")))
		}
	}
}

func TestNothingTellsOfTheRunsOfAHiddenTask(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	hidden, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, catalog.TaskSettings{
		Devices: s.Task.Devices, Visibility: catalog.Hidden})
	if err != nil || hidden.Visibility != catalog.Hidden {
		t.Fatal(err)
	}
	mine := modelstest.Submit(t, s.Cfg.Store, s.Ada, modelstest.Task(t, s.Cfg.Store, s.Admin, "open", "CPU"))[0]
	visitor := s.Browser()
	for _, path := range []string{
		webtest.ProfilePath(s.Second), webtest.ProfilePath(s.Second) + ".json", webtest.ProfilePath(s.Second) + ".csv",
		webtest.ProfilePath(s.Second) + ".txt", webtest.ProfilePath(s.Second) + ".ncu-rep",
		webtest.ProfilePath(s.Second) + ".ptx",
		fmt.Sprintf("/compare?a=%d&b=%d", mine.ID, s.Second.ID),
		fmt.Sprintf("/compare.json?a=%d&b=%d", s.Second.ID, mine.ID),
		fmt.Sprintf("/runs/%d/trace.json", s.Second.ID),
		fmt.Sprintf("/submissions/%d/runs/%d/profile", mine.SubmissionID, s.Second.ID),
	} {
		if resp := visitor.Get(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answered %s", path, resp.Status)
		}
	}
}

func TestARunWithoutProfileSaysWhy(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.Browser()
	own := s.BrowserOf(s.Admin)
	webtest.WantText(t, own.Page(webtest.ProfilePath(s.Refused), http.StatusOK), ".pf-failure", "ERR_NVGPUCTRPERM")
	webtest.WantText(t, own.Page(fmt.Sprintf("/submissions/%d", s.Refused.SubmissionID), http.StatusOK),
		"[data-profile-note]", "ERR_NVGPUCTRPERM")
	// Others see no details, because the profiler's message may quote the program.
	webtest.WantText(t, b.Page(webtest.ProfilePath(s.Refused), http.StatusOK), ".pf-failure", "The profile failed.")
	card := b.Page(fmt.Sprintf("/submissions/%d", s.Refused.SubmissionID), http.StatusOK)
	webtest.WantText(t, card, "[data-profile-note]", "The profile failed.")
	webtest.WantText(t, card, "[data-score]", "18.20") // the ranked result remains valid
	webtest.WantText(t, b.Page(webtest.ProfilePath(s.Done), http.StatusOK), ".pf-failure",
		"no worker with H200 could profile")
	webtest.WantText(t, b.Page(webtest.ProfilePath(s.Wrong), http.StatusOK), ".pf-failure",
		"Only a ranked run that passed")
	waiting := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Finish(waiting, 12e3)
	webtest.WantText(t, b.Page(webtest.ProfilePath(waiting), http.StatusOK), ".pf-failure",
		"runs once nothing else is waiting for H200")
}

func TestComparePageLaysTwoRunsSideBySide(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	path := fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID)
	doc := b.Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, ".pf-sides", "by Linus Ncu")
	webtest.WantText(t, doc, "#times tbody tr", "1.30×")
	webtest.WantText(t, doc, "#code .pf-add", "The columns of B are read with a stride.")
	if n := doc.Find("#profile h3").Length(); n < 4 {
		t.Errorf("%d pairs of kernels", n)
	}
	webtest.WantText(t, b.Page(path+"&case=1", http.StatusOK), "[data-no-profile]",
		fmt.Sprintf("#%d has no profile of this case: Profiling took longer", s.First.SubmissionID))
	var answer struct {
		A, B    struct{ Run int64 }
		Cases   []struct{ Spec string }
		Kernels []ncu.KernelPair
	}
	webtest.DecodeBody(t, b.Get(strings.Replace(path, "/compare", "/compare.json", 1)), &answer)
	if answer.A.Run != s.First.ID || answer.B.Run != s.Second.ID || len(answer.Cases) != 3 || len(answer.Kernels) < 4 {
		t.Errorf("%+v with %d kernels", answer.A, len(answer.Kernels))
	}
	rows, err := csv.NewReader(b.Get(strings.Replace(path, "/compare", "/compare.csv", 1)).Body).ReadAll()
	if err != nil || len(rows) < 100 ||
		!slices.Equal(rows[1], []string{"times", "mean", "m: 1024; n: 1024; k: 1024; seed: 54352", "ns", "36400",
			"47320"}) {
		t.Errorf("%d rows of CSV: %q, %v", len(rows), rows[1], err)
	}
	for _, wrong := range []string{"", "?a=1", "?a=x&b=2", fmt.Sprintf("?a=%d&b=-3", s.First.ID)} {
		webtest.WantStatus(t, b.Get("/compare.json"+wrong), http.StatusUnprocessableEntity)
	}
	webtest.WantStatus(t, b.Get(fmt.Sprintf("/compare?a=%d&b=99999", s.First.ID)), http.StatusNotFound)
}

func TestSubmissionPageLooksCloserAtARun(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	doc := b.Page(fmt.Sprintf("/submissions/%d", s.Second.SubmissionID), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-measured] section", "m: 1024; n: 1024; k: 1024; seed: 54352")
	webtest.WantText(t, doc, "[data-measured] section", "95th percentile")
	if n := doc.Find("[data-measured] svg").Length(); n != 3 {
		t.Errorf("%d histograms for three cases", n)
	}
	// 2 × 1024³ operations in 47.32 µs, and three matrices of 4 MiB each.
	webtest.WantText(t, doc, "[data-rates]", "45.38 TFLOP/s, 5 % of the Tensor BF16 roof")
	webtest.WantText(t, doc, "[data-rates]", "265.9 GB/s, 6 % of the DRAM roof")
	webtest.WantText(t, doc, "[data-kernels] tbody", "tile 64 4.2 KiB 0 B 40 B")
	webtest.WantText(t, doc, "[data-timeline]", "Ranked")
	webtest.WantText(t, doc, "[data-conditions]", "SM clock 1980 MHz Temperature 41 °C")
	links := doc.Find("article a")
	for _, want := range []string{webtest.ProfilePath(s.Second),
		fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID)} {
		if links.FilterFunction(func(_ int, a *selection) bool { return a.AttrOr("href", "") == want }).Length() != 1 {
			t.Errorf("not one link to %s", want)
		}
	}
	source := b.Page(fmt.Sprintf("/submissions/%d?tab=source", s.Second.SubmissionID), http.StatusOK)
	webtest.WantText(t, source, ".source .remark-warning", `variable "left" was declared but never referenced`)
	webtest.WantText(t, source, "[data-remarks]", "line 7 warning:")
}

func TestTheTraceHoldsTheRunAndItsProfile(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	var trace struct {
		TraceEvents []struct {
			Name string
			Dur  int64
		}
	}
	webtest.DecodeBody(t, s.Browser().Get(fmt.Sprintf("/runs/%d/trace.json", s.Second.ID)), &trace)
	var names []string
	for _, e := range trace.TraceEvents {
		names = append(names, e.Name)
	}
	if want := []string{"Queued", "Build", "Test", "Benchmark", "Ranked", "Queued", "Build",
		"Profile"}; !slices.Equal(names, want) {
		t.Fatalf("trace: %q", names)
	}
	if took := trace.TraceEvents[1].Dur; took != 4_000_000 {
		t.Errorf("the build took %d µs", took)
	}
}

func TestBoardRowsLeadToProfilesAndComparisons(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.Browser()
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	row := func(run work.Run) *selection {
		return b.Page(board, http.StatusOK).Find(fmt.Sprintf("#entry-%d", run.UserID))
	}
	compare := fmt.Sprintf(`a[href="/compare?a=%d&b=%d"]`, s.First.ID, s.Second.ID)
	if r := row(s.Second); r.Find(fmt.Sprintf("a[href=%q]", webtest.ProfilePath(s.Second))).Length() != 1 ||
		r.Find(compare).Length() != 1 {
		t.Error("the second's row has no links")
	}
	if row(s.First).Find(`a[href^="/compare"]`).Length() != 0 ||
		row(s.Refused).Find(`a[href$="/profile"]`).Length() != 0 {
		t.Error("a row leads where nothing is")
	}
	// A new profile of an entry changes the board's ETag, so browsers load the board again.
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Finish(run, 9.5e3)
	etag := b.Get(board).Header.Get("ETag")
	s.Profile(run, "tri")
	if resp := b.Get(board, "If-None-Match", etag); resp.StatusCode != http.StatusOK {
		t.Errorf("the board answered %s", resp.Status)
	}
}
