package submissions_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/web/webtest"
)

// TestChartsThatAreKeptAreTheChartsAsTheyAre checks that cached profiles and comparisons equal those of a process that
// has just started, after each kind of change, and that no one sees a cached chart that only another person may see.
func TestChartsThatAreKeptAreTheChartsAsTheyAre(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	owner, err := s.Cfg.Store.Accounts.User(t.Context(), s.Second.UserID)
	if err != nil {
		t.Fatal(err)
	}
	both := fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID)
	// Later changes are checked only on the first three pages; the page of a single case is cached in the same way.
	paths := []string{webtest.ProfilePath(s.Second), fmt.Sprintf("%s?pin=%d", webtest.ProfilePath(s.Second), s.First.ID), both, both + "&case=2", webtest.ProfilePath(s.Second) + "?case=2&q=sm__"}
	past := time.Now().Add(-time.Hour)
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"another name", func() error {
			return webtest.Second(s.Cfg.Store.RenameUser(t.Context(), s.Admin, owner.ID, "Mary Weft"))
		}},
		{"a better run", func() error { s.Ranked("Ned New", webtest.GoodKernel, webtest.ProfiledNS/2, "cuda4"); return nil }},
		{"a disqualification", func() error {
			return webtest.Second(s.Cfg.Store.Disqualify(t.Context(), s.Admin, s.First.ID, "It knew the answers."))
		}},
		{"the deadline", func() error { // from now on, sources are public
			return webtest.Second(s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, catalog.TaskSettings{
				Devices:  s.Task.Devices,
				Deadline: &past,
			}))
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.what, err)
		}
		for name, user := range map[string]accounts.User{"an admin": s.Admin, "who submitted": owner, "a visitor": {}} {
			fresh := webtest.StartAt(t, "127.0.0.1:0", s.Cfg.Store)
			for _, path := range paths {
				want := webtest.BoardOf(fresh, user, path)
				for range 2 {
					if diff := cmp.Diff(want, webtest.BoardOf(s.Site, user, path)); diff != "" {
						t.Errorf("%s, read by %s after %s:\n%s", path, name, step.what, diff)
					}
				}
			}
			fresh.Stop()
		}
		paths = paths[:3]
	}
}

// TestChartsThatAreKeptAreNotDrawnAgain limits the allocations for a cached profile and a cached comparison. Rendering
// them again takes about 9,500 and 13,500 allocations.
func TestChartsThatAreKeptAreNotDrawnAgain(t *testing.T) {
	const pages, most = 20, 5000
	s := webtest.NewProfiledScene(t)
	reader := s.BrowserOf(s.Admin)
	for _, path := range []string{webtest.ProfilePath(s.Second), fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID)} {
		webtest.Body(t, reader.Get(path))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pages {
			webtest.Body(t, reader.Get(path))
		}
		runtime.ReadMemStats(&after)
		if made := (after.Mallocs - before.Mallocs) / pages; made > most {
			t.Errorf("%s makes %d allocations, want %d at most", path, made, most)
		}
	}
}
