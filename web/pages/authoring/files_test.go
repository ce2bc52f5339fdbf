package authoring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

// takesFiles changes the scene's task so that submissions may have further files. The boards stay.
func takesFiles(s *webtest.Scene) {
	s.T.Helper()
	bundle, err := s.Cfg.Store.Catalog.CurrentBundle(s.T.Context(), s.Task)
	if err != nil {
		s.T.Fatal(err)
	}
	bundle.Definition.SubmissionFiles = []string{"tile.cuh", "*.h"}
	if _, change, err := s.Cfg.Store.Catalog.Publish(s.T.Context(), s.Admin, s.Task.ID, bundle, nil); err != nil || change != catalog.ChangeTexts {
		s.T.Fatalf("that a task takes further files is the change %q, %v", change, err)
	}
}

// sourceOf returns the submitted files of a run.
func sourceOf(s *webtest.Scene, run work.Run) tasks.Submission {
	s.T.Helper()
	sub, err := s.Cfg.Store.Submissions.Submission(s.T.Context(), run.SubmissionID)
	if err != nil {
		s.T.Fatal(err)
	}
	source, err := s.Cfg.Store.Submissions.Source(s.T.Context(), sub)
	if err != nil {
		s.T.Fatal(err)
	}
	return source
}

const fileTabs = `[...document.querySelectorAll("[data-file-tabs] [role=tab]")].map((tab) => tab.textContent).join()`

// typesInto replaces the text in the editor of a further file, whose tab must be open.
func typesInto(w *webtest.Window, file int, text string) {
	w.T.Helper()
	w.Until(fmt.Sprintf(`document.querySelector("#file-%d .cm-content")`, file))
	w.Eval(fmt.Sprintf(`(() => {
		document.querySelector("#file-%d .cm-content").focus();
		document.execCommand("selectAll");
		document.execCommand("insertText", false, %q);
	})()`, file, text))
	w.Until(fmt.Sprintf(`document.querySelector("#file-%d textarea").value == %q`, file, text))
}

// TestWorkbenchHasATabForEachFile adds, renames, and removes files in the workbench, stores them as a draft, submits
// them, and finds a compiler message about a header in the header's editor.
func TestWorkbenchHasATabForEachFile(t *testing.T) {
	s := webtest.NewScene(t)
	takesFiles(s)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Until(fileTabs + ` == "submission.cu"`)
	w.Types("#include \"row.h\"\nvoid custom_kernel() {}\n")
	w.Eval(`document.querySelector("[data-add-file]").click()`)
	w.Until(fileTabs + ` == "submission.cu,tile.cuh" && document.activeElement.value == "tile.cuh"`)
	typesInto(w, 1, "#pragma once\nint row = 1\n")
	w.Eval(`(() => {
		const name = document.querySelector("#file-1 [name=further_name]");
		name.value = "row.exe";
		name.dispatchEvent(new Event("input", { bubbles: true }));
	})()`)
	w.Shows("[data-files-note]", "row.exe: the task takes tile.cuh, *.h")
	w.Eval(`(() => {
		const name = document.querySelector("#file-1 [name=further_name]");
		name.value = "row.h";
		name.dispatchEvent(new Event("input", { bubbles: true }));
	})()`)
	w.Until(fileTabs + ` == "submission.cu,row.h" && !document.querySelector("[data-files-note]").textContent`)
	w.Eval(`document.querySelector("[data-add-file]").click()`)
	w.Until(fileTabs + ` == "submission.cu,row.h,tile.cuh"`)
	w.Eval(`document.querySelector("#file-2 [data-remove-file]").click()`)
	w.Until(fileTabs + ` == "submission.cu,row.h"`)

	w.Bench(s, "") // a reload restores all files from the draft
	w.Until(fileTabs + ` == "submission.cu,row.h" && !document.querySelector("[data-kept]").hidden`)
	w.Eval(`document.querySelector("[data-key=enter]").click()`)
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	run := s.Newest(s.Ada)
	if diff := cmp.Diff(map[string][]byte{"row.h": []byte("#pragma once\nint row = 1\n")}, sourceOf(s, run).Files); diff != "" {
		t.Errorf("the further files (-want +got):\n%s", diff)
	}
	s.Fail(run, headerFailure())
	w.Until(fileTabs + ` == "submission.cu1 error,row.h1 error"`)
	w.Until(`document.querySelector("#file-0 .cm-lintRange-error").closest(".cm-line").textContent.startsWith("#include")`)
	w.Eval(`[...document.querySelectorAll("[data-file-tabs] [role=tab]")][1].click()`)
	w.Until(`document.querySelector("#file-1 .cm-lintRange-error")?.closest(".cm-line").textContent == "int row = 1"`)
	w.Until(`!document.querySelector("#file-0").checkVisibility() && document.querySelector("#file-1").checkVisibility()`)
	w.LooksRight("workbench-files")
	w.RefusedNothing()

	w.Bench(s, fmt.Sprintf("?from=%d", run.SubmissionID)) // as the link "edit and resubmit" does
	w.Until(fileTabs + `.startsWith("submission.cu") && ` + fileTabs + `.includes("row.h")`)
	w.Visit(fmt.Sprintf("/submissions/%d?tab=source", run.SubmissionID))
	w.Until(`[...document.querySelectorAll("[data-submitted-file] h2")].map((h) => h.textContent).join() == "submission.cu,row.h"`)
	w.Until(`document.querySelector("[id='row.h-L2']").closest(".line").nextElementSibling.matches(".remark-error")`)
	w.LooksRight("submission-files")
	w.Visit("/tasks/" + s.Task.Slug + "#submit")
	w.Until(fileTabs + ` == "submission.cu,row.h"`) // the task's page shows the same draft
	w.Eval(`document.querySelector("#submit").scrollIntoView()`)
	w.LooksRight("form-files")
}

