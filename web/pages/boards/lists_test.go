package boards_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestListsSayHowRunsEnded checks that all lists of submissions show the kind of a failure, or the score with its
// interval.
func TestListsSayHowRunsEnded(t *testing.T) {
	s := webtest.NewScene(t)
	s.Fail(s.Submit(s.Ada, "H200", webtest.GoodKernel), webtest.WrongAnswer())
	webtest.Scored(t, s.Cfg.Store, s.Ada, s.Task, measured(9e3, 0.03))
	b := s.BrowserOf(s.Ada)
	pages := map[string]string{"task": "/tasks/" + s.Task.Slug, "account": "/me",
		"person": fmt.Sprintf("/users/%d", s.Ada.ID)}
	w := s.Window().As(b)
	for name, path := range pages {
		for _, want := range []string{"Compile error", "Wrong answer", "9.000 µs ± 3.0 %"} {
			webtest.WantText(t, b.Page(path, http.StatusOK), ".submissions", want)
		}
		w.Visit(path)
		w.LooksRight("list-" + name)
	}
	w.Bench(s, "")
	w.Eval(`document.querySelector("#tab-history").click()`)
	w.Shows("#pane-history", "Wrong answer")
	w.Shows("#pane-history", "± 3.0")
	w.LooksRight("list-history")
}

// TestShortBoardsSayHowFarScoresMayLieOff checks that the short boards on a task's page and beside the editor show
// intervals. Without them, a shared rank of different scores looks like a mistake.
func TestShortBoardsSayHowFarScoresMayLieOff(t *testing.T) {
	s := webtest.Start(t)
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator), "sort",
		"CPU")
	for name, score := range map[string]work.Score{"Barbara Liskov": measured(677.3e3, 0.33),
		"Edsger Dijkstra": measured(900e3, 0.5),
		"A name that is as long as a name on this site may ever be": measured(2628e3, 0.9)} {
		webtest.Scored(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, name, accounts.RoleUser), task, score)
	}
	w := (&webtest.Scene{Site: s}).Window()
	webtest.WantText(t, s.Browser().Page("/tasks/sort", http.StatusOK), "[data-leaders] li:first-child",
		"677.3 µs ± 33.0 %")
	w.Visit("/tasks/sort")
	w.LooksRight("board-of-task")
	w.Bench(&webtest.Scene{Site: s, Task: task}, "")
	w.Eval(`document.querySelector("#tab-board").click()`)
	w.Shows("#pane-board [data-leaders]", "± 33.0")
	w.LooksRight("board-of-bench")
}
