package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestVariantsOfOneProblemShareALine(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/tasks", http.StatusOK)
	webtest.CheckSound(t, doc)
	line := doc.Find("[data-line='Vector add']")
	webtest.WantText(t, doc, "[data-line='Vector add'] h2", "Vector add")
	if got := strings.Join(line.Find(".variants a.variant").Map(func(_ int,
		a *goquery.Selection) string {
		return webtest.Words(a) + " " + a.AttrOr("href", "")
	}), ", "); got !=
		"C++ /tasks/vectoradd-cpp, CUDA C++ /tasks/vectoradd-cuda, Python /tasks/vectoradd-torch" {
		t.Errorf("the line leads to %s", got)
	}
	if n := doc.Find("[data-line='Prefix sum'], [data-line='Matrix multiply'] [data-task='" + s.Task.Slug +
		"']").Length(); n != 0 {
		t.Error("tasks with different deadlines share a line")
	}
	if got := listed(s.Browser().Page("/tasks?q=vectoradd&lang=cu", http.StatusOK)); len(got) != 1 ||
		got[0] != "vectoradd-cuda" {
		t.Errorf("a search that one variant fits lists %v", got)
	}
	more := s.Browser().Page("/tasks/vectoradd-cpp", http.StatusOK).Find("[data-variants]").AttrOr("href", "")
	if n := s.Browser().Page(more, http.StatusOK).Find(".variants li").Length(); n != 3 {
		t.Errorf("a task's page leads to %d variants at %s", n, more)
	}
	w := s.Window()
	w.Visit("/tasks")
	w.LooksRight("tasks")
	w.Eval(`document.querySelector("[data-line='Softmax'] [data-task=softmax-torch] a.variant").click()`)
	w.Shows("h1", "Softmax (Python)")
	w.RefusedNothing()
}

func TestOnlyTasksOfOneAuthorShareALine(t *testing.T) {
	s := webtest.Start(t)
	carla, cora := modelstest.Person(t, s.Cfg.Store, "Carla", accounts.RoleCreator),
		modelstest.Person(t, s.Cfg.Store, "Cora", accounts.RoleCreator)
	soon := time.Now().Add(24 * time.Hour)
	for i, in := range []struct {
		author   accounts.User
		title    string
		problem  string
		deadline *time.Time
	}{
		{carla, "Sort (C++)", "sort", nil}, {carla, "Sort (GPU)", "sort", nil},
		{carla, "Sort (contest)", "sort", &soon},
		{cora, "Sort (C++)", "sort", nil}, {cora, "Scan", "", nil}, {cora, "Sum", "", nil},
	} {
		bundle := modelstest.Bundle(fmt.Sprintf("task-%d", i))
		bundle.Definition.ProblemGroup = in.problem
		settings := catalog.TaskSettings{Title: in.title, Devices: []string{"CPU"}, Deadline: in.deadline}
		if _, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), in.author,
			catalog.NewTask{TaskSettings: settings, Bundle: bundle}); err != nil {
			t.Fatal(err)
		}
	}
	doc := s.Browser().Page("/tasks", http.StatusOK)
	if n := doc.Find("#tasks li[data-line], #tasks .divide-y > li[data-task]").Length(); n != 5 {
		t.Errorf("six tasks are on %d lines, want 5", n)
	}
	webtest.WantText(t, doc, "[data-line=Sort] .variants", "C++ Solve GPU Solve")
	all, err := s.API(accounts.User{}).Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.API(accounts.User{}).Task(t.Context(), all[0].Slug)
	if err != nil || task.Problem != all[0].Problem {
		t.Errorf("the API's problem of a task: %q, %v", task.Problem, err)
	}
	grouped := 0
	for _, one := range all {
		if one.Problem == "sort" {
			grouped++
		}
	}
	if grouped != 4 {
		t.Errorf("%d tasks have the problem in the API", grouped)
	}
}
