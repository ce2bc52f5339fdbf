package web

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
	"warpboard/views"
)

func profilePath(run work.Run) string { return string(views.ProfileURL(run.SubmissionID, run.ID)) }

func TestProfilePageShowsTheReportOfItsCase(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browserOf(s.admin)
	doc := b.page(profilePath(s.second), http.StatusOK)
	checkSound(t, doc)
	if tabs := doc.Find(".pf-cases a"); tabs.Length() != 3 || words(tabs.First()) != "m: 1024, n: 1024, k: 1024, seed: 54352" {
		t.Errorf("tabs: %q", words(tabs))
	}
	wantText(t, doc, "#sol", "90.4 %")
	wantText(t, doc, ".pf-kernels", "softmax_row")
	wantText(t, doc, "#roofline", "other entries on the board")
	wantText(t, doc, "#roofline", "1. Linus Ncu")
	wantText(t, doc, "#source", "S2R R2, SR_TID.X")
	if doc.Find(`.pf-downloads a[href$=".ncu-rep?case=0"]`).Length() != 1 {
		t.Error("there is no report file to download")
	}
	wantText(t, b.page(profilePath(s.second)+"?case=1", http.StatusOK), ".pf-failure", "longer than its time limit")
	doc = b.page(profilePath(s.second)+"?case=2", http.StatusOK)
	wantText(t, doc, ".pf-downloads", "This file of 20.0 MB (packed) was not kept")
	wantText(t, b.page(profilePath(s.second)+"?case=77", http.StatusOK), ".pf-failure", "was not profiled")
	if resp := b.post(fmt.Sprintf("/runs/%d/disqualify", s.second.ID), url.Values{"reason": {"It knows the answers."}}); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	wantText(t, b.page(profilePath(s.second), http.StatusOK), ".meta", "disqualified")
}

func TestTheProfileIsThereForPrograms(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browserOf(s.admin)
	want := fixtureReport(t, "tri")
	var answer struct {
		Case   int
		Report ncu.Report
		Views  []ncu.Views
	}
	decodeBody(t, b.get(profilePath(s.second)+".json?case=2"), &answer)
	if answer.Case != 2 || len(answer.Report.Kernels) != len(want.Kernels) || len(answer.Views) != len(want.Kernels) {
		t.Fatalf("case %d with %d kernels and %d views", answer.Case, len(answer.Report.Kernels), len(answer.Views))
	}
	got, ok := answer.Report.Kernels[0].Duration()
	if expected, _ := want.Kernels[0].Duration(); !ok || got != expected || answer.Report.Kernels[0].Source == nil {
		t.Errorf("duration %v, want %v", got, expected)
	}
	rows, err := csv.NewReader(b.get(profilePath(s.second) + ".csv").Body).ReadAll()
	if err != nil || len(rows) != 1+len(want.Kernels[0].Metrics)+len(want.Kernels[1].Metrics) {
		t.Errorf("%d rows of CSV, %v", len(rows), err)
	}
	wantStatus(t, b.get(profilePath(s.second)+".json?case=1"), http.StatusNotFound)
	wantStatus(t, b.get(profilePath(s.second)+".ncu-rep?case=2"), http.StatusNotFound)
}

func TestOthersSeeTheNumbersOfAProfileAndNotTheProgram(t *testing.T) {
	s := newProfiledScene(t)
	owner, err := s.site.Store.Accounts.User(t.Context(), s.second.UserID)
	if err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]struct {
		browser *browser
		source  bool
	}{
		"visitor":   {s.browser(), false},
		"other":     {s.browserOf(s.ada), false},
		"submitter": {s.browserOf(owner), true},
		"admin":     {s.browserOf(s.admin), true},
	} {
		doc := c.browser.page(profilePath(s.second), http.StatusOK)
		wantText(t, doc, "#sol", "90.4 %")
		whole := words(doc.Find("main"))
		links := doc.Find(`.pf-downloads a[href*="ncu-rep"]`).Length() == 1
		if shown := strings.Contains(whole, "SR_TID"); shown != c.source || links != c.source {
			t.Errorf("%s: instructions shown: %v, report file linked: %v", who, shown, links)
		}
		text := body(t, c.browser.get(profilePath(s.second)+".json"))
		if strings.Contains(text, "SR_TID") != c.source || !strings.Contains(text, "sm__throughput") {
			t.Errorf("%s: JSON with source: %v", who, !c.source)
		}
		status := http.StatusForbidden
		if c.source {
			status = http.StatusOK
		}
		wantStatus(t, c.browser.get(profilePath(s.second)+".ncu-rep"), status)
		compared := c.browser.page(fmt.Sprintf("/compare?a=%d&b=%d", s.second.ID, s.second.ID), http.StatusOK)
		if hidden := strings.Contains(words(compared.Find("#code")), "The code is not shown"); hidden == c.source {
			t.Errorf("%s: code of the comparison: %q", who, words(compared.Find("#code")))
		}
	}
}

