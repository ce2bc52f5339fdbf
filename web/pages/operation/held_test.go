package operation_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestAHeldRunIsExplainedAndReviewedOnItsPages(t *testing.T) {
	s := webtest.Start(t)
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, author, "sort", "CPU")
	half, over := 0.5, 1.4
	webtest.Scored(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "ann", accounts.RoleUser), task,
		work.Score{NS: 5000, RooflineShare: &half})
	held := webtest.Scored(t, s.Cfg.Store, author, task,
		work.Score{NS: 50, RooflineShare: &over, HeldReason: "It reaches 140 % of what this unit can do at best."})
	admin := s.SignedIn("boss", accounts.RoleAdmin)

	board := string(admin.Bytes(t, "/tasks/sort/boards/CPU", http.StatusOK))
	if !strings.Contains(board, "% of roof") || !strings.Contains(board, "50.0") || strings.Contains(board, "140.0") {
		t.Error("the board does not show the roof of the one that counts, and that alone")
	}
	if page := string(admin.Bytes(t, fmt.Sprintf("/submissions/%d", held.SubmissionID),
		http.StatusOK)); !strings.Contains(page, "data-held") || !strings.Contains(page, "It reaches 140 %") {
		t.Error("the run's page does not say why it is held back")
	}
	if review := string(admin.Bytes(t, "/review", http.StatusOK)); !strings.Contains(review, "It reaches 140 %") {
		t.Error("it does not wait for a review")
	}
	resp := admin.Post(fmt.Sprintf("/runs/%d/dismiss", held.ID), url.Values{"reason": {"The task asks for less."}})
	resp.Body.Close()
	if board := string(admin.Bytes(t, "/tasks/sort/boards/CPU", http.StatusOK)); !strings.Contains(board, "140.0") {
		t.Errorf("after %s the board does not have it", resp.Status)
	}
}
