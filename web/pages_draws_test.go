package web_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	client "warpboard/clients/go"
	"warpboard/internal/test/tier"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/modelstest"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

// ranged publishes a version of the scene's task whose benchmark sizes are drawn from a range, and queues a run that
// draws them.
func ranged(s *webtest.Scene, size string) {
	s.T.Helper()
	b, err := s.Cfg.Store.Catalog.CurrentBundle(s.T.Context(), s.Task)
	if err != nil {
		s.T.Fatal(err)
	}
	for i, c := range b.Definition.Benchmarks {
		b.Definition.Benchmarks[i] = slices.Clone(c)
		b.Definition.Benchmarks[i][0].Value = size
	}
	version, _, err := s.Cfg.Store.Catalog.Publish(s.T.Context(), s.Admin, s.Task.ID, b, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Task.VersionID = version.ID
	if !b.Definition.HasRanges() {
		return
	}
	attempt := s.Attempt(s.Submit(s.Ada, "H200", webtest.GoodKernel))
	software := epochs.Software{Driver: "570.86.15", CUDA: "12.8", Compiler: "nvcc 12.8.93", Harness: "8f3e6f4f92f9"}
	if _, err := s.Cfg.Store.Scores.BeginDraw(s.T.Context(), attempt.ID, version.ID, "H200", software); err != nil {
		s.T.Fatal(err)
	}
}

func drawsOf(s *webtest.Scene) (doc *goquery.Document, answers []client.Draw) {
	s.T.Helper()
	var answer struct{ Draws []client.Draw }
	if err := json.Unmarshal([]byte(webtest.Body(s.T, s.Browser().Get("/api/v1/tasks/"+s.Task.Slug+"/draws"))),
		&answer); err != nil {
		s.T.Fatal(err)
	}
	return s.Browser().Page("/tasks/"+s.Task.Slug+"/draws", http.StatusOK), answer.Draws
}

func TestADrawIsOnPageAndAPIWhenItIsNoSecret(t *testing.T) {
	s := webtest.NewScene(t)
	ranged(s, "uniform 512..4096 step 64")
	task := s.Browser().Page("/tasks/"+s.Task.Slug, http.StatusOK)
	webtest.WantText(t, task, "[aria-labelledby=cases]", "uniform 512..4096 step 64")
	if task.Find("[aria-labelledby=cases] a[href$='/draws']").Length() != 1 {
		t.Error("the task's page does not lead to its draws")
	}
	page, answers := drawsOf(s)
	webtest.WantText(t, page, "[data-draw]", "H200, version 2")
	webtest.WantText(t, page, "[data-draw]", "Secret")
	if len(answers) != 1 || !answers[0].CasesSecret || answers[0].Benchmarks != nil || page.Find("[data-draw] table").Length() > 0 {
		t.Fatalf("a draw that counts is shown: %+v", answers)
	}
	ranged(s, "uniform 512..4096 step 128")
	page, answers = drawsOf(s)
	if len(answers) != 2 || !answers[0].CasesSecret || answers[1].CasesSecret || len(answers[1].Benchmarks) == 0 ||
		(tasks.Definition{Benchmarks: answers[1].Benchmarks}).HasRanges() {
		t.Fatalf("draws: %+v", answers)
	}
	webtest.WantText(t, page, "[data-draw] table", answers[1].Benchmarks[0][0].Value)
	webtest.CheckSound(t, page)

	hidden := s.Task.Settings()
	hidden.Visibility = catalog.Hidden
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, hidden); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/tasks/", "/api/v1/tasks/"} {
		webtest.WantStatus(t, s.Browser().Get(address+s.Task.Slug+"/draws"), http.StatusNotFound)
	}
}

// TestATaskWhoseDrawIsKnownStaysClosed checks that a closed task, whose drawn values are public, can be opened again
// only with a new version, which draws new values.
func TestATaskWhoseDrawIsKnownStaysClosed(t *testing.T) {
	s := webtest.NewScene(t)
	ranged(s, "uniform 512..4096 step 64")
	catalogue, open := s.Cfg.Store.Catalog, s.Task.Settings()
	later := time.Now().Add(time.Hour)
	open.Deadline = &later
	if _, err := catalogue.UpdateTask(t.Context(), s.Admin, s.Task.ID, open); err != nil {
		t.Fatalf("an open task gets more time: %v", err)
	}
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	if _, err := catalogue.UpdateTask(t.Context(), s.Admin, s.Task.ID, open); db.KindOf(err) != db.Conflict {
		t.Fatalf("a closed one is opened again: %v", err)
	}
	b, err := catalogue.CurrentBundle(t.Context(), s.Task)
	if err != nil {
		t.Fatal(err)
	}
	b.Definition.Benchmarks[0][1].Value = "99"
	if _, _, err := catalogue.Publish(t.Context(), s.Admin, s.Task.ID, b, &open); err != nil {
		t.Errorf("a new version: %v", err)
	}
}

func TestDrawsLookRight(t *testing.T) {
	tier.Needs(t, tier.Browser)
	s := webtest.NewScene(t)
	ranged(s, "uniform 512..4096 step 64")
	ranged(s, "uniform 512..4096 step 128")
	b, err := s.Cfg.Store.Catalog.CurrentBundle(t.Context(), s.Task)
	if err != nil {
		t.Fatal(err)
	}
	b.Definition.Benchmarks[2] = append(b.Definition.Benchmarks[2],
		tasks.Arg{Name: tasks.DevicesKey, Value: "H200, B200"})
	if _, _, err := s.Cfg.Store.Catalog.Publish(t.Context(), s.Admin, s.Task.ID, b, nil); err != nil {
		t.Fatal(err)
	}
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/tasks/" + s.Task.Slug + "/draws")
	w.LooksRight("draws")
	w.Visit("/tasks/" + s.Task.Slug)
	w.LooksRight("task-ranged")
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200?version=1&columns=memory")
	w.LooksRight("board-memory")
}
