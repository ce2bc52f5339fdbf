package web

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
)

// TestChartsThatAreKeptAreTheChartsAsTheyAre: profiles and comparisons that a process has drawn before are what one draws that
// has just begun, whatever changed in between, and no one is shown what another may see.
func TestChartsThatAreKeptAreTheChartsAsTheyAre(t *testing.T) {
	s := newProfiledScene(t)
	owner, err := s.site.Store.Accounts.User(t.Context(), s.second.UserID)
	if err != nil {
		t.Fatal(err)
	}
	both := fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, s.second.ID)
	// What changes later is seen on the first three: a case's own view is kept as the whole is.
	paths := []string{profilePath(s.second), fmt.Sprintf("%s?pin=%d", profilePath(s.second), s.first.ID), both, both + "&case=2", profilePath(s.second) + "?case=2&q=sm__"}
	past := time.Now().Add(-time.Hour)
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"another name", func() error { return second(s.site.Store.Rename(t.Context(), s.admin, owner.ID, "Mary Weft")) }},
		{"a better run", func() error { s.ranked("Ned New", goodKernel, profiledNS/2, "cuda4"); return nil }},
		{"a disqualification", func() error {
			return second(s.site.Store.Disqualify(t.Context(), s.admin, s.first.ID, "It knew the answers."))
		}},
		{"the deadline", func() error { // sources are for all now
			return second(s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{Devices: s.task.Devices, Deadline: &past}))
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.what, err)
		}
		for name, user := range map[string]accounts.User{"an admin": s.admin, "who submitted": owner, "a visitor": {}} {
			fresh := startSiteAt(t, "127.0.0.1:0", s.site.Store)
			for _, path := range paths {
				want := boardOf(fresh, user, path)
				for range 2 {
					if diff := cmp.Diff(want, boardOf(s.testSite, user, path)); diff != "" {
						t.Errorf("%s, read by %s after %s:\n%s", path, name, step.what, diff)
					}
				}
			}
			fresh.stop()
		}
		paths = paths[:3]
	}
}

// TestChartsThatAreKeptAreNotDrawnAgain holds what a profile and a comparison may allocate once they have been drawn: drawn
// again they make some 9,500 and 13,500 allocations, for which the collector runs.
func TestChartsThatAreKeptAreNotDrawnAgain(t *testing.T) {
	const pages, most = 20, 5000
	s := newProfiledScene(t)
	reader := s.browserOf(s.admin)
	for _, path := range []string{profilePath(s.second), fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, s.second.ID)} {
		body(t, reader.get(path))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pages {
			body(t, reader.get(path))
		}
		runtime.ReadMemStats(&after)
		if made := (after.Mallocs - before.Mallocs) / pages; made > most {
			t.Errorf("%s makes %d allocations, want %d at most", path, made, most)
		}
	}
}
