package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

func TestSubmittingByTextAndByFile(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	submit := "/tasks/" + s.task.Slug + "/submit"
	form := url.Values{"source": {"// typed\r\nint a;\r\n"}, "device": {"H200", "CPU"}, "mode": {"benchmark"}}
	doc := document(t, b.upload(submit, "", "", nil, form), http.StatusOK)
	if n := doc.Find("[data-run]").Length(); n != 2 {
		t.Errorf("two devices gave %d runs", n)
	}
	wantText(t, doc, ".meta", "Submitted by Ada Lovelace")
	source := doc.Find("nav.tabs a").Last().AttrOr("href", "")
	wantText(t, b.page(source, http.StatusOK), ".source", "// typed")

	form = url.Values{"source": {"// typed"}, "device": {"H200"}, "mode": {"test"}}
	doc = document(t, b.upload(submit, "file", "mine.cu", []byte("// from a file\n"), form), http.StatusOK)
	source = doc.Find("nav.tabs a").Last().AttrOr("href", "")
	wantText(t, b.page(source, http.StatusOK), "h2", "mine.cu")
	wantText(t, b.page(source, http.StatusOK), ".source", "// from a file")
}

func TestRefusedSubmissionComesBackAsItWasTyped(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	form := url.Values{"source": {"// precious work\n"}, "mode": {"test"}}
	doc := document(t, b.upload("/tasks/"+s.task.Slug+"/submit", "", "", nil, form), http.StatusUnprocessableEntity)
	checkSound(t, doc)
	wantText(t, doc, "#submit [role=alert]", "device")
	wantText(t, doc, "#source", "// precious work")
	if _, checked := doc.Find("input[value=test]").Attr("checked"); !checked {
		t.Error("the mode was not kept")
	}
	if doc.Find("input[name=device][checked]").Length() != 0 {
		t.Error("a device was chosen for the person")
	}
}

func TestRefusedFileKeepsItsName(t *testing.T) {
	s := newScene(t)
	form := url.Values{"mode": {"test"}}
	doc := document(t, s.browserOf(s.ada).upload("/tasks/"+s.task.Slug+"/submit", "file", "mine.cu", []byte("// from a file\n"), form), http.StatusUnprocessableEntity)
	wantText(t, doc, "#source", "// from a file")
	if name := doc.Find("input[name=filename]").AttrOr("value", ""); name != "mine.cu" {
		t.Errorf("the text would be sent again as %q", name)
	}
}

func TestWhatCameAfterTheDeadlineComesBack(t *testing.T) {
	s := newScene(t)
	past := time.Now().Add(-time.Second)
	if _, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{Title: s.task.Title, Devices: s.task.Devices, Deadline: &past}); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"source": {"// a second too late"}, "device": {"H200"}, "mode": {"test"}}
	doc := document(t, s.browserOf(s.ada).upload("/tasks/"+s.task.Slug+"/submit", "", "", nil, form), http.StatusForbidden)
	wantText(t, doc, "#submit [role=alert]", "deadline")
	wantText(t, doc, "#source", "// a second too late")
}

