package docs_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/models/catalog"
	"warpboard/web/webtest"
)

type foundPlace struct{ Kind, Title, URL string }

func finds(b *webtest.Browser, t *testing.T, text string) (list []foundPlace) {
	t.Helper()
	resp := b.Get("/find?q=" + url.QueryEscape(text))
	webtest.WantStatus(t, resp, http.StatusOK)
	webtest.DecodeBody(t, resp, &list)
	return list
}

func TestSearchFindsTasksBoardsPeopleAndOwnSubmissions(t *testing.T) {
	s := webtest.NewScene(t)
	b, task := s.BrowserOf(s.Ada), "/tasks/"+s.Task.Slug
	for text, want := range map[string]foundPlace{
		"matrix cuda":      {"Task", "Matrix multiply (CUDA C++)", task},
		"solve matrix":     {"Solve", "Solve Matrix multiply (CUDA C++)", task + "/solve"},
		"matrix cuda h200": {"Board", "Matrix multiply (CUDA C++) on H200", task + "/boards/H200"},
		"BARBARA L":        {"Person", "Barbara Liskov", "/users/"},
		"queue":            {"Page", "Queue", "/devices"},
	} {
		list := finds(b, t, text)
		if !slices.ContainsFunc(list, func(p foundPlace) bool {
			return p.Kind == want.Kind && p.Title == want.Title && len(p.URL) >= len(want.URL) &&
				p.URL[:len(want.URL)] == want.URL
		}) {
			t.Errorf("%q finds %v, want %v", text, list, want)
		}
	}
	for text, want := range map[string]string{"matrix": "Task Task Task Yours", "board matrix cuda": "Board Board Task",
		"solve matrix": "Solve Solve Solve"} {
		var kinds []string
		for _, p := range finds(b, t, text) {
			kinds = append(kinds, p.Kind)
		}
		if got := strings.Join(kinds, " "); !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %s, want %s first", text, got, want)
		}
	}
	if list := finds(b, t, "matrix"); list[0].URL != task {
		t.Errorf("%v is first, and not the task with entries and a connected device", list[0])
	}
	if list := finds(b, t, "multiply"); slices.ContainsFunc(list,
		func(p foundPlace) bool { return p.Kind == "Solve" }) {
		t.Errorf("a task is found twice: %v", list)
	}
	for text, want := range map[string]foundPlace{"docs": {"Page", "Docs", "/docs"},
		"Health": {"Page", "Health", "/operate/health"}, "api": {"Page", "API", "/api"},
		"matrix multiply (cuda c++)": {"Task", "Matrix multiply (CUDA C++)", task},
		"kernel-07":                  {"Person", "kernel-07", ""}} {
		if list := finds(s.BrowserOf(s.Admin), t, text); len(list) == 0 || list[0].Kind != want.Kind ||
			list[0].Title != want.Title {
			t.Errorf("%q finds %v first, want %v", text, list[:min(len(list), 3)], want)
		}
	}
	for _, p := range finds(s.Browser(), t, fmt.Sprint(s.Wrong.SubmissionID)) {
		if p.Kind == "Yours" {
			t.Errorf("a visitor finds %v as his own", p)
		}
	}
	controls := foundPlace{"Page", "Controls", "/operate"}
	if !slices.Contains(finds(s.BrowserOf(s.Admin), t, "operations"), controls) ||
		slices.Contains(finds(b, t, "operations"), controls) {
		t.Error("only admins find their pages")
	}
	if list := finds(b, t, "%"); len(list) != 0 {
		t.Errorf("%% finds %v", list)
	}
	webtest.WantStatus(t, b.Get("/find?q="+string(slices.Repeat([]byte("x"), 101))), http.StatusUnprocessableEntity)
}

