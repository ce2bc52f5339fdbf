package authoring_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/web/webtest"
)

// publishes uploads the example task, publishes it from its preview, and returns the last response.
func publishes(b *webtest.Browser, t *testing.T) *http.Response {
	t.Helper()
	doc := webtest.Document(t, b.Upload("/tasks/new", "zip", "add.zip", webtest.ZipOf(t, webtest.UnchangedBundle), nil),
		http.StatusOK)
	return b.Upload("/tasks/publish", "", "", nil, webtest.Fields(doc.Find("main form")))
}

// TestPublishingTestsTheTemplate checks that publishing submits the template in test mode, so that the author, not the
// first submitter, sees that a reference does not compile.
func TestPublishingTestsTheTemplate(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	resp := publishes(creator, t)
	at := resp.Request.URL.String()
	doc := webtest.Document(t, resp, http.StatusOK)
	webtest.WantText(t, doc, "[role=status]", "The template is being tested below")
	webtest.WantText(t, doc, "#bench-run [data-state=queued] h2", "CPU")

	var me client.User
	webtest.DecodeBody(t, creator.Get("/api/v1/me"), &me)
	list, err := s.Cfg.Store.Submissions.Submissions(t.Context(), accounts.User{ID: me.ID, Role: accounts.RoleCreator},
		submissions.SubmissionFilter{UserID: me.ID, Limit: 2})
	if err != nil || len(list) != 1 || list[0].Mode != job.ModeTest {
		t.Fatalf("publishing made %+v, %v", list, err)
	}
	runs, err := s.Cfg.Store.Work.Runs(t.Context(), list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	broken := webtest.BuildFailure()
	broken[0].Stderr = "reference.h:7:3: error: 'outt' was not declared in this scope\n"
	broken[0].Failure = &job.Failure{Reason: "the submission does not compile: reference.h line 7: 'outt' was not declared in this scope"}
	s.Fail(runs[0], broken)
	webtest.WantText(t, creator.Page(strings.TrimPrefix(at, s.URL), http.StatusOK), "#bench-run [data-failure]",
		"reference.h line 7")
}

func TestPublishingSaysThatNothingCheckedTheReference(t *testing.T) {
	s := webtest.Start(t)
	webtest.WantText(t, webtest.Document(t, publishes(s.SignedIn("Carla", accounts.RoleCreator), t), http.StatusOK),
		"[role=status]", "Published, but not verified")
}
