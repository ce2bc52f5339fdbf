package submissions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// refusing returns a scene whose task refuses kernels of libraries.
func refusing(t *testing.T) *webtest.ProfiledScene {
	t.Helper()
	s := webtest.NewProfiledScene(t)
	bundle, err := s.Cfg.Store.Catalog.CurrentBundle(t.Context(), s.Task)
	if err != nil {
		t.Fatal(err)
	}
	bundle.Definition.RefuseLibraryKernels = true
	if _, _, err := s.Cfg.Store.Catalog.Publish(t.Context(), s.Admin, s.Task.ID, bundle, nil); err != nil {
		t.Fatal(err)
	}
	if s.Task, err = s.Cfg.Store.Catalog.TaskByID(t.Context(), s.Task.ID); err != nil {
		t.Fatal(err)
	}
	return s
}

// answerOf returns a run as the API shows it to the person of the browser.
func answerOf(t *testing.T, b *webtest.Browser, run work.Run) client.Run {
	t.Helper()
	var answer client.Submission
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get(fmt.Sprintf("/api/v1/submissions/%d", run.SubmissionID)))),
		&answer); err != nil || len(answer.Runs) != 1 {
		t.Fatalf("%d runs, %v", len(answer.Runs), err)
	}
	return answer.Runs[0]
}

func TestARunShowsWhatRanInItsProfile(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	doc := b.Page(webtest.SubmissionPath(s.Second), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-ran] tr[data-origin=cuBLAS]",
		"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT cuBLAS 85.0 % 2")
	webtest.WantText(t, doc, "[data-ran] tr[data-origin=source]", "softmax_row source 15.0 % 2")
	webtest.WantText(t, doc, "[data-ran-note]", "They are evidence, not proof")
	if doc.Find("[data-library], [data-ran] .tag-warn").Length() > 0 {
		t.Error("a library stands out, and the task does not refuse it")
	}
	if doc := b.Page(webtest.SubmissionPath(s.Refused),
		http.StatusOK); doc.Find("[data-ran], [data-ran-unknown]").Length() > 0 {
		t.Error("a run without a profile says something of what ran")
	}
	answer := answerOf(t, b, s.Second)
	if len(answer.Kernels) != 2 || answer.Kernels[0].Origin != "cuBLAS" || answer.Kernels[0].CaseCount != 2 ||
		!answer.Kernels[0].FromLibrary || answer.Libraries != "" {
		t.Errorf("the API has %+v, and refused %q", answer.Kernels, answer.Libraries)
	}
	hidden := s.Browser().Page(webtest.SubmissionPath(s.Second), http.StatusOK)
	webtest.WantText(t, hidden, "[data-ran] tr[data-origin=cuBLAS]", "kernel 1 cuBLAS 85.0 % 2")
	if names := answerOf(t, s.Browser(), s.Second).Kernels; len(names) != 2 || names[1].Name != "kernel 2" {
		t.Errorf("others read the names of kernels in the API: %+v", names)
	}
}

func TestARunOfManyKernelsListsThoseWithTheMostTime(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Finish(run, 9e3)
	held := webtest.FixtureReport(t, "cuda4/3")
	for i := range 15 {
		k := held.Kernels[0]
		k.Name = fmt.Sprintf("part_%d<%s>(int)", i, strings.Repeat("int, ", 100))
		held.Kernels = append(held.Kernels, k)
	}
	for i := range 8 {
		k := held.Kernels[0]
		k.Name = fmt.Sprintf("more_%d(int)", i)
		held.Kernels = append(held.Kernels, k)
	}
	s.EndProfile(run, held)
	doc := s.BrowserOf(s.Admin).Page(webtest.SubmissionPath(run), http.StatusOK)
	webtest.CheckSound(t, doc)
	if rows := doc.Find("[data-ran] tr[data-origin]").Length(); rows != 20 {
		t.Errorf("%d kernels are listed", rows)
	}
	webtest.WantText(t, doc, "[data-ran] tr[data-further]", "4 further kernels, 16.7 % of the GPU's time")
	webtest.WantText(t, doc, "[data-ran-note]", "These are the first 16 launches of one untimed call of each case.")
}

func TestALibraryThatItsTaskRefusesIsATagAndAHint(t *testing.T) {
	s := refusing(t)
	library, own, unknown := s.Ranked("Lena Library", webtest.GoodKernel, 9e6, "tri"),
		s.Ranked("Otto Own", webtest.SlowKernel, 9.5e6, "cuda4"),
		s.Ranked("Nina None", webtest.GoodKernel+"//", 9.7e6, "")
	b := s.BrowserOf(s.Admin)
	doc := b.Page(webtest.SubmissionPath(library), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, ".card-head [data-library]", "Library kernels")
	webtest.WantText(t, doc, "[data-ran-note]",
		"The task refuses library kernels. In the profile, they took GPU time: cuBLAS 85 %. The score stands, and reviewers get a hint.")
	if label := answerOf(t, b, library).Libraries; label != "cuBLAS 85\u00a0%" {
		t.Errorf("the API has %q", label)
	}
	if doc := b.Page(webtest.SubmissionPath(own), http.StatusOK); doc.Find("[data-library]").Length() > 0 ||
		doc.Find("[data-ran] tr[data-origin=unknown]").Length() != 3 {
		t.Error("kernels that no rule knows count as a library's")
	}
	webtest.WantText(t, b.Page(webtest.SubmissionPath(unknown), http.StatusOK), "[data-ran-unknown]",
		"It is not known what ran. The driver refused access")
	queue := b.Page("/review", http.StatusOK)
	webtest.WantText(t, queue, "[data-group=library] h2", "Library kernels: 1 run")
	webtest.WantText(t, queue, "[data-group=library]", "cuBLAS 85 %")
	if rows := webtest.Words(queue.Find("[data-group=library]")); !strings.Contains(rows, "Lena Library") ||
		strings.Contains(rows, "Otto Own") {
		t.Errorf("the queue has %s", rows)
	}
	webtest.WantText(t, b.Page("/tasks/"+s.Task.Slug, http.StatusOK), "[data-refuse-library]",
		"refuses kernels of libraries")
	var task client.Task
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get("/api/v1/tasks/"+s.Task.Slug))), &task); err != nil ||
		task.Library != "refuse" {
		t.Errorf("the API does not say that the task refuses libraries: %v", err)
	}
	w := s.Window().As(b)
	w.Visit(webtest.SubmissionPath(library))
	w.LooksRight("ran")
}
