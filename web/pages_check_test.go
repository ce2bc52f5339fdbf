package web

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/submissions"
)

// publishes uploads the example task, publishes what the preview shows, and returns where that led.
func (b *browser) publishes(t *testing.T) *http.Response {
	t.Helper()
	doc := document(t, b.upload("/tasks/new", "zip", "add.zip", zipOf(t, unchangedBundle), nil), http.StatusOK)
	return b.upload("/tasks/publish", "", "", nil, fields(doc.Find("main form")))
}

// TestPublishingTestsTheTemplate lets an author see at once that a reference does not compile, as the first who submitted
// did before.
func TestPublishingTestsTheTemplate(t *testing.T) {
	s := newScene(t)
	creator := s.signedIn("Carla", accounts.RoleCreator)
	resp := creator.publishes(t)
	at := resp.Request.URL.String()
	doc := document(t, resp, http.StatusOK)
	wantText(t, doc, "[role=status]", "Its template is being tested below")
	wantText(t, doc, "#bench-run [data-state=queued] h2", "CPU")

	var me client.User
	decodeBody(t, creator.get("/api/v1/me"), &me)
	list, err := s.site.Store.Submissions.Submissions(t.Context(), accounts.User{ID: me.ID, Role: accounts.RoleCreator}, submissions.SubmissionFilter{UserID: me.ID, Limit: 2})
	if err != nil || len(list) != 1 || list[0].Mode != job.ModeTest {
		t.Fatalf("publishing made %+v, %v", list, err)
	}
	runs, err := s.site.Store.Work.Runs(t.Context(), list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	broken := buildFailure()
	broken[0].Stderr = "reference.h:7:3: error: 'outt' was not declared in this scope\n"
	broken[0].Failure = &job.Failure{Reason: "the submission does not compile: reference.h line 7: 'outt' was not declared in this scope"}
	s.fail(runs[0], broken)
	wantText(t, creator.page(strings.TrimPrefix(at, s.url), http.StatusOK), "#bench-run [data-failure]", "reference.h line 7")
}

func TestPublishingSaysThatNothingCheckedTheReference(t *testing.T) {
	s := startSite(t)
	wantText(t, document(t, s.signedIn("Carla", accounts.RoleCreator).publishes(t), http.StatusOK), "[role=status]", "Published, but not verified")
}