func TestNothingTellsOfTheRunsOfAHiddenTask(t *testing.T) {
	s := newProfiledScene(t)
	hidden, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{
		Devices: s.task.Devices, Visibility: catalog.Hidden})
	if err != nil || hidden.Visibility != catalog.Hidden {
		t.Fatal(err)
	}
	mine := modelstest.Submit(t, s.site.Store, s.ada, modelstest.Task(t, s.site.Store, s.admin, "open", "CPU"))[0]
	visitor := s.browser()
	for _, path := range []string{
		profilePath(s.second), profilePath(s.second) + ".json", profilePath(s.second) + ".csv", profilePath(s.second) + ".txt", profilePath(s.second) + ".ncu-rep", profilePath(s.second) + ".ptx",
		fmt.Sprintf("/compare?a=%d&b=%d", mine.ID, s.second.ID), fmt.Sprintf("/compare.json?a=%d&b=%d", s.second.ID, mine.ID),
		fmt.Sprintf("/runs/%d/trace.json", s.second.ID),
		fmt.Sprintf("/submissions/%d/runs/%d/profile", mine.SubmissionID, s.second.ID),
	} {
		if resp := visitor.get(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answered %s", path, resp.Status)
		}
	}
}

func TestARunWithoutProfileSaysWhy(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browser()
	own := s.browserOf(s.admin)
	wantText(t, own.page(profilePath(s.refused), http.StatusOK), ".pf-failure", "ERR_NVGPUCTRPERM")
	wantText(t, own.page(fmt.Sprintf("/submissions/%d", s.refused.SubmissionID), http.StatusOK), "[data-profile-note]", "ERR_NVGPUCTRPERM")
	wantText(t, b.page(profilePath(s.refused), http.StatusOK), ".pf-failure", "The profile failed.") // profilers quote programs
	card := b.page(fmt.Sprintf("/submissions/%d", s.refused.SubmissionID), http.StatusOK)
	wantText(t, card, "[data-profile-note]", "The profile failed.")
	wantText(t, card, "[data-score]", "18.20") // the ranked result stands
	wantText(t, b.page(profilePath(s.done), http.StatusOK), ".pf-failure", "no worker with H200 could profile")
	wantText(t, b.page(profilePath(s.wrong), http.StatusOK), ".pf-failure", "Only a ranked run that passed")
	waiting := s.submit(s.ada, "H200", goodKernel)
	s.finish(waiting, 12e3)
	wantText(t, b.page(profilePath(waiting), http.StatusOK), ".pf-failure", "runs once nothing else is waiting for H200")
}

func TestComparePageLaysTwoRunsSideBySide(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browserOf(s.admin)
	path := fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, s.second.ID)
	doc := b.page(path, http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, ".pf-sides", "by Linus Ncu")
	wantText(t, doc, "#times tbody tr", "1.30×")
	wantText(t, doc, "#code .pf-add", "The columns of B are read with a stride.")
	if n := doc.Find("#profile h3").Length(); n < 4 {
		t.Errorf("%d pairs of kernels", n)
	}
	wantText(t, b.page(path+"&case=1", http.StatusOK), "#profile", "A has no profile of this case: Profiling took longer")
	var answer struct {
		A, B    struct{ Run int64 }
		Cases   []struct{ Spec string }
		Kernels []ncu.Pair
	}
	decodeBody(t, b.get(strings.Replace(path, "/compare", "/compare.json", 1)), &answer)
	if answer.A.Run != s.first.ID || answer.B.Run != s.second.ID || len(answer.Cases) != 3 || len(answer.Kernels) < 4 {
		t.Errorf("%+v with %d kernels", answer.A, len(answer.Kernels))
	}
	rows, err := csv.NewReader(b.get(strings.Replace(path, "/compare", "/compare.csv", 1)).Body).ReadAll()
	if err != nil || len(rows) < 100 || !slices.Equal(rows[1], []string{"times", "mean", "m: 1024; n: 1024; k: 1024; seed: 54352", "ns", "36400", "47320"}) {
		t.Errorf("%d rows of CSV: %q, %v", len(rows), rows[1], err)
	}
	for _, wrong := range []string{"", "?a=1", "?a=x&b=2", fmt.Sprintf("?a=%d&b=-3", s.first.ID)} {
		wantStatus(t, b.get("/compare.json"+wrong), http.StatusUnprocessableEntity)
	}
	wantStatus(t, b.get(fmt.Sprintf("/compare?a=%d&b=99999", s.first.ID)), http.StatusNotFound)
}

