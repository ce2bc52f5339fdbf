package authoring_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/web/webtest"
)

// sends submits a form of a page with the values of its fields, after change has modified them.
func sends(b *webtest.Browser, t *testing.T, doc *goquery.Document, action string,
	change func(url.Values)) *http.Response {
	t.Helper()
	form := webtest.Fields(doc.Find("form[action='" + action + "']"))
	change(form)
	return b.Upload(action, "", "", nil, form)
}

func asIs(url.Values) {}

// judgeTrial ends the runs of a trial as a worker would, and returns their number. Runs of correct solutions pass. Runs
// of wrong ones fail with a wrong answer, except those whose source contains letThrough.
func judgeTrial(s *webtest.Scene, t *testing.T, slug, letThrough string) int {
	t.Helper()
	task, _ := taskNow(s, slug)
	list, err := s.Cfg.Store.Submissions.Submissions(t.Context(), s.Admin,
		submissions.SubmissionFilter{TaskID: task.ID, Via: "trial"})
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range list {
		source, err := s.Cfg.Store.Submissions.Source(t.Context(), sub.Submission)
		if err != nil {
			t.Fatal(err)
		}
		text, attempt, at := string(source.Source), s.Attempt(sub.Runs[0]), time.Now()
		stage := job.StageResult{Stage: job.StageTest, Status: job.StatusPass, StartedAt: at, EndedAt: at.Add(time.Second),
			Cases: webtest.PassedCases(5)}
		if sub.Mode == job.ModeBenchmark {
			stage.Stage, stage.Cases = job.StageBenchmark, webtest.TimedCases(12e3)
		}
		result := job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
			Outcome: job.OutcomePassed}
		if (strings.Contains(text, "right_kernel") || strings.Contains(text, "// WRONG")) &&
			!strings.Contains(text, letThrough) {
			stage = webtest.WrongAnswer()[1]
			result.Outcome, result.Failure = job.OutcomeFailed, stage.Failure
		}
		result.Stages = []job.StageResult{stage}
		s.Record(result, nil)
	}
	return len(list)
}

