package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

// hostileScene stores markup and scripts in every text that people or programs can store.
func hostileScene(t testing.TB) (s *webtest.Scene, running *webtest.Worker, pages []string) {
	s = webtest.NewScene(t)
	name := strings.NewReplacer("/", "", "=", "").Replace(webtest.Hostile)[:60]
	person := modelstest.Person(t, s.Cfg.Store, name, accounts.RoleCreator)
	bundle := modelstest.Bundle("hostile")
	d := &bundle.Definition
	d.Title = webtest.Hostile
	d.Description = webtest.Hostile +
		"\n\n[click](javascript:alert(4)) ![x](x\" onerror=\"alert(5)) <b onclick=alert(6)>bold</b> <svg onload=alert(7)> <iframe src=javascript:alert(8)></iframe>\n\n```" + webtest.Hostile + "\n" + webtest.Hostile + "\n```\n"
	d.Tests = []tasks.Case{{{Name: webtest.Hostile, Value: webtest.Hostile}}}
	d.Templates = map[string]string{webtest.Hostile: "task.h"}
	d.Files = append(d.Files, tasks.File{Name: webtest.Hostile + ".py", Source: "task.h"})
	bundle.Files["task.h"] = []byte(webtest.Hostile)
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), person,
		catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = task
	_, _, err = s.Cfg.Store.Accounts.CreateToken(t.Context(), person.ID, webtest.Hostile[:40], 0)
	if err != nil {
		t.Fatal(err)
	}
	failed := s.Submit(person, "CPU", webtest.Hostile)
	s.Fail(failed, hostileStages())
	ranked := s.Submit(person, "CPU", webtest.Hostile)
	s.Finish(ranked, 5000)
	run := s.Submit(person, "CPU", webtest.Hostile)
	running = webtest.NewWorker(t, s.Site, run)
	sayHostile(running)
	hostileWorker(t, s)
	path := "/tasks/" + task.Slug
	return s, running, []string{"/", path, path + "/edit", path + "/boards/CPU", "/devices", "/me",
		fmt.Sprintf("/users/%d", person.ID),
		fmt.Sprintf("/submissions/%d", failed.SubmissionID), fmt.Sprintf("/submissions/%d", ranked.SubmissionID),
		fmt.Sprintf("/submissions/%d?tab=source", failed.SubmissionID),
		fmt.Sprintf("/submissions/%d", run.SubmissionID),
		"/sign-in?next=%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "/%3Cscript%3Ealert(1)%3C/script%3E"}
}

func hostileStages() []job.StageResult {
	return []job.StageResult{
		{Stage: job.StageBuild, Status: job.StatusPass, Command: webtest.Hostile, Stdout: webtest.Hostile,
			Stderr: webtest.Hostile},
		{Stage: job.StageTest, Status: job.StatusFail, Stdout: webtest.Hostile,
			Cases:   []job.CaseResult{{SpecLine: webtest.Hostile, Status: job.StatusFail, Message: webtest.Hostile}},
			Failure: &job.Failure{Reason: webtest.Hostile, Signal: webtest.Hostile, Limit: webtest.Hostile}},
	}
}

func sayHostile(w *webtest.Worker) {
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.Stage(webtest.Hostile), CaseCount: 2})
	w.Say(job.Event{Type: job.EventCaseEnded, Stage: job.Stage(webtest.Hostile), CaseCount: 2,
		Case: &job.CaseResult{SpecLine: webtest.Hostile, Status: job.Status(webtest.Hostile),
			Message: webtest.Hostile}})
	w.Log(webtest.Hostile)
}

