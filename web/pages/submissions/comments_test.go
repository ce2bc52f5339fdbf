package submissions_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// closeTask lets the deadline pass, so that sources are public.
func closeTask(s *webtest.Scene) {
	s.T.Helper()
	if _, err := s.Cfg.Store.SQL().ExecContext(s.T.Context(), "update tasks set deadline = $1 where id = $2",
		time.Now().Add(-time.Hour).UTC(), s.Task.ID); err != nil {
		s.T.Fatal(err)
	}
}

func TestPeopleCommentOnATaskAndOnAPublicSource(t *testing.T) {
	s := webtest.NewScene(t)
	ada, ben, admin, visitor := s.BrowserOf(s.Ada),
		s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser)), s.BrowserOf(s.Admin), s.Browser()
	task, submission := "/tasks/"+s.Task.Slug, fmt.Sprintf("/submissions/%d", s.Done.SubmissionID)
	if to := visitor.Page(task, http.StatusOK).Find("a:contains(Comments)").AttrOr("href", ""); to != task+"/comments" {
		t.Errorf("the task leads to %q", to)
	}
	resp := ben.Post(task+"/comments", url.Values{"text": {"Does *padding* count? #L12 <script>alert(1)</script>"}})
	doc := webtest.Document(t, resp, http.StatusOK)
	webtest.WantText(t, doc, "ol li[data-comment] .prose", "Does padding count? #L12")
	if doc.Find("ol li .prose a, ol li script").Length() > 0 {
		t.Error("a comment on a task links to a line, or scripts the page")
	}
	if !strings.Contains(resp.Request.URL.String(), "/comments") {
		t.Errorf("writing leads to %s", resp.Request.URL)
	}
	webtest.WantText(t, visitor.Page(task, http.StatusOK), "main", "Comments (1)")
	webtest.WantText(t, visitor.Page(task+"/comments", http.StatusOK), "main", "Sign in to write a comment.")

	if visitor.Page(submission, http.StatusOK).Find(".tabs a:contains(Comments)").Length() > 0 {
		t.Error("a submission with a hidden source offers comments")
	}
	ada.Page(submission+"/comments", http.StatusForbidden)
	closeTask(s)
	doc = webtest.Document(t, ada.Post(submission+"/comments/writeup",
		url.Values{"text": {"Tiles of 64: see #L4-L6, and not x#L1, #L0, #L1234567, `#L2`, [a](javascript:alert(1))."}}), http.StatusOK)
	link := doc.Find(".prose a[href*=source]")
	if to := link.AttrOr("href", ""); link.Length() != 1 || to != submission+"?tab=source#L4" ||
		link.Text() != "#L4-L6" {
		t.Errorf("%d links to lines, the first %q to %s", link.Length(), link.Text(), to)
	}
	webtest.WantText(t, visitor.Page(submission+"/comments", http.StatusOK), "#writeup", "Write-up")
	if visitor.Page(submission, http.StatusOK).Find(".tabs a:contains('Comments (1)')").Length() != 1 {
		t.Error("the submission does not lead to its comments")
	}
	doc = webtest.Document(t, ben.Post(submission+"/comments", url.Values{"text": {strings.Repeat("a", 4001)}}),
		http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "[role=alert]", "at most 4000 are kept")
	if len(doc.Find("textarea#text").Text()) != 4001 {
		t.Error("the refused text is lost")
	}
	webtest.Document(t, admin.Post(submission+"/comments/lock", url.Values{"locked": {"1"}}), http.StatusOK)
	webtest.WantText(t, ben.Page(submission+"/comments", http.StatusOK), ".callout", "These comments are locked.")
	if resp := ben.Post(submission+"/comments",
		url.Values{"text": {"still"}}); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a locked list takes a comment: %s", resp.Status)
	}
}

func TestACommentIsReportedHiddenAndShownAgain(t *testing.T) {
	s := webtest.NewScene(t)
	made := s.Comment()
	ben, admin, visitor := s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser)),
		s.BrowserOf(s.Admin), s.Browser()
	webtest.Document(t, ben.Post(made+"/report", url.Values{"reason": {"An advertisement"}}), http.StatusOK)
	webtest.WantText(t, webtest.Document(t, ben.Post(made+"/report", url.Values{"reason": {"Again"}}),
		http.StatusConflict), "[role=alert]", "already")
	webtest.WantText(t, admin.Page("/review", http.StatusOK), "[data-reported]", "2 reports")
	webtest.WantText(t, admin.Page(made, http.StatusOK), "[data-report]:nth-child(2)", "Reported by Ben")
	if text := ben.Page(made, http.StatusOK).Text(); strings.Contains(text, "Reported by") {
		t.Error("a person reads the reports")
	}
	webtest.Document(t, admin.Post(made+"/hide", url.Values{"reason": {"An advertisement"}}), http.StatusOK)
	visitor.Page(made, http.StatusNotFound)
	if text := visitor.Page("/tasks/"+s.Task.Slug+"/comments", http.StatusOK).Text(); strings.Contains(text,
		"multiple of 64") {
		t.Error("a hidden comment is shown")
	}
	webtest.WantText(t, s.BrowserOf(s.Ada).Page(made, http.StatusOK), ".prose",
		"Only you and moderators can see this comment. An advertisement")
	if text := admin.Page("/review", http.StatusOK).Text(); strings.Contains(text, "Reported comments") {
		t.Error("it still waits for a decision")
	}
	webtest.Document(t, admin.Post(made+"/show", url.Values{"reason": {"A mistake"}}), http.StatusOK)
	visitor.Page(made, http.StatusOK)
	if resp := ben.Post(made+"/delete", nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another person deletes it: %s", resp.Status)
	}
	webtest.Document(t, s.BrowserOf(s.Ada).Post(made+"/delete", nil), http.StatusOK)
	visitor.Page(made, http.StatusNotFound)
}

func TestCommentsLookRight(t *testing.T) {
	tier.Needs(t, tier.Browser)
	s := webtest.NewScene(t)
	made := s.Comment()
	closeTask(s)
	list := fmt.Sprintf("/submissions/%d/comments", s.Done.SubmissionID)
	ben := s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser))
	s.BrowserOf(s.Ada).Post(list+"/writeup",
		url.Values{"text": {"## How it works\n\nEach block keeps a tile in shared memory (#L6). Each thread keeps 8 × 8 values in registers.\n\n| step | time |\n|---|---|\n| naive | 31 µs |\n| tiles | 12 µs |\n\n```cuda\nfor (int k = 0; k < n; k += 16)\n```"}})
	ben.Post(list, url.Values{"text": {"Why 17 columns in #L6?"}})
	s.BrowserOf(s.Ada).Post(list, url.Values{"text": {"Padding: with 16, eight threads share a bank."}})
	w := s.Window().As(ben)
	w.Visit(list)
	w.LooksRight("comments")
	w = w.As(s.BrowserOf(s.Admin))
	w.Visit(made)
	w.LooksRight("comment")
	w.Visit("/review")
	w.LooksRight("review-comments")
	w.Visit("/tasks/" + s.Task.Slug + "/comments")
	w.LooksRight("comments-task")
}
