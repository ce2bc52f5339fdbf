package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

func TestHomeSaysWhatJustHappened(t *testing.T) {
	s := newScene(t)
	doc := s.browserOf(s.ada).page("/", http.StatusOK)
	wantText(t, doc, ".ticker li:first-child", "10.40 µs kernel-13 Matrix multiply (CUDA C++) on H200")
	wantText(t, doc, "[data-continue]", "Continue with Matrix multiply (CUDA C++) · 1 run in progress")
	visitor := s.browser().page("/tasks", http.StatusOK)
	if visitor.Find("[data-continue], option[value=mine]").Length() != 0 || visitor.Find(".ticker li").Length() == 0 {
		t.Error("a visitor continues something, or sees no records")
	}
	hidden := catalog.TaskSettings{Devices: s.task.Devices, Visibility: catalog.Hidden}
	if _, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, hidden); err != nil {
		t.Fatal(err)
	}
	if n := s.browserOf(s.admin).page("/", http.StatusOK).Find(".ticker li").Length(); n != 0 {
		t.Errorf("%d records of a hidden task are told", n)
	}
}

func TestHomeShowsOnesOwnTasksAndSorts(t *testing.T) {
	s := newScene(t)
	newcomer := modelstest.Person(t, s.site.Store, "Newcomer", accounts.RoleUser)
	for who, want := range map[*browser]int{s.browserOf(s.ada): 1, s.browserOf(newcomer): 0} {
		if n := who.page("/tasks?show=mine", http.StatusOK).Find("[data-task]").Length(); n != want {
			t.Errorf("%d tasks are the viewer's, want %d", n, want)
		}
	}
	wantText(t, s.browserOf(s.ada).page("/", http.StatusOK), fmt.Sprintf("[data-task=%q] [data-board=H200] [data-own]", s.task.Slug), "you 5")
	if title := s.browserOf(s.ada).page("/", http.StatusOK).Find(fmt.Sprintf("[data-task=%q] [data-board=H200]", s.task.Slug)).AttrOr("title", ""); !strings.Contains(title, "you hold rank 5") {
		t.Errorf("a place is explained as %q", title)
	}
	if s.browserOf(newcomer).page("/", http.StatusOK).Find("[data-own]").Length() != 0 {
		t.Error("a newcomer has a place")
	}
	for order, want := range map[string]string{"people": s.task.Slug, "title": "matmul-cpp"} {
		if got := s.browser().page("/tasks?sort="+order, http.StatusOK).Find("[data-task]").First().AttrOr("data-task", ""); got != want {
			t.Errorf("by %s the first is %s, want %s", order, got, want)
		}
	}
}

func TestAPersonsPageHasMedalsProgressAndActivity(t *testing.T) {
	s := newScene(t)
	s.finish(s.queued, 11e3)
	doc := s.browser().page(fmt.Sprintf("/users/%d", s.ada.ID), http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[aria-labelledby=places] tbody tr", "3 of 61")
	if doc.Find("[aria-labelledby=places] .rank-3").Length() != 1 || doc.Find("[aria-labelledby=places] .spark path").Length() != 1 {
		t.Error("the place has no medal, or no line")
	}
	wantText(t, doc, "[aria-labelledby=activity]", "5 submissions in the last 26 weeks")
	if doc.Find("[aria-labelledby=activity] rect title").Length() != 1 || doc.Find("h1 .face").Length() != 1 {
		t.Error("the activity has no day, or the person no picture")
	}
	other := s.browser().page(fmt.Sprintf("/users/%d", s.admin.ID), http.StatusOK)
	face := func(path string) string { return doc.Find(path).AttrOr("d", "") }
	if face("h1 .face path") == "" || face("h1 .face path") == other.Find("h1 .face path").AttrOr("d", "") {
		t.Error("two people have one picture")
	}
}
