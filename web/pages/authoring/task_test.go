package authoring_test

import (
	"archive/zip"
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// uploadAll sends several files in one form field, as a browser does if a person selects several files.
func uploadAll(b *webtest.Browser, path, field string, files map[string]string, values url.Values) *http.Response {
	b.Site.T.Helper()
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	form.WriteField(site.CSRFField, b.CSRF())
	for key, list := range values {
		for _, value := range list {
			form.WriteField(key, value)
		}
	}
	for name, text := range files {
		webtest.AddFile(b.Site.T, form, field, name, []byte(text))
	}
	form.Close()
	return b.Send(http.MethodPost, path, &buf, "Content-Type", form.FormDataContentType())
}

func TestCreatorUploadsChecksAndPublishesATask(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "add.zip", webtest.ZipOf(t, webtest.UnchangedBundle),
		nil), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-draft=add-two]", "reference.h")
	webtest.WantText(t, doc, "[data-draft=add-two]", "the submission")
	webtest.WantText(t, doc, "[data-draft=add-two] details", "Benchmarks")
	if _, err := s.Cfg.Store.Catalog.Task(t.Context(), "add-two"); db.KindOf(err) != db.NotFound {
		t.Fatalf("the preview made a task (%v)", err)
	}

	form := webtest.Fields(doc.Find("main form"))
	if got := form["device"]; len(got) != 1 || got[0] != "CPU" {
		t.Errorf("a C++ task begins with the devices %v, want CPU", got)
	}
	form.Set("deadline", "2031-05-01T18:30:05")
	form.Set("title", "Add two vectors")
	resp := creator.Upload("/tasks/publish", "", "", nil, form)
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "h1", "Add two vectors")
	task, err := s.Cfg.Store.Catalog.Task(t.Context(), "add-two")
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2031, 5, 1, 18, 30, 5, 0, time.UTC); task.Deadline == nil || !task.Deadline.Equal(want) {
		t.Errorf("the deadline is %v, want %v", task.Deadline, want)
	}

	edit := creator.Page("/tasks/add-two/edit", http.StatusOK)
	if got := edit.Find("input[name=deadline]").AttrOr("value", ""); got != "2031-05-01T18:30:05" {
		t.Errorf("the edit page has the deadline %q: saving it would move it", got)
	}

	again := creator.Upload("/tasks/publish", "", "", nil, form)
	doc = webtest.Document(t, again, http.StatusConflict)
	webtest.WantText(t, doc, "[data-draft] [role=alert]", "that name already")
	if got := doc.Find("input[name=title]").AttrOr("value", ""); got != "Add two vectors" {
		t.Errorf("the refused form lost its title: %q", got)
	}
}

func TestBadUploadIsRefusedWithFileLineAndKey(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	file, err := w.Create("mine/task.yml")
	if err != nil {
		t.Fatal(err)
	}
	file.Write([]byte("lang: cpp\nfiles:\n  - {name: a.h, source: nowhere.h}\nspeed: fast\n"))
	w.Close()
	forbidden := webtest.ZipOf(t, func(b *tasks.Bundle) {
		b.Definition.Config.CompileFlags = []string{"-O2",
			"-fplugin=/tmp/x.so"}
	})
	for name, test := range map[string]struct {
		data []byte
		want []string
	}{
		"broken.zip": {[]byte("PK but no zip"), []string{"not a zip"}},
		"bad.zip":    {buf.Bytes(), []string{"mine/task.yml:4: speed", "nowhere.h"}},
		"flag.zip": {forbidden, []string{"task.yml:",
			`config.compile_flags[1]: "-fplugin=/tmp/x.so" is not among the flags that a C++ task may set: -O…`}},
		"old.cpp": {[]byte("int x;"), []string{"old.cpp", "input_t"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", name, test.data, nil),
				http.StatusUnprocessableEntity)
			for _, want := range test.want {
				webtest.WantText(t, doc, "[role=alert]", want)
			}
		})
	}
}

func TestOnlyCreatorsMakeAndOnlyOwnersChangeTasks(t *testing.T) {
	s := webtest.NewScene(t)
	other := s.SignedIn("Carla", accounts.RoleCreator)
	for who, b := range map[string]*webtest.Browser{"user": s.BrowserOf(s.Ada), "visitor": s.Browser(),
		"other creator": other} {
		edit := b.Get("/tasks/" + s.Task.Slug + "/edit")
		if doc := webtest.Document(t, edit, edit.StatusCode); doc.Find("form[action$='/delete']").Length() > 0 {
			t.Errorf("%s may edit the task", who)
		}
		resp := b.Post("/tasks/"+s.Task.Slug+"/delete", url.Values{"confirm": {s.Task.Slug}})
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s deletes the task: %s", who, resp.Status)
		}
	}
	user := s.BrowserOf(s.Ada)
	user.Page("/tasks/new", http.StatusForbidden)
	webtest.WantStatus(t, user.Upload("/tasks/new", "zip", "add.zip", webtest.ZipOf(t, webtest.UnchangedBundle), nil),
		http.StatusForbidden)
}

