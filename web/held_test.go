package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// scored ends a ranked run of a person's with a score as the recorder found it.
func scored(t *testing.T, s *models.Store, who accounts.User, task catalog.Task, score work.Score) work.Run {
	t.Helper()
	run := modelstest.Submit(t, s, who, task)[0]
	attempt, err := s.Work.StartAttempt(t.Context(), run.Ref())
	if err == nil {
		_, err = s.Work.RecordResult(t.Context(), modelstest.Result(attempt, score.NS), work.Findings{Score: &score})
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAHeldRunIsExplainedAndReviewedOnItsPages(t *testing.T) {
	s := startSite(t)
	author := modelstest.Person(t, s.site.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.site.Store, author, "sort", "CPU")
	half, over := 0.5, 1.4
	scored(t, s.site.Store, modelstest.Person(t, s.site.Store, "ann", accounts.RoleUser), task, work.Score{NS: 5000, Roof: &half})
	held := scored(t, s.site.Store, author, task, work.Score{NS: 50, Roof: &over, Held: "It reaches 140 % of what this unit can do at best."})
	admin := s.signedIn("boss", accounts.RoleAdmin)

	board := string(admin.bytes(t, "/tasks/sort/boards/CPU", http.StatusOK))
	if !strings.Contains(board, "% of roof") || !strings.Contains(board, "50.0") || strings.Contains(board, "140") {
		t.Error("the board does not show the roof of the one that counts, and that alone")
	}
	if page := string(admin.bytes(t, fmt.Sprintf("/submissions/%d", held.SubmissionID), http.StatusOK)); !strings.Contains(page, "data-held") || !strings.Contains(page, "It reaches 140 %") {
		t.Error("the run's page does not say why it is held back")
	}
	if review := string(admin.bytes(t, "/review", http.StatusOK)); !strings.Contains(review, "It reaches 140 %") {
		t.Error("it does not wait for a review")
	}
	resp := admin.post(fmt.Sprintf("/runs/%d/dismiss", held.ID), url.Values{"reason": {"The task asks for less."}})
	resp.Body.Close()
	if board := string(admin.bytes(t, "/tasks/sort/boards/CPU", http.StatusOK)); !strings.Contains(board, "140.0") {
		t.Errorf("after %s the board does not have it", resp.Status)
	}
}

// A denormal time once made each later visit of a board allocate until the machine died. The database takes none any
// more; these are the ends of what it takes.
func TestABoardOfTheShortestAndTheLongestTimesIsAPage(t *testing.T) {
	s := startSite(t)
	author := modelstest.Person(t, s.site.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.site.Store, author, "sort", "CPU")
	for i, ns := range []float64{1, 1.0000000000000002, 1e18, 1.7e308} {
		low, high, roof := 1.0, max(ns, 1e18), 5e-324
		who := modelstest.Person(t, s.site.Store, fmt.Sprintf("p%d", i), accounts.RoleUser)
		scored(t, s.site.Store, who, task, work.Score{NS: ns, Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5}, Roof: &roof})
	}
	visitor := s.browser()
	for _, path := range []string{"/tasks/sort/boards/CPU", "/tasks/sort", "/tasks", "/", "/api/v1/boards/sort/CPU"} {
		if page := visitor.bytes(t, path, http.StatusOK); len(page) > 120_000 {
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
}