// TestANumberFindsItsSubmission checks that the number of a submission finds it as the first result, for everyone who
// may see it.
func TestANumberFindsItsSubmission(t *testing.T) {
	s := webtest.NewScene(t)
	id := s.Wrong.SubmissionID
	want := foundPlace{"Submission", fmt.Sprintf("#%d by Ada Lovelace", id), fmt.Sprintf("/submissions/%d", id)}
	for _, text := range []string{fmt.Sprint(id), fmt.Sprintf("#%d", id), fmt.Sprintf("as in # %d", id),
		fmt.Sprintf("matrix #%d", id)} {
		for who, b := range map[string]*webtest.Browser{"its author": s.BrowserOf(s.Ada), "a visitor": s.Browser()} {
			if list := finds(b, t, text); len(list) == 0 || list[0] != want {
				t.Errorf("%s finds with %q %v, want %v first", who, text, list, want)
			} else if slices.ContainsFunc(list[1:], func(p foundPlace) bool { return p.URL == want.URL }) {
				t.Errorf("%s finds it twice: %v", who, list)
			}
		}
	}
	if list := finds(s.Browser(), t, "#99999999999999999999"); len(list) != 0 {
		t.Errorf("a number of no submission finds %v", list)
	}
	settings := catalog.TaskSettings{Title: s.Task.Title, Devices: s.Task.Devices, Visibility: catalog.Hidden}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings); err != nil {
		t.Fatal(err)
	}
	if list := finds(s.Browser(), t, fmt.Sprintf("#%d", id)); len(list) != 0 {
		t.Errorf("a submission to a hidden task is found: %v", list)
	}
}

func TestSearchFindsHeadingsOfTheDocumentation(t *testing.T) {
	s := webtest.NewScene(t)
	for text, want := range map[string]foundPlace{
		"reverse prox":       {"Docs", "Reverse proxies", "/docs/proxy"},
		"still be cheated":   {"Docs", "What can still be cheated", "/docs/measuring#what-can-still-be-cheated"},
		"task format":        {"Page", "Task format", "/docs/tasks"},
		"nginx":              {"Docs", "nginx", "/docs/proxy#nginx"},
		"documentation cpus": {},
	} {
		list := finds(s.Browser(), t, text)
		if want.Kind != "" && !slices.Contains(list, want) {
			t.Errorf("%q finds %v, want %v", text, list, want)
		}
		for _, p := range list {
			page, anchor, _ := strings.Cut(p.URL, "#")
			if doc := s.Browser().Page(page, http.StatusOK); anchor != "" &&
				doc.Find("main [id='"+anchor+"']").Length() != 1 {
				t.Errorf("%s has no heading %s", page, anchor)
			}
		}
	}
}

// A task with many boards is one result, and not one for each board.
func TestATaskIsFoundOnceWithItsBoards(t *testing.T) {
	s := webtest.NewScene(t)
	settings := catalog.TaskSettings{Title: s.Task.Title, Devices: append(slices.Clone(s.Task.Devices), "A100", "B200"),
		Visibility: catalog.Public}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings); err != nil {
		t.Fatal(err)
	}
	b := s.BrowserOf(s.Ada)
	list := finds(b, t, "matrix cuda")
	if slices.ContainsFunc(list, func(p foundPlace) bool { return p.Kind == "Board" }) {
		t.Errorf("boards that were not asked for are found: %v", list)
	}
	webtest.WantText(t, b.Page("/search?q=matrix+cuda", http.StatusOK), "[data-found=Task] .meta",
		"H200 3 boards without entries")
	if body := webtest.Body(t, b.Get("/find?q=matrix+cuda")); !strings.Contains(body,
		`"note":"H200, 3 boards without entries"`) {
		t.Errorf("the palette does not say it on one line: %s", body)
	}
	if list = finds(b, t, "matrix cuda b200"); !slices.ContainsFunc(list,
		func(p foundPlace) bool { return strings.HasSuffix(p.URL, "/boards/B200") }) {
		t.Errorf("a board is not found by its device: %v", list)
	}
}

func TestSearchDoesNotFindHiddenTasks(t *testing.T) {
	s := webtest.NewScene(t)
	settings := catalog.TaskSettings{Title: s.Task.Title, Devices: s.Task.Devices, Visibility: catalog.Hidden}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings); err != nil {
		t.Fatal(err)
	}
	if list := finds(s.BrowserOf(s.Ada), t, "matrix cuda"); len(list) != 0 {
		t.Errorf("a hidden task is found: %v", list)
	}
}

func TestSearchAsksOneQuestionOfEachKind(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	before := s.Cfg.Store.QueryCount()
	finds(b, t, "a")
	// At most eight queries: session, account, tasks, workers, boards, people, submissions, and runs of these.
	if asked := s.Cfg.Store.QueryCount() - before; asked > 8 {
		t.Errorf("the search asks %d queries", asked)
	}
}

