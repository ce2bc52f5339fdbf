package submissions_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestSubmittingByTextAndByFile(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	submit := "/tasks/" + s.Task.Slug + "/submit"
	form := url.Values{"source": {"// typed\r\nint a;\r\n"}, "device": {"H200", "CPU"}, "mode": {"benchmark"}}
	doc := webtest.Document(t, b.Upload(submit, "", "", nil, form), http.StatusOK)
	if n := doc.Find("[data-run]").Length(); n != 2 {
		t.Errorf("two devices gave %d runs", n)
	}
	webtest.WantText(t, doc, ".meta", "Submitted by Ada Lovelace")
	source := doc.Find("nav.tabs a").Last().AttrOr("href", "")
	webtest.WantText(t, b.Page(source, http.StatusOK), ".source", "// typed")

	form = url.Values{"source": {"// typed"}, "device": {"H200"}, "mode": {"test"}}
	doc = webtest.Document(t, b.Upload(submit, "file", "mine.cu", []byte("// from a file\n"), form), http.StatusOK)
	source = doc.Find("nav.tabs a").Last().AttrOr("href", "")
	webtest.WantText(t, b.Page(source, http.StatusOK), "h2", "mine.cu")
	webtest.WantText(t, b.Page(source, http.StatusOK), ".source", "// from a file")
}

func TestRefusedSubmissionComesBackAsItWasTyped(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	form := url.Values{"source": {"// precious work\n"}, "mode": {"test"}}
	doc := webtest.Document(t, b.Upload("/tasks/"+s.Task.Slug+"/submit", "", "", nil, form),
		http.StatusUnprocessableEntity)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "#submit [role=alert]", "device")
	webtest.WantText(t, doc, "#source", "// precious work")
	if _, checked := doc.Find("input[value=test]").Attr("checked"); !checked {
		t.Error("the mode was not kept")
	}
	if doc.Find("input[name=device][checked]").Length() != 0 {
		t.Error("a device was chosen for the person")
	}
}

func TestRefusedFileKeepsItsName(t *testing.T) {
	s := webtest.NewScene(t)
	form := url.Values{"mode": {"test"}}
	doc := webtest.Document(t, s.BrowserOf(s.Ada).Upload("/tasks/"+s.Task.Slug+"/submit", "file", "mine.cu",
		[]byte("// from a file\n"), form), http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "#source", "// from a file")
	if name := doc.Find("input[name=filename]").AttrOr("value", ""); name != "mine.cu" {
		t.Errorf("the text would be sent again as %q", name)
	}
}

func TestARefusedLateSubmissionComesBackInTheForm(t *testing.T) {
	s := webtest.NewScene(t)
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	form := url.Values{"source": {"// a second too late"}, "device": {"H200"}, "mode": {"test"}}
	doc := webtest.Document(t, s.BrowserOf(s.Ada).Upload("/tasks/"+s.Task.Slug+"/submit", "", "", nil, form),
		http.StatusForbidden)
	webtest.WantText(t, doc, "#submit [role=alert]", "deadline")
	webtest.WantText(t, doc, "#source", "// a second too late")
}

