package web

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
)

type foundPlace struct{ Kind, Title, URL string }

func (b *browser) finds(t *testing.T, text string) (list []foundPlace) {
	t.Helper()
	resp := b.get("/find?q=" + url.QueryEscape(text))
	wantStatus(t, resp, http.StatusOK)
	decodeBody(t, resp, &list)
	return list
}

func TestSearchFindsTasksBoardsPeopleAndOwnSubmissions(t *testing.T) {
	s := newScene(t)
	b, task := s.browserOf(s.ada), "/tasks/"+s.task.Slug
	for text, want := range map[string]foundPlace{
		"matrix cuda":                            {"Task", "Matrix multiply (CUDA C++)", task},
		"solve matrix":                           {"Solve", "Solve Matrix multiply (CUDA C++)", task + "/solve"},
		"matrix cuda h200":                       {"Board", "Matrix multiply (CUDA C++) on H200", task + "/boards/H200"},
		"BARBARA L":                              {"Person", "Barbara Liskov", "/users/"},
		fmt.Sprintf("#%d", s.wrong.SubmissionID): {"Yours", fmt.Sprintf("Submission %d", s.wrong.SubmissionID), fmt.Sprintf("/submissions/%d", s.wrong.SubmissionID)},
	} {
		list := b.finds(t, text)
		if !slices.ContainsFunc(list, func(p foundPlace) bool {
			return p.Kind == want.Kind && p.Title == want.Title && len(p.URL) >= len(want.URL) && p.URL[:len(want.URL)] == want.URL
		}) {
			t.Errorf("%q finds %v, want %v", text, list, want)
		}
	}
	for text, want := range map[string]string{"matrix": "Task Task Task Solve Solve Solve Board", "solve matrix": "Solve Solve Solve Task"} {
		var kinds []string
		for _, p := range b.finds(t, text) {
			kinds = append(kinds, p.Kind)
		}
		if got := strings.Join(kinds, " "); !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %s, want %s first", text, got, want)
		}
	}
	for _, p := range s.browser().finds(t, fmt.Sprint(s.wrong.SubmissionID)) {
		if p.Kind == "Yours" {
			t.Errorf("a visitor finds %v as his own", p)
		}
	}
	if list := b.finds(t, "%"); len(list) != 0 {
		t.Errorf("%% finds %v", list)
	}
	wantStatus(t, b.get("/find?q="+string(slices.Repeat([]byte("x"), 101))), http.StatusUnprocessableEntity)
}

func TestSearchFindsHeadingsOfTheDocumentation(t *testing.T) {
	s := newScene(t)
	for text, want := range map[string]foundPlace{
		"reverse prox":       {"Docs", "Reverse proxies", "/docs/proxy"},
		"still be cheated":   {"Docs", "What can still be cheated", "/docs/measuring#what-can-still-be-cheated"},
		"task format":        {"Docs", "Task format", "/docs/tasks"},
		"nginx":              {"Docs", "nginx", "/docs/proxy#nginx"},
		"documentation cpus": {},
	} {
		list := s.browser().finds(t, text)
		if want.Kind != "" && !slices.Contains(list, want) {
			t.Errorf("%q finds %v, want %v", text, list, want)
		}
		for _, p := range list {
			page, anchor, _ := strings.Cut(p.URL, "#")
			if doc := s.browser().page(page, http.StatusOK); anchor != "" && doc.Find("main [id='"+anchor+"']").Length() != 1 {
				t.Errorf("%s has no heading %s", page, anchor)
			}
		}
	}
}

func TestSearchDoesNotFindHiddenTasks(t *testing.T) {
	s := newScene(t)
	settings := catalog.TaskSettings{Title: s.task.Title, Devices: s.task.Devices, Visibility: catalog.Hidden}
	if _, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, settings); err != nil {
		t.Fatal(err)
	}
	if list := s.browserOf(s.ada).finds(t, "matrix cuda"); len(list) != 0 {
		t.Errorf("a hidden task is found: %v", list)
	}
}

func TestSearchAsksOneQuestionOfEachKind(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	before := s.site.Store.Queries()
	b.finds(t, "a")
	if asked := s.site.Store.Queries() - before; asked > 6 { // session, account, tasks, people, submissions and their runs
		t.Errorf("the search asks %d queries", asked)
	}
}

func TestControlKGoesToATask(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.open("/devices")
	w.Until(`!document.querySelector("[data-palette]").hidden && performance.getEntriesByType("resource").every((r) => !r.name.includes("palette"))`)
	w.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("dialog[open]") && document.activeElement.role == "combobox"`)
	w.Do(chromedp.KeyEvent("matrix cuda"))
	w.Until(`document.querySelectorAll("[role=option]").length >= 2 && [...document.querySelectorAll("[role=option]")].every((o) => o.textContent.includes("CUDA"))`)
	w.Do(chromedp.KeyEvent(kb.ArrowDown))
	w.Until(`document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent.includes("Solve Matrix")`)
	w.refusedNothing()
	w.Do(chromedp.KeyEvent("\r"))
	w.Until(`location.pathname == "/tasks/` + s.task.Slug + `/solve"`)
}

func TestEscapeClosesTheSearchAndAQuestionMarkListsTheKeys(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	w.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("dialog[open]")`)
	w.Do(chromedp.KeyEvent("matrix"))
	w.Until(`document.querySelector("dialog[open] input").value == "matrix"`)
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.Until(`!document.querySelector("dialog[open]")`)
	w.Do(chromedp.KeyEvent("?"))
	w.Shows("dialog[open]", "Keyboard shortcuts")
	w.Shows("dialog[open]", "next or previous entry")
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.Until(`!document.querySelector("dialog[open]")`)
	w.refusedNothing()
}

func TestKeysGoThroughABoardAndCompareTwo(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.admin))
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	focused := `document.activeElement.closest("#board tr")?.rowIndex`
	w.Do(chromedp.KeyEvent("j"))
	w.Until(focused + " == 1")
	w.Do(chromedp.KeyEvent("c"))
	w.Until(`document.querySelector("#board tr[data-marked]")?.rowIndex == 1`)
	w.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	w.Until(focused + " == 3")
	w.Do(chromedp.KeyEvent("k"))
	w.Until(focused + " == 2")
	w.Do(chromedp.KeyEvent("c"))
	w.Until(`location.pathname == "/compare" && new URLSearchParams(location.search).get("a")`)
}
