package submissions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/web/webtest"
)

// TestSanitizeIsOfferedWhereAWorkerCan checks that mode sanitize is offered only for a GPU whose worker has
// compute-sanitizer.
func TestSanitizeIsOfferedWhereAWorkerCan(t *testing.T) {
	s := webtest.NewScene(t)
	b, solve := s.BrowserOf(s.Ada), "/tasks/"+s.Task.Slug+"/solve"
	form := url.Values{"source": {webtest.GoodKernel}, "device": {"H200"}, "mode": {"sanitize"}}
	if s.BrowserOf(s.Ada).Page(solve, http.StatusOK).Find("button[value=sanitize]").Length() != 0 {
		t.Error("no worker has compute-sanitizer, and it is offered")
	}
	refused := webtest.Document(t, b.Upload(solve, "", "", nil, form), http.StatusUnprocessableEntity)
	webtest.WantText(t, refused, "[role=alert]", "No worker of H200 has compute-sanitizer.")

	s.SanitizingWorker()
	webtest.WantText(t, b.Page(solve, http.StatusOK), "button[value=sanitize]", "Sanitize")
	webtest.WantText(t, s.Browser().Page("/devices", http.StatusOK), "main", "checked by compute-sanitizer")
	form.Set("device", "CPU")
	refused = webtest.Document(t, b.Upload(solve, "", "", nil, form), http.StatusUnprocessableEntity)
	webtest.WantText(t, refused, "[role=alert]", "A run on a CPU cannot be sanitized")
	form.Set("device", "H200")
	b.Upload("/tasks/"+s.Task.Slug+"/submit", "", "", nil, form)
	run := s.Newest(s.Ada)
	if run.Mode != job.ModeSanitize {
		t.Fatalf("the run is %s", run.Mode)
	}
	s.Fail(run, webtest.Sanitized())
	checkFindings(t, s, b, fmt.Sprintf("/submissions/%d", run.SubmissionID))
	var answer client.Submission
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get(fmt.Sprintf("/api/v1/submissions/%d", run.SubmissionID)))),
		&answer); err != nil {
		t.Fatal(err)
	}
	if found := answer.Runs[0].Stages[1].Findings; len(found) != 3 || found[0].Line != 12 ||
		found[0].Occurrences != 28 {
		t.Errorf("the API answers %+v", found)
	}
}

// checkFindings checks the page of a sanitized run, as its owner and as others see it.
func checkFindings(t *testing.T, s *webtest.Scene, b *webtest.Browser, path string) {
	t.Helper()
	doc := b.Page(path, http.StatusOK)
	webtest.WantText(t, doc, "[data-failure]", "emcheck found an error: Invalid __global__ write")
	webtest.WantText(t, doc, "[data-stage=sanitize].stage-fail", "findings, 41")
	webtest.WantText(t, doc, "[data-cases=sanitize] summary", "2 of 4 tools found no error")
	webtest.WantText(t, doc, "[data-tool=memcheck]", "errors")
	webtest.WantText(t, doc, "[data-tool=initcheck]", "did not end within 180 s")
	webtest.WantText(t, doc, "[data-tool=synccheck]", "clean")
	webtest.WantText(t, doc, "[data-tool=racecheck]", "warnings")
	webtest.WantText(t, doc, "[data-finding=racecheck]", "warning: Race between a write and a read")
	webtest.WantText(t, doc, "[data-finding=memcheck]", "(100,0,0) of block (0,0,0)")
	if line := doc.Find("[data-finding=memcheck] a").First().AttrOr("href", ""); line != path+"?tab=source#L12" {
		t.Errorf("the finding leads to %q", line)
	}
	marks := doc.Find("[data-run-remarks] [data-line]")
	if marks.Length() != 2 || marks.First().AttrOr("data-line", "") != "9" ||
		marks.First().AttrOr("data-kind", "") != "warning" {
		t.Errorf("%d marks for the editor", marks.Length())
	}
	source := b.Page(path+"?tab=source", http.StatusOK)
	webtest.WantText(t, source, ".remark-error",
		"memcheck: Invalid __global__ write of size 4 bytes by thread (100,0,0) of block (0,0,0), 28 times")
	strange := s.Browser().Page(path, http.StatusOK)
	webtest.WantText(t, strange, "[data-failure]", "The check with compute-sanitizer failed.")
	if strange.Find("[data-finding]").Length() > 0 || strings.Contains(strange.Text(), "Invalid") {
		t.Error("strangers read what was found in a source that they may not see")
	}
	webtest.WantText(t, strange, "[data-tool=memcheck]", "errors")
}

func TestFindingsLookRightAndMarkTheEditor(t *testing.T) {
	s := webtest.NewScene(t)
	s.SanitizingWorker()
	b := s.BrowserOf(s.Ada)
	b.Upload("/tasks/"+s.Task.Slug+"/submit", "", "", nil,
		url.Values{"source": {webtest.GoodKernel}, "device": {"H200"}, "mode": {"sanitize"}})
	run := s.Newest(s.Ada)
	s.Fail(run, webtest.Sanitized())
	w := s.Window().As(b)
	w.Visit(fmt.Sprintf("/submissions/%d", run.SubmissionID))
	w.LooksRight("sanitized")
	w.Bench(s, fmt.Sprintf("?run=%d", run.SubmissionID))
	w.Until(`document.querySelectorAll(".cm-lintRange-error, .cm-lint-marker-error").length > 0`)
	w.Eval(`document.querySelector("#tab-cases").click()`)
	w.LooksRight("sanitized-bench")
	w.RefusedNothing()
}

func TestATaskSaysThatItRanksOnlyWhatIsClean(t *testing.T) {
	s := webtest.NewScene(t)
	s.SanitizingWorker()
	bundle, err := s.Cfg.Store.Catalog.CurrentBundle(t.Context(), s.Task)
	if err != nil {
		t.Fatal(err)
	}
	bundle.Definition.RequiresCleanSanitizerRun = true
	if _, _, err := s.Cfg.Store.Catalog.Publish(t.Context(), s.Admin, s.Task.ID, bundle, nil); err != nil {
		t.Fatal(err)
	}
	b, path := s.BrowserOf(s.Ada), "/tasks/"+s.Task.Slug
	const message = "ranks a source only after a sanitize run without errors"
	webtest.WantText(t, b.Page(path, http.StatusOK), "[data-sanitize-first]", message)
	webtest.WantText(t, b.Page(path+"/solve", http.StatusOK), ".bench-bar [data-sanitize-first]", message)
	form := url.Values{"source": {webtest.GoodKernel}, "device": {"H200"}, "mode": {"ranked"}}
	refused := webtest.Document(t, b.Upload(path+"/solve", "", "", nil, form), http.StatusUnprocessableEntity)
	webtest.WantText(t, refused, "[role=alert]", "First submit exactly this source for H200 in mode sanitize.")
	var task client.Task
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get("/api/v1"+path))), &task); err != nil || !task.SanitizeFirst {
		t.Errorf("the API does not say so: %v", err)
	}
	w := s.Window().As(b)
	w.Bench(s, "")
	w.LooksRight("sanitize-first")
}
