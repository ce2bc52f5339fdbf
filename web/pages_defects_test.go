package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

func TestABoardSaysThatNoWorkerHasItsDevice(t *testing.T) {
	s := newScene(t)
	path, b := "/tasks/"+s.task.Slug+"/boards/H200", s.browser()
	read := func() { // as the dispatcher does all the time
		if _, err := s.site.Store.Fleet.Workers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if b.page(path, http.StatusOK).Find("[data-offline]").Length() != 0 {
		t.Error("a board with a worker is offline")
	}
	modelstest.Heard(t, s.site.Store, job.Heartbeat{Worker: "rack-7", Started: time.Now().Add(-time.Hour), Slots: []job.Slot{{Device: "CPU"}}})
	read()
	before := s.site.Store.Queries()
	wantText(t, b.page(path, http.StatusOK), "[data-offline]", "offline")
	if asked := s.site.Store.Queries() - before; asked > 8 {
		t.Errorf("the board asks %d queries", asked)
	}
}

func TestTheAuditLogNamesPeople(t *testing.T) {
	s := newScene(t)
	eve := modelstest.Person(t, s.site.Store, "Eve", accounts.RoleUser)
	if err := s.site.Store.Accounts.SetRole(t.Context(), s.admin, eve.ID, accounts.RoleCreator); err != nil {
		t.Fatal(err)
	}
	line := s.browserOf(s.admin).page("/audit?q="+url.QueryEscape(s.admin.Name), http.StatusOK).Find("tbody tr").First()
	if text := words(line); !strings.Contains(text, "Eve") || strings.Contains(text, "user ") {
		t.Errorf("the log says %q", text)
	}
}

// TestTheSearchOfTheEditorLooksLikeThePage, on a phone too, and so do a board and the filters of the home page.
func TestTheSearchOfTheEditorLooksLikeThePage(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.Do(chromedp.EmulateViewport(1280, 800))
	w.bench(s, "")
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Do(chromedp.KeyEvent("f", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`getComputedStyle(document.querySelector(".cm-search .cm-button")).borderRadius == "5px"`)
	w.looksRight("editor-search")
	w.Do(chromedp.EmulateViewport(390, 800))
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	w.Until(`parseFloat(getComputedStyle(document.querySelector(".chart a circle")).strokeWidth) + 7 >= 24`)
	w.looksRight("board")
	w.open("/tasks")
	w.Until(`innerWidth > 736 || getComputedStyle(document.querySelector(".filters")).maskImage != "none"`)
	w.looksRight("home")
}