func TestSubmissionPageLooksCloserAtARun(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browserOf(s.admin)
	doc := b.page(fmt.Sprintf("/submissions/%d", s.second.SubmissionID), http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[data-measured] section", "m: 1024; n: 1024; k: 1024; seed: 54352")
	wantText(t, doc, "[data-measured] section", "95th percentile")
	if n := doc.Find("[data-measured] svg").Length(); n != 3 {
		t.Errorf("%d histograms for three cases", n)
	}
	// 2 × 1024³ operations in 47.32 µs; three matrices of 4 MiB.
	wantText(t, doc, "[data-rates]", "45.38 TFLOP/s, 5 % of the Tensor BF16 roof")
	wantText(t, doc, "[data-rates]", "265.9 GB/s, 6 % of the DRAM roof")
	wantText(t, doc, "[data-kernels] tbody", "tile 64 4.2 KiB 0 B 40 B")
	wantText(t, doc, "[data-timeline]", "Ranked")
	wantText(t, doc, "[data-conditions]", "SM clock 1980 MHz Temperature 41 °C")
	links := doc.Find("article a")
	for _, want := range []string{profilePath(s.second), fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, s.second.ID)} {
		if links.FilterFunction(func(_ int, a *selection) bool { return a.AttrOr("href", "") == want }).Length() != 1 {
			t.Errorf("not one link to %s", want)
		}
	}
	source := b.page(fmt.Sprintf("/submissions/%d?tab=source", s.second.SubmissionID), http.StatusOK)
	wantText(t, source, ".source .remark-warning", `variable "left" was declared but never referenced`)
	wantText(t, source, "[data-remarks]", "line 7 warning:")
}

func TestTheTraceHoldsTheRunAndItsProfile(t *testing.T) {
	s := newProfiledScene(t)
	var trace struct {
		TraceEvents []struct {
			Name string
			Dur  int64
		}
	}
	decodeBody(t, s.browser().get(fmt.Sprintf("/runs/%d/trace.json", s.second.ID)), &trace)
	var names []string
	for _, e := range trace.TraceEvents {
		names = append(names, e.Name)
	}
	if want := []string{"Queued", "Build", "Test", "Benchmark", "Ranked", "Queued", "Build", "Profile"}; !slices.Equal(names, want) {
		t.Fatalf("trace: %q", names)
	}
	if took := trace.TraceEvents[1].Dur; took != 4_000_000 {
		t.Errorf("the build took %d µs", took)
	}
}

func TestBoardRowsLeadToProfilesAndComparisons(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browser()
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	row := func(run work.Run) *selection {
		return b.page(board, http.StatusOK).Find(fmt.Sprintf("#entry-%d", run.UserID))
	}
	compare := fmt.Sprintf(`a[href="/compare?a=%d&b=%d"]`, s.first.ID, s.second.ID)
	if r := row(s.second); r.Find(fmt.Sprintf("a[href=%q]", profilePath(s.second))).Length() != 1 || r.Find(compare).Length() != 1 {
		t.Error("the second's row has no links")
	}
	if row(s.first).Find(`a[href^="/compare"]`).Length() != 0 || row(s.refused).Find(`a[href$="/profile"]`).Length() != 0 {
		t.Error("a row leads where nothing is")
	}
	// A browser that holds the board gets it again when an entry was profiled.
	run := s.submit(s.ada, "H200", goodKernel)
	s.finish(run, 9.5e3)
	etag := b.get(board).Header.Get("ETag")
	s.profile(run, "tri")
	if resp := b.get(board, "If-None-Match", etag); resp.StatusCode != http.StatusOK {
		t.Errorf("the board answered %s", resp.Status)
	}
}