func TestControlKGoesToATask(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/devices")
	w.Until(`document.readyState == "complete" && performance.getEntriesByType("resource").every((r) => !r.name.includes("palette"))`)
	w.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("dialog[open]") && document.activeElement.role == "combobox"`)
	w.Do(chromedp.KeyEvent("solve matrix"))
	w.Until(`document.querySelectorAll("[role=option]").length >= 2 && [...document.querySelectorAll("[role=option]")].every((o) => o.textContent.includes("Solve"))`)
	w.Do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp))
	w.Until(`document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent.includes("Solve Matrix")`)
	w.RefusedNothing()
	w.Do(chromedp.KeyEvent("\r"))
	w.Until(`location.pathname == "/tasks/` + s.Task.Slug + `/solve"`)
}

func TestEscapeClosesTheSearchAndAQuestionMarkListsTheKeys(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	w.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("dialog[open]")`)
	w.Do(chromedp.KeyEvent("zzz"))
	w.Shows("dialog[open] [role=status]", "Nothing found for “zzz”")
	w.Shows("dialog[open] [role=status]", "a submission by its number")
	w.LooksRight("palette-nothing")
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.Until(`!document.querySelector("dialog[open]")`)
	w.Do(chromedp.KeyEvent("?"))
	w.Shows("dialog[open]", "Keyboard shortcuts")
	w.Shows("dialog[open]", "Next entry")
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.Until(`!document.querySelector("dialog[open]")`)
	w.RefusedNothing()
}

// TestAQuestionMarkListsEveryKeyOfThePage checks the help that the key ? opens. The help is generated from the page's
// key bindings, so it lists each of them.
func TestAQuestionMarkListsEveryKeyOfThePage(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Do(chromedp.EmulateViewport(1280, 900))
	for page, keys := range map[string][]string{
		"/tasks":                                 {"/", "Ctrl+K", "?", "Escape"},
		"/tasks/" + s.Task.Slug + "/solve":       {"Ctrl+Enter", "Ctrl+Shift+Enter", "Ctrl+K", "Escape, Tab", "?"},
		"/tasks/" + s.Task.Slug + "/boards/H200": {"j", "k", "c", "Ctrl+K", "?"},
		"/playground":                            {"Ctrl+Enter", "Ctrl+K", "?"},
		"/tasks/new/vectoradd_cpp":               {"Ctrl+Enter", "Ctrl+K", "Escape, Tab", "?"},
	} {
		w.Visit(page)
		if slices.Contains(keys, "Escape, Tab") {
			w.Until(`document.querySelector(".cm-editor")`)
		}
		w.Eval(`document.activeElement.blur()`)
		w.Do(chromedp.KeyEvent("?"))
		w.Shows("dialog[open] h2", "Keyboard shortcuts")
		listed := strings.Split(w.Eval(
			`[...document.querySelectorAll("dialog[open] dt")].map((e) => e.textContent).join("\n")`), "\n")
		for _, key := range keys {
			if !slices.Contains(listed, key) {
				t.Errorf("%s does not list %s: %q", page, key, listed)
			}
		}
		for key := range strings.SplitSeq(
			w.Eval(`[...document.querySelectorAll("[aria-keyshortcuts]")].filter((e) => e.checkVisibility()).map((e) => e.getAttribute("aria-keyshortcuts")).join("\n")`), "\n") {
			if !slices.Contains(listed, strings.Replace(key, "Control", "Ctrl", 1)) {
				t.Errorf("%s obeys %s and does not list it", page, key)
			}
		}
		w.RefusedNothing()
	}
	w.LooksRight("keys")
}

func TestKeysGoThroughABoardAndCompareTwo(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	focused := `document.activeElement.closest("#board tr")?.rowIndex`
	w.Do(chromedp.KeyEvent("j"))
	// a link has the focus, so Enter opens the submission
	w.Until(focused + ` == 1 && document.activeElement.matches("a[href^='/submissions/']")`)
	w.Do(chromedp.KeyEvent("c"))
	w.Until(`document.querySelector("#board tr[data-marked]")?.rowIndex == 1`)
	w.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	w.Until(focused + " == 3")
	w.Do(chromedp.KeyEvent("k"))
	w.Until(focused + " == 2")
	w.Do(chromedp.KeyEvent("c"))
	w.Until(`location.pathname == "/compare" && new URLSearchParams(location.search).get("a")`)
}
