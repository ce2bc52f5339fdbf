package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestAPersonsPageAsksAFixedNumberOfQuestions checks that the number of queries for a person's page does not depend on
// the number of submissions and boards.
func TestAPersonsPageAsksAFixedNumberOfQuestions(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, store *models.Store) {
		boss := modelstest.Person(t, store, "Root", accounts.RoleAdmin)
		ann, ben := modelstest.Person(t, store, "Ann", accounts.RoleUser),
			modelstest.Person(t, store, "Ben", accounts.RoleUser)
		var first catalog.Task
		for i := range 10 {
			task := modelstest.Task(t, store, boss, fmt.Sprintf("task%02d", i), "CPU", "H200", "T4")
			if i == 0 {
				first = task
			}
			for _, run := range modelstest.Submit(t, store, ann, task) {
				modelstest.Finish(t, store, run, 500)
			}
			for range 2 {
				modelstest.Submit(t, store, ann, task)
			}
		}
		modelstest.Finish(t, store, modelstest.Submit(t, store, ben, first)[0], 400)
		s := webtest.StartAt(t, "127.0.0.1:0", store)
		asks := func(path string) int64 {
			before := store.QueryCount()
			webtest.WantStatus(t, s.Ask("GET", path, "", ""), http.StatusOK)
			return store.QueryCount() - before
		}
		for _, person := range []accounts.User{ann, ben} {
			if n := asks(fmt.Sprintf("/users/%d", person.ID)); n != 7 {
				t.Errorf("the page of %s asks %d questions, want 7", person.Name, n)
			}
		}
		path := fmt.Sprintf("/users/%d", ann.ID)
		places, more := placesOn(t, s, path)
		if len(places) != 25 || places[0] != "1 Task09 CPU † 500.0 ns" || !strings.HasSuffix(more, path+"?places=2") {
			t.Errorf("there are %d places from %q on, and more at %q", len(places), places[:1], more)
		}
		places, more = placesOn(t, s, path+"?places=2")
		want := []string{"1 Task01 H200 † 500.0 ns", "1 Task01 T4 † 500.0 ns", "2 Task00 CPU † 500.0 ns",
			"1 Task00 H200 † 500.0 ns", "1 Task00 T4 † 500.0 ns"}
		if diff := cmp.Diff(want, places); diff != "" || more != "" {
			t.Errorf("the last places, then %q (-want +got):\n%s", more, diff)
		}
	})
}

func placesOn(t *testing.T, s *webtest.Site, path string) (rows []string, more string) {
	t.Helper()
	doc := s.Browser().Page(path, http.StatusOK)
	for _, row := range doc.Find("[aria-labelledby=places] tbody tr").EachIter() {
		row.Find(".of").Remove()
		rows = append(rows, webtest.Words(row))
	}
	return rows, doc.Find("[aria-labelledby=places] a[href*=places]").AttrOr("href", "")
}

// TestAPersonsPageListsRankedResults checks that others see only submissions with a ranked result, and the person sees
// all.
func TestAPersonsPageListsRankedResults(t *testing.T) {
	s := webtest.NewScene(t)
	listed := func(b *webtest.Browser, run work.Run) bool {
		doc := b.Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK)
		return doc.Find(fmt.Sprintf("[aria-labelledby=submissions] [data-submission='%d']",
			run.SubmissionID)).Length() == 1
	}
	visitor, ada := s.Browser(), s.BrowserOf(s.Ada)
	if !listed(visitor, s.Done) || listed(visitor, s.Failed) || listed(visitor, s.Working) {
		t.Error("a visitor sees what has no result, or no results")
	}
	if !listed(ada, s.Done) || !listed(ada, s.Failed) || !listed(ada, s.Working) {
		t.Error("Ada does not see all that is hers")
	}
	webtest.WantText(t, visitor.Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK), "#submissions",
		"Ranked results")
}
