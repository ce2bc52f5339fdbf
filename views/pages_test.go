package views

import (
	"context"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
	"warpboard/views/format"
)

func TestAddressesEscapeWhatPeopleName(t *testing.T) {
	const slug, path = "a/b?c", "dir/x y&z.h"
	for got, want := range map[templ.SafeURL]string{
		TaskURL(slug):                               "/tasks/a%2Fb%3Fc",
		TaskPartURL(slug, "edit"):                   "/tasks/a%2Fb%3Fc/edit",
		BoardURL(slug, "H100 SXM 80GB"):             "/tasks/a%2Fb%3Fc/boards/H100%20SXM%2080GB",
		TaskFileURL("t", path):                      "/tasks/t/file?path=dir%2Fx+y%26z.h",
		TaskTemplateURL("t", "C++"):                 "/tasks/t/template?label=C%2B%2B",
		FromTemplateURL("t", "C++"):                 "/tasks/t/solve?template=C%2B%2B",
		resubmitURL("t", 7):                         "/tasks/t/solve?from=7",
		SignInURL(""):                               "/sign-in",
		SignInURL("/tasks/t?x=1"):                   "/sign-in?next=%2Ftasks%2Ft%3Fx%3D1",
		providerURL("github", ""):                   "/auth/github",
		providerURL("oidc", "/me"):                  "/auth/oidc?next=%2Fme",
		ProfileURL(3, 4):                            "/submissions/3/runs/4/profile",
		SourceURL(3):                                "/submissions/3?tab=source",
		CompareURL(1, 2):                            "/compare?a=1&b=2",
		CompareURL(1, 0):                            "",
		templ.SafeURL(RunCard{}.URL()):              "/submissions/0/runs/0",
		BoardURL("t", "x") + versionQuery(3, false): "/tasks/t/boards/x?version=3",
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
		if _, err := url.Parse(string(got)); err != nil {
			t.Error(err)
		}
	}
}

func TestDeadlinesSayWhetherTheyHavePassed(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		deadline Deadline
		closed   bool
		text     string
	}{
		{Deadline{RenderedAt: now}, false, "No deadline"},
		{Deadline{Time: now.Add(90 * time.Minute), RenderedAt: now}, false,
			"Closes 1 Mar 2026, 13:30 UTC (in 1\u00a0h 30\u00a0min)"},
		{Deadline{Time: now, RenderedAt: now}, true, "Closed 1 Mar 2026, 12:00 UTC"},
		// Seconds are shown unless they are 0.
		{Deadline{Time: now.Add(-time.Second), RenderedAt: now}, true, "Closed 1 Mar 2026, 11:59:59 UTC"},
	} {
		doc := show(t, deadline(test.deadline))
		if got := strings.Join(strings.Fields(strings.ReplaceAll(doc.Text(), "\u00a0", "~")),
			" "); got != strings.ReplaceAll(test.text, "\u00a0", "~") || test.deadline.HasPassed() != test.closed {
			t.Errorf("%q (closed %v), want %q", got, test.deadline.HasPassed(), test.text)
		}
	}
}

func TestPagersLinkToTheirNeighbours(t *testing.T) {
	address := func(page int) string { return "?page=" + string(rune('0'+page)) }
	for page, want := range map[int]string{1: "next ?page=2", 2: "prev ?page=1, next ?page=3", 3: "prev ?page=2"} {
		var links []string
		doc := show(t, pager(page, 3, address))
		for _, a := range doc.Find("a").EachIter() {
			links = append(links, a.AttrOr("rel", "")+" "+a.AttrOr("href", ""))
		}
		if got := strings.Join(links, ", "); got != want {
			t.Errorf("page %d links to %q, want %q", page, got, want)
		}
	}
	if n := show(t, pager(1, 1, address)).Find("nav").Length(); n != 0 {
		t.Error("a single page has a pager")
	}
}

func TestEachPersonHasADifferentPicture(t *testing.T) {
	seen := map[string]int64{}
	for id := range int64(200) {
		look := (Person{ID: id}).lanes()
		if other, taken := seen[look]; taken {
			t.Errorf("people %d and %d look alike", id, other)
		}
		seen[look] = id
	}
}

func TestALineOfScoresIsDrawnWhereverThereAreTwo(t *testing.T) {
	for _, scores := range [][]float64{nil, {5}, {5, 5}, {0, 1}, {math.Inf(1), 1}, {math.NaN(), 1}, {1, math.NaN()}} {
		if path := sparkPath(scores); path != "" {
			t.Errorf("%v is %s", scores, path)
		}
	}
	if got, want := sparkPath([]float64{100, 10, 1}), "M2.0 2.0H50.0V12.0H98.0V22.0"; got != want {
		t.Errorf("the line is %s, want %s", got, want)
	}
}

func TestChangesOfATaskMarkEachLine(t *testing.T) {
	doc := show(t, diffText(TaskChange{Key: "description",
		Lines: format.Diff("1\n2\n3\n4\n5\n<b>\n", "1\n2\n3\n4\n5\n<i>\n")}))
	if got, want := doc.Find("del").Text()+doc.Find("ins").Text()+doc.Find(".soft").Text(),
		"- <b>\n+ <i>\n⋯ 2 equal lines\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDraftsSayWhatPublishingDoes(t *testing.T) {
	task := TaskRef{Slug: "add"}
	change := []TaskChange{{Key: "tests"}}
	for _, test := range []struct {
		on    TaskRef
		draft TaskDraft
		want  string
	}{
		{TaskRef{}, TaskDraft{Updates: task}, "Save the settings"},
		{task, TaskDraft{Updates: task}, "Nothing to publish"},
		{task, TaskDraft{Updates: task, MayUseStandardHarness: true}, "Preview with the other harness"},
		{task, TaskDraft{Updates: task, Changes: change}, "Publish the changes"},
		{task, TaskDraft{Updates: task, Changes: change, NewVersion: true}, "Publish a new version with empty boards"},
	} {
		if got := publishLabel(TaskPreviewPage{Task: test.on}, test.draft); got != test.want {
			t.Errorf("%+v: %q, want %q", test.draft, got, test.want)
		}
	}
	settings := TaskSettings{Others: "B200", Devices: []DeviceChoice{{Device: "T4", Chosen: true}, {Device: "L4"}}}
	if got := devicesInShort(settings); got != "T4, B200" {
		t.Errorf("devices: %q", got)
	}
	if got := devicesInShort(TaskSettings{}); got != "no device yet" {
		t.Errorf("no devices: %q", got)
	}
}

