package boards_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestADraftIsMarkedAndItsPageLeadsToItsTrial checks that the page of a draft links editors to its trial, instead of
// publishing it untried with one click.
func TestADraftIsMarkedAndItsPageLeadsToItsTrial(t *testing.T) {
	s := webtest.NewScene(t)
	admin, path := s.BrowserOf(s.Admin), "/tasks/"+s.Task.Slug
	if admin.Page(path, http.StatusOK).Find("main a:contains('publish')").Length() != 0 {
		t.Error("a public task offers to publish it")
	}
	settings := s.Task.Settings()
	settings.Visibility = catalog.Hidden
	modelstest.Got[catalog.Task](t)(s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings))
	doc := admin.Page(path, http.StatusOK)
	webtest.WantText(t, doc, ".meta .tag", "draft")
	if to := webtest.Href(t, doc, "Try and publish"); to != path+"/trial" ||
		doc.Find("form[action$='/publish']").Length() != 0 {
		t.Errorf("publishing leads to %s", to)
	}
}

// TestATasksPageHasOneWayIn checks that the only main button is the one for the workbench. The submission form is
// collapsed; the fragment #submit opens it.
func TestATasksPageHasOneWayIn(t *testing.T) {
	s := webtest.NewScene(t)
	path := "/tasks/" + s.Task.Slug
	doc := s.BrowserOf(s.Ada).Page(path, http.StatusOK)
	if n := doc.Find("details[data-upload]:not([open]) #submit form").Length(); n != 1 {
		t.Errorf("there are %d folded forms", n)
	}
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit(path)
	w.Until(`[...document.querySelectorAll("main .btn-main")].filter((b) => b.checkVisibility()).map((b) => b.textContent).join() == "Solve"`)
	w.LooksRight("task-folded")
	w.Visit(path + "#submit")
	w.Until(`document.querySelector("#submit form").checkVisibility()`)
	w.LooksRight("task-upload")
}

// TestOneRunIsNotComparedWithItself checks that the list of a person's submissions has a link to comparisons only if
// there are at least two.
func TestOneRunIsNotComparedWithItself(t *testing.T) {
	s := webtest.NewScene(t)
	lin := modelstest.Person(t, s.Cfg.Store, "Lin Chen", accounts.RoleUser)
	for want := range 2 {
		s.Submit(lin, "H200", webtest.GoodKernel)
		if n := s.BrowserOf(lin).Page("/tasks/"+s.Task.Slug,
			http.StatusOK).Find("a[href='/compare']").Length(); n != want {
			t.Errorf("with %d runs the page has %d links to compare them", want+1, n)
		}
	}
}

// TestAnEventAndItsTasksLeadToEachOther checks the links between a current event and its tasks.
func TestAnEventAndItsTasksLeadToEachOther(t *testing.T) {
	s := webtest.NewScene(t)
	b, path := s.Browser(), "/tasks/"+s.Task.Slug
	if b.Page(path, http.StatusOK).Find("[data-event]").Length() != 0 {
		t.Error("the task is in an event before there is one")
	}
	e := s.Event(0)
	webtest.WantText(t, b.Page(path, http.StatusOK), "[data-event]", "in "+e.Title)
	doc := b.Page("/events/"+e.Slug, http.StatusOK)
	task := fmt.Sprintf("[data-task=%q]", s.Task.Slug)
	webtest.WantText(t, doc, task, "61 entries")
	if to := doc.Find(task+" a.btn").AttrOr("href", ""); to != path+"/solve" {
		t.Errorf("Solve leads to %q", to)
	}
	w := s.Window()
	w.Visit("/events/" + e.Slug)
	w.LooksRight("event-tasks")
	w.Visit(path)
	w.LooksRight("task-in-event")
	s.Ended(e)
	if b.Page(path, http.StatusOK).Find("[data-event]").Length() != 0 ||
		b.Page("/events/"+e.Slug, http.StatusOK).Find(task+" a.btn").Length() != 0 {
		t.Error("the event is over, and the pages say that it goes on")
	}
}
