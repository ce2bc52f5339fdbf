package web

import (
	"archive/zip"
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/web/site"
)

// upload sends a form with one file, as a page of the site would.
func (b *browser) upload(path, field, name string, data []byte, values url.Values) *http.Response {
	b.site.t.Helper()
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	form.WriteField(site.CSRFField, b.csrf())
	for key, list := range values {
		for _, value := range list {
			form.WriteField(key, value)
		}
	}
	if field != "" {
		addFile(b.site.t, form, field, name, data)
	}
	form.Close()
	return b.send(http.MethodPost, path, &buf, "Content-Type", form.FormDataContentType())
}

// uploadAll sends several files in one field, as a browser does of those that are chosen at once.
func (b *browser) uploadAll(path, field string, files map[string]string, values url.Values) *http.Response {
	b.site.t.Helper()
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	form.WriteField(site.CSRFField, b.csrf())
	for key, list := range values {
		for _, value := range list {
			form.WriteField(key, value)
		}
	}
	for name, text := range files {
		addFile(b.site.t, form, field, name, []byte(text))
	}
	form.Close()
	return b.send(http.MethodPost, path, &buf, "Content-Type", form.FormDataContentType())
}

func addFile(t testing.TB, form *multipart.Writer, field, name string, data []byte) {
	t.Helper()
	file, err := form.CreateFormFile(field, name)
	if err != nil {
		t.Fatal(err)
	}
	file.Write(data)
}

// fields are what a browser would send of a form that no one touched.
func fields(form *goquery.Selection) url.Values {
	values := url.Values{}
	form.Find("input[name], textarea[name]").Each(func(_ int, e *goquery.Selection) {
		_, checked := e.Attr("checked")
		kind := e.AttrOr("type", "text")
		if (kind == "checkbox" || kind == "radio") && !checked || kind == "file" || e.AttrOr("name", "") == site.CSRFField {
			return
		}
		values.Add(e.AttrOr("name", ""), e.AttrOr("value", e.Text()))
	})
	return values
}

