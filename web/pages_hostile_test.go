package web

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
)

// hostile is what someone would store to script a page, in every way that HTML knows, or to have it read
// another way than it is.
const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"' onload=alert(3) x='<hx-partial hx-target="body">gone</hx-partial></pre></textarea></title>` +
	"pass \u202Edeliaf\u202C \u2066"

// hostileScene stores hostile text wherever people and programs may store any.
func hostileScene(t testing.TB) (s *scene, running *worker, pages []string) {
	s = newScene(t)
	name := strings.NewReplacer("/", "", "=", "").Replace(hostile)[:60]
	person := modelstest.Person(t, s.site.Store, name, accounts.RoleCreator)
	bundle := modelstest.Bundle("hostile")
	d := &bundle.Definition
	d.Title = hostile
	d.Description = hostile + "\n\n[click](javascript:alert(4)) ![x](x\" onerror=\"alert(5)) <b onclick=alert(6)>bold</b>\n\n```" + hostile + "\n" + hostile + "\n```\n"
	d.Tests = []tasks.Case{{{Name: hostile, Value: hostile}}}
	d.Templates = map[string]string{hostile: "task.h"}
	d.Files = append(d.Files, tasks.File{Name: hostile + ".py", Source: "task.h"})
	bundle.Files["task.h"] = []byte(hostile)
	task, err := s.site.Store.Catalog.CreateTask(t.Context(), person, catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	s.task = task
	_, _, err = s.site.Store.Accounts.CreateToken(t.Context(), person.ID, hostile[:40], 0)
	if err != nil {
		t.Fatal(err)
	}
	failed := s.submit(person, "CPU", hostile)
	s.fail(failed, hostileStages())
	ranked := s.submit(person, "CPU", hostile)
	s.finish(ranked, 5000)
	run := s.submit(person, "CPU", hostile)
	running = newWorker(t, s.testSite, run)
	sayHostile(running)
	hostileWorker(t, s)
	path := "/tasks/" + task.Slug
	return s, running, []string{"/", path, path + "/edit", path + "/boards/CPU", "/devices", "/me", fmt.Sprintf("/users/%d", person.ID),
		fmt.Sprintf("/submissions/%d", failed.SubmissionID), fmt.Sprintf("/submissions/%d", ranked.SubmissionID),
		fmt.Sprintf("/submissions/%d?tab=source", failed.SubmissionID), fmt.Sprintf("/submissions/%d", run.SubmissionID),
		"/sign-in?next=%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "/%3Cscript%3Ealert(1)%3C/script%3E"}
}

func hostileStages() []job.StageResult {
	return []job.StageResult{
		{Stage: job.StageBuild, Status: job.StatusPass, Command: hostile, Stdout: hostile, Stderr: hostile},
		{Stage: job.StageTest, Status: job.StatusFail, Stdout: hostile,
			Cases:   []job.CaseResult{{Spec: hostile, Status: job.StatusFail, Message: hostile}},
			Failure: &job.Failure{Reason: hostile, Signal: hostile, Limit: hostile}},
	}
}

func sayHostile(w *worker) {
	w.say(job.Event{Type: job.EventStage, Stage: job.Stage(hostile), Total: 2})
	w.say(job.Event{Type: job.EventCase, Stage: job.Stage(hostile), Total: 2, Case: &job.CaseResult{Spec: hostile, Status: job.Status(hostile), Message: hostile}})
	w.log(hostile)
}

func hostileWorker(t testing.TB, s *scene) {
	machine := job.Machine{Name: hostile, UUIDHash: hostile, Driver: hostile}
	err := s.site.Store.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: hostile, Version: hostile, Started: time.Now(), Refusing: hostile,
		Slots:    []job.Slot{{Device: hostile, Machine: machine, Disabled: hostile}},
		SelfTest: []job.CheckLine{{Name: hostile, Detail: hostile}}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStoredTextCannotScriptAPage(t *testing.T) {
	s, _, pages := hostileScene(t)
	admin := s.browserOf(s.admin)
	for _, path := range pages {
		t.Run(path, func(t *testing.T) {
			resp := admin.get(path)
			if resp.StatusCode >= 500 {
				t.Fatalf("%s: %s", resp.Status, body(t, resp))
			}
			doc := document(t, resp, resp.StatusCode)
			checkScriptless(t, doc)
			checkDirection(t, doc, strings.HasSuffix(path, "?tab=source"))
			if doc.Find("hx-partial, b[onclick]").Length() > 0 {
				t.Error("stored text became elements")
			}
			if doc.Find("head > title").Length() != 1 || doc.Find("main").Length() != 1 {
				t.Error("stored text broke out of its element")
			}
		})
	}
}

// checkDirection fails when text turns its direction unseen, or is not shown at all.
func checkDirection(t *testing.T, doc *goquery.Document, shown bool) {
	t.Helper()
	doc.Find("textarea").Remove() // there stands what was typed, to be sent again
	text := doc.Text()
	if strings.ContainsAny(text, "\u202E\u202C\u2066") {
		t.Error("stored text turns the direction of the page's")
	}
	if shown && !strings.Contains(text, "pass [U+202E]deliaf[U+202C] [U+2066]") {
		t.Errorf("the controls of direction have no marks: %.300s", text)
	}
}

func TestLiveTextCannotScriptAPage(t *testing.T) {
	s, running, _ := hostileScene(t)
	events, err := s.site.Store.Work.EventsSince(t.Context(), s.runOf(running).SubmissionID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for _, e := range events {
		html := string(s.pages.RenderEvent(e))
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		checkScriptless(t, doc)
		checkDirection(t, doc, e.Type == job.EventLog)
		parts += doc.Find("hx-partial").Length()
		if doc.Find("hx-partial[hx-target=body]").Length() > 0 {
			t.Errorf("a program renews any part of the page it likes: %s", html)
		}
	}
	if parts < 2 {
		t.Errorf("the events gave %d parts", parts)
	}
}

func (s *scene) runOf(w *worker) work.Run {
	s.t.Helper()
	run, err := s.site.Store.Work.Run(s.t.Context(), w.attempt.RunID)
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

func TestHostileTextDoesNothingInABrowser(t *testing.T) {
	s, running, pages := hostileScene(t)
	w := s.window().as(s.browserOf(s.admin))
	for _, path := range pages {
		w.open(path)
		w.Until(`document.readyState == "complete" && document.querySelector("main")`)
		w.refusedNothing() // a policy that had to step in means that the page was scripted
	}
	run := s.runOf(running)
	w.open(fmt.Sprintf("/submissions/%d", run.SubmissionID))
	before := len(hostile)
	running.log(hostile)
	w.Until(fmt.Sprintf(`document.querySelector("#run-%d pre[id^=log]").textContent.length > %d`, run.ID, before))
	w.Until(`document.querySelector("main h1") && !document.querySelector("main img")`)
	w.refusedNothing()
}

func TestErrorPagesSayWhatToDo(t *testing.T) {
	s := newScene(t)
	visitor := s.browser()
	for _, test := range []struct {
		path, heading string
		status        int
	}{
		{"/nothing", "Not found", http.StatusNotFound},
		{"/submissions/999999", "Not found", http.StatusNotFound},
		{"/tasks/none", "Not found", http.StatusNotFound},
		{fmt.Sprintf("/submissions/%d/source", s.done.SubmissionID), "Not allowed", http.StatusForbidden},
	} {
		doc := visitor.page(test.path, test.status)
		checkSound(t, doc)
		wantText(t, doc, "h1", test.heading)
		wantText(t, doc, "main .eyebrow", fmt.Sprint(test.status))
	}
	if err := s.site.Store.Close(); err != nil { // from here on everything is our fault
		t.Fatal(err)
	}
	doc := visitor.page("/", http.StatusInternalServerError)
	wantText(t, doc, "h1", "Something went wrong")
	if text := doc.Text(); strings.Contains(text, "database") || doc.Find("main code").Length() != 1 {
		t.Errorf("the page tells of our inside, or has no number to report: %s", words(doc.Find("main")))
	}
}
