package web

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// A program that a task brings reads the sources of all who submit to it, and its author may read none of them.
func TestATasksOwnProgramRevealsNoSource(t *testing.T) {
	s := newScene(t)
	author, person := modelstest.Person(t, s.site.Store, "eve", accounts.RoleCreator), modelstest.Person(t, s.site.Store, "bob", accounts.RoleUser)
	bundle := modelstest.Bundle("spy")
	ownHarness(bundle)
	task, err := s.site.Store.Catalog.CreateTask(t.Context(), author, catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	s.task = task
	const trick = "the trick"
	spec := bundle.Definition.Tests[0].String()
	told := job.CaseResult{Spec: trick, Status: job.StatusFail, Message: trick}
	ended := s.submit(person, "CPU", "int ended;")
	s.fail(ended, []job.StageResult{{Stage: job.StageTest, Status: job.StatusFail, Stdout: trick, Extra: map[string]string{"source": trick},
		Cases: []job.CaseResult{{Spec: spec, Status: job.StatusPass}, told}, Failure: &job.Failure{Reason: trick}}})
	running := s.submit(person, "CPU", "int running;")
	w := newWorker(t, s.testSite, running)
	w.say(job.Event{Type: job.EventStage, Stage: job.StageTest, Total: 2})
	w.say(job.Event{Type: job.EventCase, Stage: job.StageTest, Total: 2, Case: &told})
	for _, path := range []string{"/submissions/%d", "/api/v1/submissions/%d"} {
		for _, run := range []work.Run{ended, running} {
			path := fmt.Sprintf(path, run.SubmissionID)
			if !strings.Contains(body(t, s.browserOf(person).get(path)), trick) && (run.ID == ended.ID || !strings.HasPrefix(path, "/api")) {
				t.Errorf("%s: its person is not told what the program says", path)
			}
			text := body(t, s.browserOf(author).get(path))
			if strings.Contains(text, trick) || run.ID == ended.ID && !strings.Contains(text, spec) {
				t.Errorf("%s: the task's author is told\n%s", path, text)
			}
		}
	}
	events, err := s.site.Store.Work.EventsSince(t.Context(), running.SubmissionID, 0, 100)
	if err != nil || len(events) == 0 {
		t.Fatal(len(events), err)
	}
	w.finish()
	for _, path := range []string{"/submissions/%d/events", "/api/v1/submissions/%d/events"} {
		path := fmt.Sprintf(path, running.SubmissionID)
		if text := body(t, s.browserOf(author).get(path)); strings.Contains(text, trick) {
			t.Errorf("%s: the task's author is told\n%s", path, text)
		}
	}
}