func hostileWorker(t testing.TB, s *webtest.Scene) {
	machine := job.Machine{DeviceName: webtest.Hostile, UUIDHash: webtest.Hostile, Driver: webtest.Hostile}
	err := s.Cfg.Store.Fleet.SaveHeartbeat(t.Context(),
		job.Heartbeat{Worker: webtest.Hostile, WorkerVersion: webtest.Hostile, WorkerStartedAt: time.Now(), NoJobsReason: webtest.Hostile,
			Slots:           []job.Slot{{Device: webtest.Hostile, Machine: machine, DisabledReason: webtest.Hostile}},
			SelfTestResults: []job.SelfTestResult{{Name: webtest.Hostile, Detail: webtest.Hostile}}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStoredTextCannotScriptAPage(t *testing.T) {
	s, _, pages := hostileScene(t)
	admin := s.BrowserOf(s.Admin)
	for _, path := range pages {
		t.Run(path, func(t *testing.T) {
			resp := admin.Get(path)
			if resp.StatusCode >= 500 {
				t.Fatalf("%s: %s", resp.Status, webtest.Body(t, resp))
			}
			doc := webtest.Document(t, resp, resp.StatusCode)
			webtest.CheckScriptless(t, doc)
			webtest.CheckDirection(t, doc, strings.HasSuffix(path, "?tab=source"))
			if doc.Find("hx-partial, b[onclick]").Length() > 0 {
				t.Error("stored text became elements")
			}
			if doc.Find("head > title").Length() != 1 || doc.Find("main").Length() != 1 {
				t.Error("stored text broke out of its element")
			}
		})
	}
}

func TestLiveTextCannotScriptAPage(t *testing.T) {
	s, running, _ := hostileScene(t)
	events, err := s.Cfg.Store.Work.EventsSince(t.Context(), runOf(s, running).SubmissionID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for _, e := range events {
		html := string(s.Submissions().RenderEvent(e))
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		webtest.CheckScriptless(t, doc)
		webtest.CheckDirection(t, doc, e.Type == job.EventLog)
		parts += doc.Find("hx-partial").Length()
		if doc.Find("hx-partial[hx-target=body]").Length() > 0 {
			t.Errorf("a program renews any part of the page it likes: %s", html)
		}
	}
	if parts < 2 {
		t.Errorf("the events gave %d parts", parts)
	}
}

func runOf(s *webtest.Scene, w *webtest.Worker) work.Run {
	s.T.Helper()
	run, err := s.Cfg.Store.Work.Run(s.T.Context(), w.Attempt.RunID)
	if err != nil {
		s.T.Fatal(err)
	}
	return run
}

func TestHostileTextDoesNothingInABrowser(t *testing.T) {
	s, running, pages := hostileScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	for _, path := range pages {
		w.Visit(path)
		w.Until(`document.readyState == "complete" && document.querySelector("main")`)
		w.RefusedNothing() // if the content security policy refused something, a text was not escaped
	}
	run := runOf(s, running)
	w.Visit(fmt.Sprintf("/submissions/%d", run.SubmissionID))
	before := len(webtest.Hostile)
	running.Log(webtest.Hostile)
	w.Until(fmt.Sprintf(`document.querySelector("#run-%d pre[id^=log]").textContent.length > %d`, run.ID, before))
	w.Until(`document.querySelector("main h1") && !document.querySelector("main img")`)
	w.RefusedNothing()
}

func TestErrorPagesSayWhatToDo(t *testing.T) {
	s := webtest.NewScene(t)
	visitor := s.Browser()
	for _, test := range []struct {
		path, heading string
		status        int
	}{
		{"/nothing", "Not found", http.StatusNotFound},
		{"/submissions/999999", "Not found", http.StatusNotFound},
		{"/tasks/none", "Not found", http.StatusNotFound},
		{fmt.Sprintf("/submissions/%d/source", s.Done.SubmissionID), "Not allowed", http.StatusForbidden},
	} {
		doc := visitor.Page(test.path, test.status)
		webtest.CheckSound(t, doc)
		webtest.WantText(t, doc, "h1", test.heading)
		webtest.WantText(t, doc, "main .eyebrow", fmt.Sprint(test.status))
	}
	if err := s.Cfg.Store.Close(); err != nil { // without a database, all requests fail with status 500
		t.Fatal(err)
	}
	doc := visitor.Page("/", http.StatusInternalServerError)
	webtest.WantText(t, doc, "h1", "Something went wrong")
	if text := doc.Text(); strings.Contains(text, "database") || doc.Find("main code").Length() != 1 {
		t.Errorf("the page tells of our inside, or has no number to report: %s", webtest.Words(doc.Find("main")))
	}
}
