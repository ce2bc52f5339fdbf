package authoring_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

// setZip returns a zip with a problem set of three problems, the third of which is invalid.
func setZip(t testing.TB, deadline string, change func(name string, b *tasks.Bundle)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	write := func(name string, text []byte) {
		file, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(text)
	}
	write("problems/first.yaml", []byte(`name: First steps
problems:
  - {directory: first/add, name: add, deadline: "`+deadline+`", gpus: [CPU]}
  - {directory: first/sum, name: sum, gpus: [CPU, H200]}
  - {directory: first/bad, name: bad, gpus: [CPU]}
`))
	write("problems/first/bad/task.yml", []byte("lang: cpp\n"))
	for _, name := range []string{"add", "sum"} {
		b := webtest.ExampleTask(t)
		b.Definition.Title = "Task " + name
		change(name, b)
		text, err := b.TaskYAML()
		if err != nil {
			t.Fatal(err)
		}
		b.Files[tasks.TaskFile] = text
		for file, text := range b.Files {
			write("problems/first/"+name+"/"+file, text)
		}
	}
	w.Close()
	return buf.Bytes()
}

func asItIs(string, *tasks.Bundle) {}

func taskNow(s *webtest.Scene, slug string) (catalog.Task, catalog.TaskVersion) {
	s.T.Helper()
	task, err := s.Cfg.Store.Catalog.Task(s.T.Context(), slug)
	if err != nil {
		s.T.Fatal(err)
	}
	version, err := s.Cfg.Store.Catalog.Version(s.T.Context(), task.VersionID)
	if err != nil {
		s.T.Fatal(err)
	}
	return task, version
}

func chosen(doc *goquery.Document) (names []string) {
	doc.Find("[data-draft] header input[type=checkbox][checked]").Each(func(_ int, e *goquery.Selection) {
		names = append(names, e.Closest("[data-draft]").AttrOr("data-draft", ""))
	})
	return names
}

func TestTasksOfASetArePickedWithTheirDeadlines(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "set.zip", setZip(t, "2031-05-01 18:30", asItIs),
		nil), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-draft=bad] .callout-fail", "problems/first/bad/task.yml: files: is required")
	if got := strings.Join(chosen(doc), " "); got != "add sum" {
		t.Fatalf("chosen in advance are %q, want the two that can be made", got)
	}
	form := webtest.Fields(doc.Find("main form"))
	form.Del("1.chosen")
	doc = webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[role=status]", "Task add")
	if _, err := s.Cfg.Store.Catalog.Task(t.Context(), "sum"); db.KindOf(err) != db.NotFound {
		t.Fatalf("a task that was left out was made (%v)", err)
	}
	task, _ := taskNow(s, "add")
	if want := time.Date(2031, 5, 1, 18, 30, 0, 0, time.UTC); task.Deadline == nil || !task.Deadline.Equal(want) ||
		strings.Join(task.Devices, " ") != "CPU" {
		t.Errorf("the task has the deadline %v and the devices %v", task.Deadline, task.Devices)
	}

	form = webtest.Fields(doc.Find("main form"))
	form.Set("1.chosen", "on")
	form["1.device"] = []string{"CPU", "H200"}
	form.Set("1.deadline", "2031-06-01T12:00:07")
	webtest.WantText(t, webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK),
		"[role=status]", "Task sum")
	task, _ = taskNow(s, "sum")
	if want := time.Date(2031, 6, 1, 12, 0, 7, 0, time.UTC); !task.Deadline.Equal(want) ||
		strings.Join(task.Devices, " ") != "CPU H200" {
		t.Errorf("the task has the deadline %v and the devices %v", task.Deadline, task.Devices)
	}
}

func TestProblemOfASetWithAForbiddenFlagSaysSo(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	set := setZip(t, "2031-05-01", func(name string, b *tasks.Bundle) {
		if name == "sum" {
			b.Definition.Config.CompileFlags = []string{"-specs=/tmp/x"}
		}
	})
	doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "set.zip", set, nil), http.StatusOK)
	webtest.WantText(t, doc, "[data-draft=sum] .callout-fail",
		`config.compile_flags[0]: "-specs=/tmp/x" is not among the flags`)
	if got := strings.Join(chosen(doc), " "); got != "add" {
		t.Errorf("chosen in advance are %q, want the one that can be made", got)
	}
}

func TestALaterUploadOfASetShowsItsChangesAndUpdates(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	preview := func(deadline string, change func(string, *tasks.Bundle)) *goquery.Document {
		doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "set.zip", setZip(t, deadline, change), nil),
			http.StatusOK)
		webtest.CheckSound(t, doc)
		return doc
	}
	webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil,
		webtest.Fields(preview("2031-05-01", asItIs).Find("main form"))), http.StatusOK)
	before, _ := taskNow(s, "sum")

	doc := preview("2031-05-02 06:00", func(name string, b *tasks.Bundle) {
		if name == "add" {
			b.Definition.Title = "Add up"
		}
		if name == "sum" {
			b.Files["reference.h"] = append([]byte("// changed\n"), b.Files["reference.h"]...)
		}
	})
	webtest.WantText(t, doc, "[data-draft=add] [data-change=deadline] ins", "2031-05-02 06:00:00 UTC")
	webtest.WantText(t, doc, `[data-draft=sum] [data-change="files.reference.h"]`, "new boards")
	webtest.WantText(t, doc, "[data-draft=sum] header label", "with empty boards")
	if got := strings.Join(chosen(doc), " "); got != "add" {
		t.Errorf("chosen in advance are %q: what empties boards must be chosen by hand", got)
	}
	form := webtest.Fields(doc.Find("main form"))
	webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK)
	task, version := taskNow(s, "add")
	if want := time.Date(2031, 5, 2, 6, 0, 0, 0, time.UTC); !task.Deadline.Equal(want) || version.Number != 1 ||
		task.Title != "Add up" {
		t.Errorf("the task is %q, until %v, in version %d", task.Title, task.Deadline, version.Number)
	}
	form.Set("1.chosen", "on")
	webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK)
	task, version = taskNow(s, "sum")
	if version.Number != 2 || !task.Deadline.Equal(*before.Deadline) {
		t.Errorf("version %d, deadline %v (was %v): a set that says none leaves it", version.Number, task.Deadline,
			before.Deadline)
	}

	other := s.SignedIn("Otto", accounts.RoleCreator)
	doc = webtest.Document(t, other.Upload("/tasks/new", "zip", "set.zip", setZip(t, "2031-05-01", asItIs), nil),
		http.StatusOK)
	if doc.Find("[data-change]").Length() > 0 {
		t.Error("someone else's task is shown as one to update")
	}
	webtest.WantStatus(t, other.Upload("/tasks/publish", "", "", nil, form), http.StatusForbidden)
}
