package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestATasksOwnProgramRevealsNoSource checks that the author of a task with its own eval program cannot use it to read
// submissions: the program receives all sources, but the author may see none of them.
func TestATasksOwnProgramRevealsNoSource(t *testing.T) {
	s := webtest.NewScene(t)
	author, person := modelstest.Person(t, s.Cfg.Store, "eve", accounts.RoleCreator),
		modelstest.Person(t, s.Cfg.Store, "bob", accounts.RoleUser)
	bundle := modelstest.Bundle("spy")
	ownHarness(bundle)
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), author,
		catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = task
	const trick = "the trick"
	spec := bundle.Definition.Tests[0].String()
	answer := job.CaseResult{SpecLine: trick, Status: job.StatusFail, Message: trick}
	ended := s.Submit(person, "CPU", "int ended;")
	s.Fail(ended, []job.StageResult{{Stage: job.StageTest, Status: job.StatusFail, Stdout: trick,
		ExtraKeys: map[string]string{"source": trick},
		Cases:     []job.CaseResult{{SpecLine: spec, Status: job.StatusPass}, answer}, Failure: &job.Failure{Reason: trick}}})
	running := s.Submit(person, "CPU", "int running;")
	w := webtest.NewWorker(t, s.Site, running)
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageTest, CaseCount: 2})
	w.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageTest, CaseCount: 2, Case: &answer})
	for _, path := range []string{"/submissions/%d", "/api/v1/submissions/%d"} {
		for _, run := range []work.Run{ended, running} {
			path := fmt.Sprintf(path, run.SubmissionID)
			if !strings.Contains(webtest.Body(t, s.BrowserOf(person).Get(path)), trick) &&
				(run.ID == ended.ID || !strings.HasPrefix(path, "/api")) {
				t.Errorf("%s: its person is not told what the program says", path)
			}
			text := webtest.Body(t, s.BrowserOf(author).Get(path))
			if strings.Contains(text, trick) || run.ID == ended.ID && !strings.Contains(text, spec) {
				t.Errorf("%s: the task's author is told\n%s", path, text)
			}
		}
	}
	events, err := s.Cfg.Store.Work.EventsSince(t.Context(), running.SubmissionID, 0, 100)
	if err != nil || len(events) == 0 {
		t.Fatal(len(events), err)
	}
	w.Finish()
	for _, path := range []string{"/submissions/%d/events", "/api/v1/submissions/%d/events"} {
		path := fmt.Sprintf(path, running.SubmissionID)
		if text := webtest.Body(t, s.BrowserOf(author).Get(path)); strings.Contains(text, trick) {
			t.Errorf("%s: the task's author is told\n%s", path, text)
		}
	}
}