// zipOf is the built-in C++ vector add under another name, with changes.
func zipOf(t testing.TB, change func(*tasks.Bundle)) []byte {
	t.Helper()
	b := exampleTask(t)
	b.Name, b.Definition.Title = "add_two", "Add two"
	change(b)
	var buf bytes.Buffer
	if err := tasks.WriteZip(&buf, b); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// exampleTask is the built-in C++ vector add.
func exampleTask(t testing.TB) *tasks.Bundle {
	t.Helper()
	examples, err := tasks.Examples()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(examples, func(b *tasks.Bundle) bool { return b.Name == "vectoradd_cpp" })
	examples[i].Definition.Problem = "" // tasks of one problem share a line of the list
	return examples[i]
}

func unchangedBundle(*tasks.Bundle) {}

func TestCreatorUploadsChecksAndPublishesATask(t *testing.T) {
	s := newScene(t)
	creator := s.signedIn("Carla", accounts.RoleCreator)
	doc := document(t, creator.upload("/tasks/new", "zip", "add.zip", zipOf(t, unchangedBundle), nil), http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[data-draft=add-two]", "reference.h")
	wantText(t, doc, "[data-draft=add-two]", "the submission")
	wantText(t, doc, "[data-draft=add-two] details", "Benchmarks")
	if _, err := s.site.Store.Catalog.Task(t.Context(), "add-two"); db.KindOf(err) != db.NotFound {
		t.Fatalf("the preview made a task (%v)", err)
	}

	form := fields(doc.Find("main form"))
	if got := form["device"]; len(got) != 1 || got[0] != "CPU" {
		t.Errorf("a C++ task begins with the devices %v, want CPU", got)
	}
	form.Set("deadline", "2031-05-01T18:30:05")
	form.Set("title", "Add two vectors")
	resp := creator.upload("/tasks/publish", "", "", nil, form)
	wantText(t, document(t, resp, http.StatusOK), "h1", "Add two vectors")
	task, err := s.site.Store.Catalog.Task(t.Context(), "add-two")
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2031, 5, 1, 18, 30, 5, 0, time.UTC); task.Deadline == nil || !task.Deadline.Equal(want) {
		t.Errorf("the deadline is %v, want %v", task.Deadline, want)
	}

	edit := creator.page("/tasks/add-two/edit", http.StatusOK)
	if got := edit.Find("input[name=deadline]").AttrOr("value", ""); got != "2031-05-01T18:30:05" {
		t.Errorf("the edit page has the deadline %q: saving it would move it", got)
	}

	again := creator.upload("/tasks/publish", "", "", nil, form)
	doc = document(t, again, http.StatusConflict)
	wantText(t, doc, "[data-draft] [role=alert]", "that name already")
	if got := doc.Find("input[name=title]").AttrOr("value", ""); got != "Add two vectors" {
		t.Errorf("the refused form lost its title: %q", got)
	}
}

func TestBadUploadIsRefusedWithFileLineAndKey(t *testing.T) {
	s := newScene(t)
	creator := s.signedIn("Carla", accounts.RoleCreator)
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	file, err := w.Create("mine/task.yml")
	if err != nil {
		t.Fatal(err)
	}
	file.Write([]byte("lang: cpp\nfiles:\n  - {name: a.h, source: nowhere.h}\nspeed: fast\n"))
	w.Close()
	forbidden := zipOf(t, func(b *tasks.Bundle) { b.Definition.Config.CompileFlags = []string{"-O2", "-fplugin=/tmp/x.so"} })
	for name, test := range map[string]struct {
		data []byte
		want []string
	}{
		"broken.zip": {[]byte("PK but no zip"), []string{"not a zip"}},
		"bad.zip":    {buf.Bytes(), []string{"mine/task.yml:4: speed", "nowhere.h"}},
		"flag.zip":   {forbidden, []string{"task.yml:", `config.compile_flags[1]: "-fplugin=/tmp/x.so" is not among the flags that a C++ task may set: -O…`}},
		"old.cpp":    {[]byte("int x;"), []string{"old.cpp", "input_t"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := document(t, creator.upload("/tasks/new", "zip", name, test.data, nil), http.StatusUnprocessableEntity)
			for _, want := range test.want {
				wantText(t, doc, "[role=alert]", want)
			}
		})
	}
}

func TestOnlyCreatorsMakeAndOnlyOwnersChangeTasks(t *testing.T) {
	s := newScene(t)
	other := s.signedIn("Carla", accounts.RoleCreator)
	for who, b := range map[string]*browser{"user": s.browserOf(s.ada), "visitor": s.browser(), "other creator": other} {
		edit := b.get("/tasks/" + s.task.Slug + "/edit")
		if doc := document(t, edit, edit.StatusCode); doc.Find("form[action$='/delete']").Length() > 0 {
			t.Errorf("%s may edit the task", who)
		}
		resp := b.post("/tasks/"+s.task.Slug+"/delete", url.Values{"confirm": {s.task.Slug}})
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s deletes the task: %s", who, resp.Status)
		}
	}
	user := s.browserOf(s.ada)
	user.page("/tasks/new", http.StatusForbidden)
	wantStatus(t, user.upload("/tasks/new", "zip", "add.zip", zipOf(t, unchangedBundle), nil), http.StatusForbidden)
}