func TestAddressesOfFormsAnswerGet(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Admin)
	task := "/tasks/" + s.Task.Slug
	for path, want := range map[string]string{
		task + "/submit": task, task + "/version": task + "/edit", task + "/publish": task + "/edit",
		task + "/delete": task + "/edit",
		"/tasks/publish": "/tasks/new", "/workers": "/devices",
	} {
		resp := b.Get(path)
		webtest.WantStatus(t, resp, http.StatusOK)
		if got := resp.Request.URL.Path; got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

func TestFailedRunSaysWhy(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	doc := b.Page(fmt.Sprintf("/submissions/%d", s.Failed.SubmissionID), http.StatusOK)
	webtest.WantText(t, doc, "[data-failure]", `line 3: expected a ";"`)
	webtest.WantText(t, doc, "[data-stage=build].stage-fail", "error")
	webtest.WantText(t, doc, "[data-stage=test]", "not reached")
	webtest.WantText(t, doc, "[data-output=build][open]", "1 error detected")
	if line := doc.Find("[data-run-remarks] a").AttrOr("href", ""); line != fmt.Sprintf("/submissions/%d?tab=source#L3",
		s.Failed.SubmissionID) {
		t.Errorf("the failure leads to %q, want the line that is wrong", line)
	}
	if doc.Find("[data-part=output]:has([data-output=build]) ~ [data-part=profile] [data-timeline]").Length() != 1 {
		t.Error("what the compiler said comes after the timeline")
	}

	doc = b.Page(fmt.Sprintf("/submissions/%d", s.Wrong.SubmissionID), http.StatusOK)
	webtest.WantText(t, doc, "[data-failure]", "expected 128.25, got 127.75")
	webtest.WantText(t, doc, "[data-cases=test][open] summary", "4 of 5 cases passed")
	webtest.WantText(t, doc, "[data-case='3'][data-status=fail] + [data-said='3']", "41 of 262144 elements differ")
}

func TestRankedRunShowsItsNumbersAndPlace(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page(fmt.Sprintf("/submissions/%d", s.Done.SubmissionID), http.StatusOK)
	webtest.WantText(t, doc, "[data-score]", "11.91 µs")
	if title := doc.Find("[data-score] .num[title]").AttrOr("title", ""); title != "11910 ns" {
		t.Errorf("the exact score is %q", title)
	}
	webtest.WantText(t, doc, "[data-outcome] [data-fact=place]", "5th on H200")
	row := "[data-cases=ranked] [data-case='0']"
	webtest.WantText(t, doc, row, "n: 1024; seed: 1")
	webtest.WantText(t, doc, row, "± 0.20 %")
	webtest.WantText(t, doc, "[data-machine]", "1980 MHz")
	webtest.WantText(t, doc, "[data-cases=ranked][open] summary", "the score is the ")
	if doc.Find("[data-cases=benchmark][open]").Length() != 0 {
		t.Error("times that do not count are shown before those that do")
	}
	webtest.WantText(t, doc, "[data-cases=test] [data-case='1'] [data-ulp]", "0.499")
	if doc.Find("[hx-sse\\:connect]").Length() != 0 {
		t.Error("the page of an ended run waits for events")
	}
}

func TestSubmissionCanBeChangedAndSubmittedAgain(t *testing.T) {
	s := webtest.NewScene(t)
	form := url.Values{"source": {"// first try\n"}, "device": {"CPU"}, "mode": {"benchmark"}, "filename": {"seven.cu"}}
	b := s.BrowserOf(s.Ada)
	doc := webtest.Document(t, b.Upload("/tasks/"+s.Task.Slug+"/submit", "", "", nil, form), http.StatusOK)
	again := doc.Find("main a.btn").AttrOr("href", "")
	webtest.WantText(t, b.Page(doc.Find("nav.tabs a").Last().AttrOr("href", ""), http.StatusOK), "h2", "seven.cu")

	doc = b.Page(again, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "#source", "// first try")
	if chosen := doc.Find("[data-bench-form] input[name=device][checked]"); chosen.Length() != 1 ||
		chosen.AttrOr("value", "") != "CPU" {
		t.Error("the devices are not chosen as before")
	}
	if text := s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Eve", accounts.RoleUser)).Page(again,
		http.StatusOK).Find("#source").Text(); strings.Contains(text, "first try") {
		t.Error("someone else gets the source")
	}
	other := strings.Replace(again, s.Task.Slug, "vectoradd-cpp", 1)
	if text := webtest.Words(b.Page(other, http.StatusOK).Find("#source")); strings.Contains(text, "first try") {
		t.Error("another task gets the source")
	}
}

func TestSourceAndOutputAreTheSubmittersUntilTheDeadline(t *testing.T) {
	s := webtest.NewScene(t)
	page := fmt.Sprintf("/submissions/%d", s.Failed.SubmissionID)
	visitor, owner := s.Browser(), s.BrowserOf(s.Ada)
	doc := visitor.Page(page, http.StatusOK)
	webtest.WantText(t, doc, "[data-failure]",
		"The build ended with exit code 2. The details are private as long as the source is.")
	webtest.WantText(t, owner.Page(page, http.StatusOK), "[data-failure]", "does not compile")
	if doc.Find("[data-output]").Length() != 0 {
		t.Error("a visitor sees what the compiler printed, which quotes the source")
	}
	if doc := visitor.Page(page+"?tab=source", http.StatusOK); strings.Contains(doc.Text(), "int main") {
		t.Error("a visitor sees the source")
	}
	webtest.WantStatus(t, visitor.Get(page+"/source"), http.StatusForbidden)
	webtest.WantText(t, owner.Page(page+"?tab=source", http.StatusOK), ".source", "int main (")

	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	webtest.WantText(t, visitor.Page(page+"?tab=source", http.StatusOK), ".source", "int main (")
	webtest.WantText(t, visitor.Page(page, http.StatusOK), "[data-output=build]", "1 error detected")
	doc = owner.Page("/tasks/"+s.Task.Slug, http.StatusOK)
	if doc.Find("#submit").Length() != 0 {
		t.Error("a closed task shows its form")
	}
}

func TestCancelEndsARunAndItsButton(t *testing.T) {
	s := webtest.NewScene(t)
	page := fmt.Sprintf("/submissions/%d", s.Working.SubmissionID)
	if s.Browser().Page(page, http.StatusOK).Find("#cancel").Length() != 0 {
		t.Error("a visitor is offered to cancel")
	}
	owner := s.BrowserOf(s.Ada)
	doc := webtest.Document(t, owner.Post(page+"/cancel", nil), http.StatusOK)
	webtest.WantText(t, doc, fmt.Sprintf("#run-%d .tag", s.Working.ID), "Cancelled")
	if doc.Find("#cancel").Length() != 0 {
		t.Error("the button is still there")
	}
	webtest.WantStatus(t, s.BrowserOf(s.Admin).Post(page+"/cancel", nil), http.StatusConflict)
}