func TestErrorPagesHaveAHeadingForEachStatus(t *testing.T) {
	for status, want := range map[int]string{
		400: "Invalid request", 401: "Please sign in", 403: "Not allowed", 404: "Not found",
		409: "Not possible right now",
		413: "Too large", 422: "Invalid request", 429: "Too many requests", 500: "Something went wrong",
		503: "Not available right now",
	} {
		doc := show(t, Error(ErrorPage{Status: status, Sentence: "no task of that name", RequestID: "r1"}))
		if got := doc.Find("h1").Text(); got != want {
			t.Errorf("%d is headed %q, want %q", status, got, want)
		}
		text := doc.Find("main").Text()
		if !strings.Contains(text, "No task of that name.") {
			t.Errorf("%d does not say what was wrong", status)
		}
		if named := strings.Contains(text, "r1"); named != (status >= 500) {
			t.Errorf("%d names the request: %v", status, named)
		}
	}
}

func TestAttacksCountOnceForAllDevices(t *testing.T) {
	got, tried := countExpectedOutcomes([]Attack{
		{Results: []AttackResult{{EndedAsExpected: true}, {EndedAsExpected: true}}},
		{Results: []AttackResult{{EndedAsExpected: true}, {EndedAsExpected: false}}},
		{Results: []AttackResult{{EndedAsExpected: true}, {EndedAsExpected: false, IsFromOtherVersion: true}}},
		{Results: []AttackResult{{EndedAsExpected: true, IsFromOtherVersion: true}}},
		{},
	})
	if got != 2 || tried != 3 {
		t.Errorf("%d of %d", got, tried)
	}
}

func TestAttacksSayWhyOthersDidNotRun(t *testing.T) {
	ran, older := AttackResult{EndedAsExpected: true}, AttackResult{EndedAsExpected: true, IsFromOtherVersion: true}
	corpus := []Attack{{Results: []AttackResult{ran}}, {NeedsGPU: true, Results: []AttackResult{ran, older}}}
	message := "All 2 that were run with this version were refused or timed truthfully."
	for _, test := range []struct {
		others []Attack
		want   string
	}{
		{nil, message},
		{[]Attack{{}}, message},
		{[]Attack{{NeedsGPU: true}}, message + " 1 other needs a GPU."},
		{[]Attack{{NeedsGPU: true}, {NeedsGPU: true, Results: []AttackResult{older}}},
			message + " 2 others need a GPU; 1 of them ran with an earlier version."},
	} {
		if got := attacksSummary(append(slices.Clone(corpus), test.others...)); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestTasksAreNamedForPeople(t *testing.T) {
	for got, want := range map[string]string{
		LangName(tasks.LangCUDA): "CUDA C++", LangName(tasks.LangPython): "Python", LangName(tasks.LangCPP): "C++",
		LangName("zig"):                      "zig",
		RankingName(tasks.RankLastCase):      "Time of the last benchmark case",
		RankingName(tasks.RankMean):          "Mean time of the benchmark cases",
		RankingName(tasks.RankGeometricMean): "Geometric mean of the benchmark cases", RankingName("sum"): "sum",
		ModeName("ranked"): "Ranked", ModeName("odd"): "odd",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	cases := []tasks.Case{{{Name: "n", Value: "1"}}, {{Name: "m", Value: "2"}, {Name: "n", Value: "3"}}}
	if diff := cmp.Diff([]string{"n", "m"}, argumentNames(cases)); diff != "" {
		t.Error(diff)
	}
	if got := argumentText(cases[0], "m") + argumentText(cases[1], "m"); got != "–2" {
		t.Errorf("values of m: %q", got)
	}
	if got := argumentText(cases[0], tasks.DevicesKey); got != "all" {
		t.Errorf("devices of a case that names none: %q", got)
	}
}

func TestSourceWithRemarksThatCannotBeWrittenFails(t *testing.T) {
	broken := templ.ComponentFunc(func(context.Context, io.Writer) error { return io.ErrClosedPipe })
	file := SourceFile{HTML: broken, Remarks: []Remark{{Line: 1, Text: "x"}}}
	if err := file.annotatedText().Render(t.Context(), io.Discard); err != io.ErrClosedPipe {
		t.Errorf("got %v", err)
	}
}

func TestTheRulesOfATaskHaveItsToleranceAndSetup(t *testing.T) {
	atol := 0.001
	page := TaskPage{Definition: tasks.Definition{
		AllowSetup: true,
		Tolerance:  &tasks.Tolerances{Tolerance: tasks.Tolerance{ATol: &atol}},
	}}
	if text := show(t, taskFacts(page)).Text(); !strings.Contains(text, "atol 0.001") || !strings.Contains(text, "setup(meta) before each case is not timed") {
		t.Errorf("%q", text)
	}
	if text := show(t, taskFacts(TaskPage{})).Text(); strings.Contains(text, "Tolerance") || strings.Contains(text, "Setup") {
		t.Errorf("without them: %q", text)
	}
}
