package docs_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/accounts"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

// copied returns the files in a page by name, with the text that a reader would copy.
func copied(doc *goquery.Document) map[string]string {
	files := map[string]string{}
	doc.Find("[data-file]").Each(func(_ int, e *goquery.Selection) {
		source := e.Find(".source").Clone()
		source.Find(".ln").Remove()
		files[e.AttrOr("data-file", "")] = source.Text()
	})
	return files
}

func zipOfFiles(t *testing.T, folder string, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, text := range files {
		file, err := w.Create(folder + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		file.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// published uploads files as a task and publishes it. It fails the test if a warning appears.
func published(t *testing.T, creator *webtest.Browser, name string, files map[string]string) {
	t.Helper()
	doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "mine.zip", zipOfFiles(t, name, files), nil),
		http.StatusOK)
	if message := webtest.Words(doc.Find(".callout")); message != "" {
		t.Errorf("the preview says %q", message)
	}
	webtest.WantText(t, webtest.Document(t,
		creator.Upload("/tasks/publish", "", "", nil, webtest.Fields(doc.Find("main form"))), http.StatusOK),
		"[role=status]", "Published")
}

func TestExampleOnNewTaskWorksAsCopied(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	doc := creator.Page("/tasks/new", http.StatusOK)
	published(t, creator, "copied", copied(doc))
	if doc.Find("main pre").Length() != len(copied(doc)) {
		t.Error("the page shows code that nothing tries")
	}
}

func TestCodeOnTheFormatPageWorks(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	first := s.Browser().Page("/docs/tasks", http.StatusOK)
	webtest.CheckSound(t, first)
	starters := first.Find("nav[aria-label=Languages] a")
	if starters.Length() < 4 {
		t.Fatalf("there are starters for %d languages", starters.Length())
	}
	starters.Each(func(_ int, e *goquery.Selection) {
		doc := s.Browser().Page(e.AttrOr("href", ""), http.StatusOK)
		files, keys, sets := copied(doc), doc.Find("[data-example=key]"), doc.Find("[data-example=set]")
		published(t, creator, "copied-"+webtest.Words(e), files)
		if all := doc.Find("main pre").Length(); all != len(files)+keys.Length()+sets.Length() || keys.Length() == 0 ||
			sets.Length() != 1 {
			t.Errorf("the page shows code that nothing tries: %d blocks", all)
		}
		set := map[string]string{"problems/first.yaml": sets.Text()}
		for name, text := range files {
			set["problems/first/vectoradd/"+name] = text
		}
		preview := webtest.Document(t, creator.Upload("/tasks/new", "zip", "set.zip", zipOfFiles(t, "all", set), nil),
			http.StatusOK)
		webtest.WantText(t, preview, "[data-draft=vectoradd]", "Publish")
	})
	// TestEachKeysExampleMakesATask checks that the examples of the keys work; this test only checks that the page
	// shows them all.
	shown := webtest.Words(first.Find("[data-key]"))
	for _, key := range tasks.TaskFileKeys() {
		if !strings.Contains(shown, key.Name) ||
			!strings.Contains(shown, strings.Join(strings.Fields(key.Example), " ")) {
			t.Errorf("the page lacks %s or its example", key.Name)
		}
	}
}

func TestStarterComesWithItsSolutions(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/docs/tasks", http.StatusOK)
	resp := s.Browser().Get(doc.Find("a[download]").AttrOr("href", ""))
	text := webtest.Body(t, resp)
	upload, err := tasks.OpenFile("starter.zip", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if solutions, err := upload.Solutions("."); err != nil || len(solutions) < 2 {
		t.Errorf("the starter has %d solutions (%v)", len(solutions), err)
	}
	webtest.WantStatus(t, s.Browser().Get("/docs/tasks/nothing.zip"), http.StatusNotFound)
}