func TestNewVersionIsShownAsDifferencesFirst(t *testing.T) {
	s := newScene(t)
	owner := s.browserOf(s.admin)
	task := "/tasks/vectoradd-cpp"
	preview := func(change func(*tasks.Bundle)) *goquery.Document {
		doc := document(t, owner.upload(task+"/version", "zip", "new.zip", zipOf(t, change), nil), http.StatusOK)
		checkSound(t, doc)
		return doc
	}
	doc := preview(func(b *tasks.Bundle) { b.Definition.Title = "Vector add (C++)" })
	wantText(t, doc, "main form button", "Nothing to publish")

	doc = preview(func(b *tasks.Bundle) {
		b.Definition.Title = "Vector add (C++)"
		b.Definition.Description += "One more sentence.\n"
	})
	wantText(t, doc, "[data-change=description] ins", "+ One more sentence.")
	wantText(t, doc, ".callout", "Scores keep their meaning")
	resp := owner.upload(task+"/publish", "", "", nil, fields(doc.Find("main form")))
	wantText(t, document(t, resp, http.StatusOK), "[role=status]", "boards stay as they are")

	doc = preview(func(b *tasks.Bundle) {
		b.Definition.Title = "Vector add (C++)"
		b.Files["reference.h"] = append([]byte("// changed\n"), b.Files["reference.h"]...)
	})
	wantText(t, doc, `[data-change="files.reference.h"] ins`, "+ // changed")
	wantText(t, doc, "main form button", "new version with empty boards")
	resp = owner.upload(task+"/publish", "", "", nil, fields(doc.Find("main form")))
	wantText(t, document(t, resp, http.StatusOK), "[role=status]", "Published as a new version")
	wantText(t, owner.page(task, http.StatusOK), ".meta", "version 2 by")
	wantText(t, owner.page(task+"/boards/CPU", http.StatusOK), "main", "Boards of other versions: 1")
	wantText(t, owner.page(task+"/boards/CPU?version=1", http.StatusOK), ".callout", "The task has changed since")
}

func TestTaskGoesOnlyWhenItsNameIsTyped(t *testing.T) {
	s := newScene(t)
	owner := s.browserOf(s.admin)
	doc := document(t, owner.post("/tasks/"+s.task.Slug+"/delete", url.Values{"confirm": {"yes"}}), http.StatusUnprocessableEntity)
	wantText(t, doc, "[role=alert]", s.task.Title)
	wantText(t, document(t, owner.post("/tasks/"+s.task.Slug+"/delete", url.Values{"confirm": {s.task.Slug}}), http.StatusOK), "[role=status]", "Deleted, with the task's boards and submissions.")
	owner.page("/tasks/"+s.task.Slug, http.StatusNotFound)
}

func TestSettingsThatDoNotWorkComeBackInTheForm(t *testing.T) {
	s := newScene(t)
	owner := s.browserOf(s.admin)
	edit := "/tasks/" + s.task.Slug + "/edit"
	doc := document(t, owner.post(edit, url.Values{"title": {"New title"}, "deadline": {"tomorrow"}, "device": {"CPU"}}), http.StatusUnprocessableEntity)
	wantText(t, doc, "[role=alert]", "tomorrow")
	if got := doc.Find("input[name=title]").AttrOr("value", ""); got != "New title" {
		t.Errorf("the title came back as %q", got)
	}
	doc = document(t, owner.post(edit, url.Values{"title": {"New title"}, "others": {"B200, T4"}}), http.StatusOK)
	wantText(t, doc, "h1", "New title")
	wantText(t, doc, "#boards + div", "B200")
}

func TestTaskFilesCanBeTaken(t *testing.T) {
	s := newScene(t)
	b := s.browser()
	for path, want := range map[string]string{
		"/file?path=reference.cuh": "#pragma once",
		"/template?label=CUDA":     "custom_kernel",
		"/bundle.zip":              "PK",
	} {
		resp := b.get("/tasks/" + s.task.Slug + path)
		wantStatus(t, resp, http.StatusOK)
		if text := body(t, resp); !strings.Contains(text, want) {
			t.Errorf("%s gave %.80q, want %q in it", path, text, want)
		}
		if got := resp.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") {
			t.Errorf("%s has Content-Disposition %q: it could be shown as a page", path, got)
		}
	}
	b.page("/tasks/"+s.task.Slug+"/file?path=../go.mod", http.StatusNotFound)
}