func TestNewVersionIsShownAsDifferencesFirst(t *testing.T) {
	s := webtest.NewScene(t)
	owner := s.BrowserOf(s.Admin)
	task := "/tasks/vectoradd-cpp"
	preview := func(change func(*tasks.Bundle)) *goquery.Document {
		doc := webtest.Document(t, owner.Upload(task+"/version", "zip", "new.zip", webtest.ZipOf(t, change), nil),
			http.StatusOK)
		webtest.CheckSound(t, doc)
		return doc
	}
	doc := preview(func(b *tasks.Bundle) {
		b.Definition.Title, b.Definition.ProblemGroup = "Vector add (C++)",
			"vectoradd"
	})
	webtest.WantText(t, doc, "main form button", "Nothing to publish")

	doc = preview(func(b *tasks.Bundle) {
		b.Definition.Title, b.Definition.ProblemGroup = "Vector add (C++)", "vectoradd"
		b.Definition.Description += "One more sentence.\n"
	})
	webtest.WantText(t, doc, "[data-change=description] ins", "+ One more sentence.")
	webtest.WantText(t, doc, ".callout", "Scores stay comparable")
	resp := owner.Upload(task+"/publish", "", "", nil, webtest.Fields(doc.Find("main form")))
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "[role=status]", "boards stay as they are")

	doc = preview(func(b *tasks.Bundle) {
		b.Definition.Title, b.Definition.ProblemGroup = "Vector add (C++)", "vectoradd"
		b.Files["reference.h"] = append([]byte("// changed\n"), b.Files["reference.h"]...)
	})
	webtest.WantText(t, doc, `[data-change="files.reference.h"] ins`, "+ // changed")
	webtest.WantText(t, doc, "main form button", "new version with empty boards")
	resp = owner.Upload(task+"/publish", "", "", nil, webtest.Fields(doc.Find("main form")))
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "[role=status]", "Published as a new version")
	webtest.WantText(t, owner.Page(task, http.StatusOK), ".meta", "version 2 by")
	webtest.WantText(t, owner.Page(task+"/boards/CPU", http.StatusOK), "main", "Boards of other versions: 1")
	webtest.WantText(t, owner.Page(task+"/boards/CPU?version=1", http.StatusOK), ".callout",
		"The task has changed since")
}

func TestTaskGoesOnlyWhenItsNameIsTyped(t *testing.T) {
	s := webtest.NewScene(t)
	owner := s.BrowserOf(s.Admin)
	doc := webtest.Document(t, owner.Post("/tasks/"+s.Task.Slug+"/delete", url.Values{"confirm": {"yes"}}),
		http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "[role=alert]", s.Task.Title)
	webtest.WantText(t, webtest.Document(t, owner.Post("/tasks/"+s.Task.Slug+"/delete",
		url.Values{"confirm": {s.Task.Slug}}), http.StatusOK), "[role=status]",
		"Deleted, with the task's boards and submissions.")
	owner.Page("/tasks/"+s.Task.Slug, http.StatusNotFound)
}

func TestSettingsThatDoNotWorkComeBackInTheForm(t *testing.T) {
	s := webtest.NewScene(t)
	owner := s.BrowserOf(s.Admin)
	edit := "/tasks/" + s.Task.Slug + "/edit"
	doc := webtest.Document(t, owner.Post(edit,
		url.Values{"title": {"New title"}, "deadline": {"tomorrow"}, "device": {"CPU"}}),
		http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "[role=alert]", "tomorrow")
	if got := doc.Find("input[name=title]").AttrOr("value", ""); got != "New title" {
		t.Errorf("the title came back as %q", got)
	}
	doc = webtest.Document(t, owner.Post(edit, url.Values{"title": {"New title"}, "others": {"B200, T4"}}),
		http.StatusOK)
	webtest.WantText(t, doc, "h1", "New title")
	webtest.WantText(t, doc, "#boards + div", "B200")
}

func TestTaskFilesCanBeTaken(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.Browser()
	for path, want := range map[string]string{
		"/file?path=reference.cuh": "#pragma once",
		"/template?label=CUDA":     "custom_kernel",
		"/bundle.zip":              "PK",
	} {
		resp := b.Get("/tasks/" + s.Task.Slug + path)
		webtest.WantStatus(t, resp, http.StatusOK)
		if text := webtest.Body(t, resp); !strings.Contains(text, want) {
			t.Errorf("%s gave %.80q, want %q in it", path, text, want)
		}
		if got := resp.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") {
			t.Errorf("%s has Content-Disposition %q: it could be shown as a page", path, got)
		}
	}
	b.Page("/tasks/"+s.Task.Slug+"/file?path=../go.mod", http.StatusNotFound)
}
