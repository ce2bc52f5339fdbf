package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestHomeSaysWhatJustHappened(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.BrowserOf(s.Ada).Page("/", http.StatusOK)
	webtest.WantText(t, doc, ".ticker li:first-child", "10.40 µs kernel-13 Matrix multiply (CUDA C++) on H200")
	webtest.WantText(t, doc, "[data-continue]", "Continue with Matrix multiply (CUDA C++) · 1 run in progress")
	visitor := s.Browser().Page("/tasks", http.StatusOK)
	if visitor.Find("[data-continue], option[value=mine]").Length() != 0 || visitor.Find(".ticker li").Length() == 0 {
		t.Error("a visitor continues something, or sees no records")
	}
	hidden := catalog.TaskSettings{Devices: s.Task.Devices, Visibility: catalog.Hidden}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, hidden); err != nil {
		t.Fatal(err)
	}
	if n := s.BrowserOf(s.Admin).Page("/", http.StatusOK).Find(".ticker li").Length(); n != 0 {
		t.Errorf("%d records of a hidden task are told", n)
	}
}

func TestHomeShowsOnesOwnTasksAndSorts(t *testing.T) {
	s := webtest.NewScene(t)
	newcomer := modelstest.Person(t, s.Cfg.Store, "Newcomer", accounts.RoleUser)
	for who, want := range map[*webtest.Browser]int{s.BrowserOf(s.Ada): 1, s.BrowserOf(newcomer): 0} {
		if n := who.Page("/tasks?show=mine", http.StatusOK).Find("[data-task]").Length(); n != want {
			t.Errorf("%d tasks are the viewer's, want %d", n, want)
		}
	}
	webtest.WantText(t, s.BrowserOf(s.Ada).Page("/", http.StatusOK),
		fmt.Sprintf("[data-task=%q] [data-board=H200] [data-own]", s.Task.Slug), "you 5")
	if title := s.BrowserOf(s.Ada).Page("/", http.StatusOK).Find(fmt.Sprintf("[data-task=%q] [data-board=H200]",
		s.Task.Slug)).AttrOr("title", ""); !strings.Contains(title, "you hold rank 5") {
		t.Errorf("a place is explained as %q", title)
	}
	if s.BrowserOf(newcomer).Page("/", http.StatusOK).Find("[data-own]").Length() != 0 {
		t.Error("a newcomer has a place")
	}
	for order, want := range map[string]string{"people": s.Task.Slug, "title": "matmul-cpp"} {
		if got := s.Browser().Page("/tasks?sort="+order, http.StatusOK).Find("[data-task]").First().AttrOr("data-task",
			""); got != want {
			t.Errorf("by %s the first is %s, want %s", order, got, want)
		}
	}
}

func TestAPersonsPageHasMedalsProgressAndActivity(t *testing.T) {
	s := webtest.NewScene(t)
	s.Finish(s.Queued, 11e3)
	doc := s.Browser().Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[aria-labelledby=places] tbody tr", "3 of 61")
	if doc.Find("[aria-labelledby=places] .rank-3").Length() != 1 ||
		doc.Find("[aria-labelledby=places] .spark path").Length() != 1 {
		t.Error("the place has no medal, or no line")
	}
	webtest.WantText(t, doc, "[aria-labelledby=activity]", "5 submissions in the last 26 weeks")
	if doc.Find("[aria-labelledby=activity] rect title").Length() != 1 || doc.Find("h1 .face").Length() != 1 {
		t.Error("the activity has no day, or the person no picture")
	}
	other := s.Browser().Page(fmt.Sprintf("/users/%d", s.Admin.ID), http.StatusOK)
	face := func(path string) string { return doc.Find(path).AttrOr("d", "") }
	if face("h1 .face path") == "" || face("h1 .face path") == other.Find("h1 .face path").AttrOr("d", "") {
		t.Error("two people have one picture")
	}
}