// headerFailure is a build that fails in the main file and in a header.
func headerFailure() []job.StageResult {
	now := time.Now()
	return []job.StageResult{{
		Stage: job.StageBuild, Status: job.StatusError, StartedAt: now.Add(-2 * time.Second), EndedAt: now,
		Stderr:  "row.h(2): error: expected a \";\"\nsubmission.cu(1): error: row is not what it should be\nutils.h(9): error: not the submission's\n",
		Failure: &job.Failure{Reason: "the submission does not compile: row.h line 2: expected a \";\"", ExitCode: 2},
	}}
}

// TestSeveralFilesAreSentWithoutJavaScript submits several files in each way that the form offers without scripts, and
// checks that a refused form keeps its input.
func TestSeveralFilesAreSentWithoutJavaScript(t *testing.T) {
	s := webtest.NewScene(t)
	takesFiles(s)
	b := s.BrowserOf(s.Ada)
	path := "/tasks/" + s.Task.Slug
	doc := b.Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	typed := webtest.Fields(doc.Find("#submit form"))
	if _, there := typed["further_name"]; !there {
		t.Error("without a script there is no row for a further file")
	}
	values := func(change func(url.Values)) url.Values {
		v := url.Values{"device": {"H200"}, "mode": {"test"}, "source": {"// main"}, "further_name": {"", " row.h "}, "further_text": {"", "int row;\r\n"}}
		if change != nil {
			change(v)
		}
		return v
	}
	zip, err := tasks.Submission{Source: []byte("// main"), Files: map[string][]byte{"row.h": []byte("int row;\n")}}.Zip("anything.cu")
	if err != nil {
		t.Fatal(err)
	}
	want := tasks.Submission{Source: []byte("// main"), Files: map[string][]byte{"row.h": []byte("int row;\n")}}
	for name, resp := range map[string]*http.Response{
		"rows of a form": b.Upload(path+"/solve", "", "", nil, values(nil)),
		"several files":  uploadAll(b, path+"/submit", "file", map[string]string{"k.cu": "// main", "row.h": "int row;\n"}, values(nil)),
		"a zip":          b.Upload(path+"/submit", "file", "all.zip", zip, values(nil)),
	} {
		if !strings.HasPrefix(resp.Request.URL.Path, "/submissions/") {
			t.Errorf("%s: the form leads to %s, %s", name, resp.Request.URL, webtest.Body(t, resp))
			continue
		}
		var id int64
		fmt.Sscanf(resp.Request.URL.Path, "/submissions/%d", &id)
		if diff := cmp.Diff(want, sourceOf(s, work.Run{SubmissionID: id})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		archive := b.Get(fmt.Sprintf("/submissions/%d/source", id))
		if all, err := tasks.UnzipSubmission([]byte(webtest.Body(t, archive))); err != nil || len(all) != 2 || string(all["row.h"]) != "int row;\n" {
			t.Errorf("%s: the download holds %q, %v", name, all, err)
		}
	}
	for name, c := range map[string]struct {
		send func() *http.Response
		want string
	}{
		"a file of the task": {func() *http.Response {
			return b.Upload(path+"/solve", "", "", nil, values(func(v url.Values) { v["further_name"][1] = "task.h" }))
		}, `the file "task.h" has the name of a file of the task`},
		"no name": {func() *http.Response {
			return b.Upload(path+"/solve", "", "", nil, values(func(v url.Values) { v["further_name"][1] = "" }))
		}, "A further file has no name"},
		"too much": {func() *http.Response {
			return b.Upload(path+"/solve", "", "", nil, values(func(v url.Values) { v["further_text"][1] = strings.Repeat("x", 999_999) }))
		}, "a submission may have 1000000"},
		"two main files": {func() *http.Response {
			return uploadAll(b, path+"/submit", "file", map[string]string{"a.cu": "x", "b.cu": "x"}, values(nil))
		}, "which of them is the main one? Call it submission.cu"},
		"a damaged zip": {func() *http.Response {
			return b.Upload(path+"/submit", "file", "all.zip", zip[:30], values(nil))
		}, "this is not a zip archive"},
	} {
		doc := webtest.Document(t, c.send(), http.StatusUnprocessableEntity)
		webtest.WantText(t, doc, "[role=alert]", c.want)
		if text := doc.Find("#source").Text(); strings.Contains(name, "name") && !strings.Contains(doc.Find("[data-further] textarea").Text()+text, "// main") {
			t.Errorf("%s: what was typed does not come back: %q", name, text)
		}
	}
}

// TestAllFilesOfASubmissionAreReadAndCompared checks that comparisons, exports, and the API contain all files of a
// submission.
func TestAllFilesOfASubmissionAreReadAndCompared(t *testing.T) {
	s := webtest.NewScene(t)
	takesFiles(s)
	var runs []work.Run
	for i, files := range []map[string][]byte{{"row.h": []byte("int row = 1;\n")}, {"row.h": []byte("int row = 2;\n"), "more.h": []byte("int more;\n")}} {
		_, made, err := s.Cfg.Store.Submissions.Submit(t.Context(), submissions.NewSubmission{
			User: s.Ada, TaskID: s.Task.ID, Devices: []string{"H200"}, Mode: job.ModeRanked,
			Source: []byte("// main"), AdditionalFiles: files, Via: "test",
		})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, made...)
		s.Finish(made[0], 9e3-float64(i)*1e3)
	}
	b := s.BrowserOf(s.Ada)
	doc := b.Page(fmt.Sprintf("/compare?a=%d&b=%d", runs[0].ID, runs[1].ID), http.StatusOK)
	for _, want := range []string{"row.h", "int row = 1;", "int row = 2;", fmt.Sprintf("more.h (only in #%d)", runs[1].SubmissionID)} {
		webtest.WantText(t, doc, "#code", want)
	}
	var answer struct{ Files map[string]string }
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get(fmt.Sprintf("/api/v1/submissions/%d/source", runs[1].SubmissionID)))), &answer); err != nil || answer.Files["more.h"] != "int more;\n" {
		t.Errorf("the API has the files %q, %v", answer.Files, err)
	}
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	lines := strings.Split(webtest.Body(t, s.Browser().Get("/tasks/"+s.Task.Slug+"/boards/H200/dataset.jsonl")), "\n")
	if err := json.Unmarshal([]byte(lines[1]), &answer); err != nil || answer.Files["row.h"] != "int row = 2;\n" {
		t.Errorf("the dataset begins with %s: %v", lines[1], err)
	}
}