// TestATaskIsWrittenTriedAndPublishedInThePage goes through the pages as an author does: begin with a starter, correct
// errors, try the task, see that its check accepts a wrong solution, correct that, and publish. Until then no one else
// sees the task.
func TestATaskIsWrittenTriedAndPublishedInThePage(t *testing.T) {
	s := webtest.NewScene(t)
	creator, visitor := s.SignedIn("Carla", accounts.RoleCreator), s.Browser()
	begin := webtest.Href(t, creator.Page("/tasks/new", http.StatusOK), "C++")
	doc := creator.Page(begin, http.StatusOK)
	webtest.CheckSound(t, doc)
	withWrong := func(f url.Values) {
		f.Set("title", "Sum of many")
		f["path"], f["text"] = append(f["path"], "solutions/wrong/mine.cpp"), append(f["text"], "// WRONG\n")
	}
	refused := webtest.Document(t, sends(creator, t, doc, begin, func(f url.Values) {
		withWrong(f)
		f["text"][slices.Index(f["path"], "task.yml")] = "lang: cpp\nfilez: []\n"
	}), http.StatusUnprocessableEntity)
	webtest.WantText(t, refused, "[role=alert]", "filez")
	if kept := webtest.Fields(refused.Find("form[action='" + begin +
		"']")); !strings.HasPrefix(kept["text"][slices.Index(kept["path"], "task.yml")], "title: Sum of many\nlang") ||
		!slices.Contains(kept["text"], "// WRONG\n") {
		t.Errorf("what was typed is lost: %v", kept["path"])
	}
	webtest.WantText(t, webtest.Document(t, sends(creator, t, doc, begin, func(f url.Values) { f.Set("title", "New") }),
		http.StatusUnprocessableEntity), "[role=alert]", "cannot have this address")

	resp := sends(creator, t, doc, begin, withWrong)
	trial := strings.TrimPrefix(resp.Request.URL.String(), s.URL)
	doc = webtest.Document(t, resp, http.StatusOK)
	webtest.CheckSound(t, doc)
	if trial != "/tasks/sum-of-many/trial" {
		t.Fatalf("trying leads to %s", trial)
	}
	webtest.WantText(t, doc, "[data-summary]", "0 of 13 finished")
	webtest.WantText(t, doc, "form[action$='/publish'] button:not(.btn-main)", "Publish without waiting")
	webtest.WantText(t, doc, "#trial [data-publishes]", "No deadline Change it in the settings")
	if webtest.Href(t, doc, "Change it in the settings") != "/tasks/sum-of-many/edit" {
		t.Error("the settings are elsewhere")
	}
	webtest.WantText(t, doc, "#trial [data-copied]", "The description is still that of the starter.")
	if doc.Find("script[src*='htmx']").Length() == 0 || doc.Find("#trial[hx-get]").Length() == 0 {
		t.Error("the page does not renew itself")
	}
	webtest.WantStatus(t, visitor.Get("/tasks/sum-of-many"), http.StatusNotFound)
	webtest.WantStatus(t, s.SignedIn("Ben", accounts.RoleCreator).Get(trial), http.StatusNotFound)

	// template, 1 correct solution (tested and timed), 2 wrong ones, 8 mutants, and mine.cpp
	if n := judgeTrial(s, t, "sum-of-many", "1.01"); n != 14 {
		t.Errorf("%d were tried", n)
	}
	doc = creator.Page(trial, http.StatusOK)
	webtest.WantText(t, doc, "[data-verdict='vectorised.cpp']", "passes, as expected")
	webtest.WantText(t, doc, "[data-verdict='the starter']", "compiles, and passes")
	webtest.WantText(t, doc, "[data-verdict='mine.cpp']", "rejected, as expected")
	webtest.WantText(t, doc, "[data-proof='mine.cpp']",
		"Proved wrong by test 3 (size: 1023; seed: 5531): mismatch at (17, 480): expected 128.25, got 127.75")
	webtest.WantText(t, doc, "[data-verdict='mine.cpp'] .pop", "Got")
	if cells := doc.Find("[data-verdict='vectorised.cpp'] [data-cell=pass]"); cells.Length() != 8 ||
		!strings.Contains(cells.Last().Text(), "µs") {
		t.Errorf("a correct solution passed %d cases, the last %q", cells.Length(), cells.Last().Text())
	}
	webtest.WantText(t, doc, "[data-verdict='all zeros']", "rejected, as expected")
	webtest.WantText(t, doc, "[data-verdict='one percent off']", "passes but should fail")
	webtest.WantText(t, doc, "[data-summary]", "gave an unexpected result")

	w := s.Window().As(creator)
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit(trial)
	pop := `document.querySelector("[data-verdict='mine.cpp'] .pop")`
	w.Until(`!` + pop + `.matches(":popover-open")`)
	w.Eval(`document.querySelector("[data-verdict='mine.cpp'] .cell-proof").click()`)
	w.Until(pop + `.matches(":popover-open") && ` + pop + `.checkVisibility()`)
	w.LooksRight("trial-proof")
	w.Eval(pop + `.hidePopover()`)
	w.LooksRight("trial")
	w.RefusedNothing()

	resp = sends(creator, t, doc, trial+"/publish", asIs)
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "[role=status]", "Everyone can see the task now")
	webtest.WantStatus(t, visitor.Get("/tasks/sum-of-many"), http.StatusOK)
	if own := creator.Page("/tasks/sum-of-many",
		http.StatusOK).Find("main:contains('Your submissions')"); own.Length() > 0 {
		t.Error("the author's submissions to the task list those of the trial")
	}

	files := creator.Page("/tasks/sum-of-many/files", http.StatusOK)
	webtest.CheckSound(t, files)
	changed := webtest.Document(t, sends(creator, t, files, "/tasks/sum-of-many/files", func(f url.Values) {
		at := slices.Index(f["path"], "task.yml")
		f["text"][at] = strings.Replace(f["text"][at], "65537", "65539", 1)
		f.Set("do", "review")
	}), http.StatusOK)
	// Until the author publishes the changes, other people do not see them.
	webtest.WantText(t, changed, "main", "65539")
	webtest.WantStatus(t, s.SignedIn("Ben", accounts.RoleCreator).Get(trial), http.StatusForbidden)
}