func TestAddressesOfFormsAnswerGet(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.admin)
	task := "/tasks/" + s.task.Slug
	for path, want := range map[string]string{
		task + "/submit": task, task + "/version": task + "/edit", task + "/publish": task + "/edit", task + "/delete": task + "/edit",
		"/tasks/publish": "/tasks/new", "/workers": "/devices",
	} {
		resp := b.get(path)
		wantStatus(t, resp, http.StatusOK)
		if got := resp.Request.URL.Path; got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

func TestFailedRunSaysWhy(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	doc := b.page(fmt.Sprintf("/submissions/%d", s.failed.SubmissionID), http.StatusOK)
	wantText(t, doc, "[data-failure]", `line 3: expected a ";"`)
	wantText(t, doc, "[data-stage=build].stage-fail", "error")
	wantText(t, doc, "[data-stage=test]", "not reached")
	wantText(t, doc, "[data-output=build][open]", "1 error detected")
	if line := doc.Find("[data-run-remarks] a").AttrOr("href", ""); line != fmt.Sprintf("/submissions/%d?tab=source#L3", s.failed.SubmissionID) {
		t.Errorf("the failure leads to %q, want the line that is wrong", line)
	}
	if doc.Find("[data-part=output]:has([data-output=build]) ~ [data-part=profile] [data-timeline]").Length() != 1 {
		t.Error("what the compiler said comes after the timeline")
	}

	doc = b.page(fmt.Sprintf("/submissions/%d", s.wrong.SubmissionID), http.StatusOK)
	wantText(t, doc, "[data-failure]", "expected 128.25, got 127.75")
	wantText(t, doc, "[data-cases=test][open] summary", "4 of 5 cases passed")
	wantText(t, doc, "[data-case='3'][data-status=fail] + [data-said='3']", "41 of 262144 elements differ")
}

func TestRankedRunShowsItsNumbersAndPlace(t *testing.T) {
	s := newScene(t)
	doc := s.browser().page(fmt.Sprintf("/submissions/%d", s.done.SubmissionID), http.StatusOK)
	wantText(t, doc, "[data-score]", "11.91 µs")
	if title := doc.Find("[data-score] .num[title]").AttrOr("title", ""); title != "11910 ns" {
		t.Errorf("the exact score is %q", title)
	}
	wantText(t, doc, "[data-outcome] [data-fact=place]", "5th on H200")
	row := "[data-cases=ranked] [data-case='0']"
	wantText(t, doc, row, "n: 1024; seed: 1")
	wantText(t, doc, row, "± 0.20 %")
	wantText(t, doc, "[data-machine]", "1980 MHz")
	wantText(t, doc, "[data-cases=ranked][open] summary", "the score is the ")
	if doc.Find("[data-cases=benchmark][open]").Length() != 0 {
		t.Error("times that do not count are shown before those that do")
	}
	wantText(t, doc, "[data-cases=test] [data-case='1'] [data-ulp]", "0.499")
	if doc.Find("[hx-sse\\:connect]").Length() != 0 {
		t.Error("the page of an ended run waits for events")
	}
}

func TestSubmissionCanBeChangedAndSubmittedAgain(t *testing.T) {
	s := newScene(t)
	form := url.Values{"source": {"// first try\n"}, "device": {"CPU"}, "mode": {"benchmark"}, "filename": {"seven.cu"}}
	b := s.browserOf(s.ada)
	doc := document(t, b.upload("/tasks/"+s.task.Slug+"/submit", "", "", nil, form), http.StatusOK)
	again := doc.Find("main a.btn").AttrOr("href", "")
	wantText(t, b.page(doc.Find("nav.tabs a").Last().AttrOr("href", ""), http.StatusOK), "h2", "seven.cu")

	doc = b.page(again, http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "#source", "// first try")
	if chosen := doc.Find("[data-bench-form] input[name=device][checked]"); chosen.Length() != 1 || chosen.AttrOr("value", "") != "CPU" {
		t.Error("the devices are not chosen as before")
	}
	if text := s.browserOf(modelstest.Person(t, s.site.Store, "Eve", accounts.RoleUser)).page(again, http.StatusOK).Find("#source").Text(); strings.Contains(text, "first try") {
		t.Error("someone else gets the source")
	}
	other := strings.Replace(again, s.task.Slug, "vectoradd-cpp", 1)
	if text := words(b.page(other, http.StatusOK).Find("#source")); strings.Contains(text, "first try") {
		t.Error("another task gets the source")
	}
}

func TestSourceAndOutputAreTheSubmittersUntilTheDeadline(t *testing.T) {
	s := newScene(t)
	page := fmt.Sprintf("/submissions/%d", s.failed.SubmissionID)
	visitor, owner := s.browser(), s.browserOf(s.ada)
	doc := visitor.page(page, http.StatusOK)
	wantText(t, doc, "[data-failure]", "The build ended with exit code 2. The details are private while the source is.")
	wantText(t, owner.page(page, http.StatusOK), "[data-failure]", "does not compile")
	if doc.Find("[data-output]").Length() != 0 {
		t.Error("a visitor sees what the compiler printed, which quotes the source")
	}
	if doc := visitor.page(page+"?tab=source", http.StatusOK); strings.Contains(doc.Text(), "int main") {
		t.Error("a visitor sees the source")
	}
	wantStatus(t, visitor.get(page+"/source"), http.StatusForbidden)
	wantText(t, owner.page(page+"?tab=source", http.StatusOK), ".source", "int main (")

	past := s.site.Now().Add(-1)
	_, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{Title: s.task.Title, Devices: s.task.Devices, Deadline: &past})
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, visitor.page(page+"?tab=source", http.StatusOK), ".source", "int main (")
	wantText(t, visitor.page(page, http.StatusOK), "[data-output=build]", "1 error detected")
	doc = owner.page("/tasks/"+s.task.Slug, http.StatusOK)
	if doc.Find("#submit").Length() != 0 {
		t.Error("a closed task shows its form")
	}
}

func TestCancelEndsARunAndItsButton(t *testing.T) {
	s := newScene(t)
	page := fmt.Sprintf("/submissions/%d", s.working.SubmissionID)
	if s.browser().page(page, http.StatusOK).Find("#cancel").Length() != 0 {
		t.Error("a visitor is offered to cancel")
	}
	owner := s.browserOf(s.ada)
	doc := document(t, owner.post(page+"/cancel", nil), http.StatusOK)
	wantText(t, doc, fmt.Sprintf("#run-%d .tag", s.working.ID), "Cancelled")
	if doc.Find("#cancel").Length() != 0 {
		t.Error("the button is still there")
	}
	wantStatus(t, s.browserOf(s.admin).post(page+"/cancel", nil), http.StatusConflict)
}

func TestReaderWhoWasAwayGetsOneCardNotAll(t *testing.T) {
	s := newScene(t)
	for i := range 20 {
		s.worker.say(job.Event{Type: job.EventCase, Stage: job.StageBenchmark, Total: 20, Case: &job.CaseResult{Index: i, Status: job.StatusPass}})
	}
	events, err := s.site.Store.Work.EventsSince(t.Context(), s.working.SubmissionID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	cards := 0
	for _, e := range events {
		if strings.Contains(string(s.pages.RenderEvent(e)), "<article") {
			cards++
		}
	}
	if cards != 1 {
		t.Errorf("%d events gave %d cards, want one with the newest state", len(events), cards)
	}
}