// TestTheTypedTitleIsSeenAndMakesTheAddress checks that the slug is derived from the title unless the author enters
// another one, and that the starter's title is nowhere used.
func TestTheTypedTitleIsSeenAndMakesTheAddress(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	const begin = "/tasks/new/vectoradd_cpp"
	doc := creator.Page(begin, http.StatusOK)
	webtest.WantText(t, doc, "label[for=title]", "what people see")
	webtest.WantText(t, doc, "label[for=slug]", "/tasks/…")
	saved := func(title, slug string) func(url.Values) {
		return func(f url.Values) {
			f.Set("title", title)
			f.Set("slug", slug)
			f.Set("do", "save")
		}
	}
	for slug, typed := range map[string]string{"row-softmax-fp16": "", "rows": "rows"} {
		webtest.WantStatus(t, sends(creator, t, doc, begin, saved("Row softmax (FP16)", typed)), http.StatusOK)
		webtest.WantText(t, creator.Page("/tasks/"+slug, http.StatusOK), "h1", "Row softmax (FP16)")
		files := webtest.Fields(creator.Page("/tasks/"+slug+"/files", http.StatusOK).Find("main form"))
		if text := files["text"][slices.Index(files["path"], "task.yml")]; !strings.Contains(text,
			"title: Row softmax (FP16)\n") || strings.Contains(text, "Vector add") {
			t.Errorf("task.yml begins with %.80q", text)
		}
	}
	webtest.WantText(t, webtest.Document(t, sends(creator, t, doc, begin, saved("", "x")),
		http.StatusUnprocessableEntity), "[role=alert]", "no title")
}

// TestEditedTaskFilesKeepCommentsAndTitle checks that files that were not edited are stored byte for byte, and that the
// title in task.yml becomes the task's title.
func TestEditedTaskFilesKeepCommentsAndTitle(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	const begin = "/tasks/new/vectoradd_cpp"
	var written string
	sends(creator, t, creator.Page(begin, http.StatusOK), begin, func(f url.Values) {
		at := slices.Index(f["path"], "task.yml")
		written = "# after the course\ntitle:   'Sum of 16'  # short\n" + f["text"][at]
		f["text"][at] = written
	})
	if task, _ := taskNow(s, "sum-of-16"); task.Title != "Sum of 16" {
		t.Errorf("the title is %q", task.Title)
	}
	files := webtest.Fields(creator.Page("/tasks/sum-of-16/files",
		http.StatusOK).Find("form[action='/tasks/sum-of-16/files']"))
	if diff := cmp.Diff(written, files["text"][slices.Index(files["path"], "task.yml")]); diff != "" {
		t.Errorf("task.yml (-written +shown):\n%s", diff)
	}
}

// TestAProblemOfKernelBotIsUploadedAsItsFiles uploads files without folders, as a browser does, although the task.yml
// of a KernelBot problem references files in the parent folder.
func TestAProblemOfKernelBotIsUploadedAsItsFiles(t *testing.T) {
	creator := webtest.NewScene(t).SignedIn("Carla", accounts.RoleCreator)
	files := map[string]string{
		"task.yml": "lang: py\ngpus: [H200]\ndescription: Add two tensors.\nfiles:\n  - {name: submission.py, source: \"@SUBMISSION@\"}\n  - {name: task.py, source: task.py}\n" +
			"  - {name: utils.py, source: ../utils.py}\n  - {name: eval.py, source: ../eval.py}\n  - {name: reference.py, source: reference.py}\nconfig: {main: eval.py}\ntemplates: {Python: template.py}\n" +
			"tests: [{size: 16, seed: 1}]\nbenchmarks: [{size: 1024, seed: 2}]\nranking_by: geom\n",
		"task.py": "input_t = tuple\noutput_t = object\n", "eval.py": "print('passed')\n",
		"utils.py":     "def near(a, b):\n    return ''\n",
		"template.py":  "def custom_kernel(data):\n    return data[0] + data[1]\n",
		"reference.py": "from task import input_t, output_t\nfrom utils import near\n\n\ndef generate_input(size: int, seed: int):\n    return (size, seed)\n\n\ndef check_implementation(data, output):\n    return near(data, output)\n",
	}
	doc := webtest.Document(t, uploadAll(creator, "/tasks/new", "zip", files, nil), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-draft]", "utils.py")
	if problems := doc.Find("[data-draft] .callout-fail").Text(); problems != "" ||
		doc.Find("[data-draft]").Length() != 1 {
		t.Errorf("%d tasks, with problems %q", doc.Find("[data-draft]").Length(), problems)
	}
	published := webtest.Document(t,
		creator.Upload("/tasks/publish", "", "", nil, webtest.Fields(doc.Find("main form"))), http.StatusOK)
	webtest.WantText(t, published, "[role=status]", "Published")

	opened := webtest.Document(t, uploadAll(creator, "/tasks/new/open", "zip", files, nil), http.StatusOK)
	webtest.CheckSound(t, opened)
	if paths := webtest.Fields(opened.Find("main form"))["path"]; !slices.Contains(paths, "_up/utils.py") {
		t.Errorf("opened in the editor: %v", paths)
	}
	webtest.WantStatus(t, creator.Get("/tasks/new/files"), http.StatusOK) // reloading the URL of the editor
	tried := sends(creator, t, opened, "/tasks/new/files", func(f url.Values) { f.Set("title", "Two tensors") })
	if at := tried.Request.URL.Path; at != "/tasks/two-tensors/trial" {
		t.Errorf("trying what was opened leads to %s", at)
	}
	webtest.WantText(t, webtest.Document(t, uploadAll(creator, "/tasks/new/open", "zip",
		map[string]string{"a.py": "", "b.py": ""}, nil), http.StatusUnprocessableEntity), "[role=alert]",
		"there is no task.yml among these 2 files")
	delete(files, "task.yml")
	webtest.WantText(t, webtest.Document(t, uploadAll(creator, "/tasks/new", "zip", files, nil),
		http.StatusUnprocessableEntity), "[role=alert]", "there is no task.yml among these 5 files")
}

func TestProblemsOfOtherBenchmarksAreUploadedLikeTasks(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	const model = "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.nn.functional.dropout(x)\n\n" +
		"def get_inputs():\n    return [torch.rand(64)]\n"
	doc := webtest.Document(t, uploadAll(creator, "/tasks/new", "zip", map[string]string{"1_Drop.py": model, "2_Broken.py": "class Model:\n    pass\n"}, nil), http.StatusOK)
	webtest.CheckSound(t, doc)
	if drafts := doc.Find("[data-draft]"); drafts.Length() != 2 {
		t.Fatalf("%d tasks are shown", drafts.Length())
	}
	webtest.WantText(t, doc, "[data-draft='1-drop']", "dropout is active")
	webtest.WantText(t, doc, "main", "has no function get_inputs at its top level")
	single := webtest.Document(t, creator.Upload("/tasks/new", "zip", "1_Drop.py", []byte(model), nil), http.StatusOK)
	webtest.WantText(t, single, "[data-draft]", "problem.py")
	form := webtest.Fields(single.Find("main form"))
	form.Set("device", "CPU")
	webtest.WantText(t, webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK), "[role=status]", "Published")
	webtest.WantStatus(t, creator.Get("/tasks/1-drop"), http.StatusOK)
}
