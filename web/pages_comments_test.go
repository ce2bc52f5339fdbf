package web

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/modelstest"
)

// comment adds a comment with a report to the scene's task, and returns its page.
func (s *scene) comment() string {
	s.t.Helper()
	made, err := s.site.Store.Comments.Add(s.t.Context(), s.ada, comments.Thread{Task: s.task}, "Is **n** a multiple of 64?")
	if err == nil {
		err = s.site.Store.Comments.Report(s.t.Context(), s.admin, made.ID, "to be sure")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("/comments/%d", made.ID)
}

// commented is the list of comments on a submission whose source is public.
func (s *scene) commented() string {
	s.t.Helper()
	run := modelstest.Submit(s.t, s.site.Store, s.ada, modelstest.Task(s.t, s.site.Store, s.admin, "over", "CPU"))[0]
	if _, err := s.site.Store.SQL().ExecContext(s.t.Context(), "update tasks set deadline = $1 where slug = 'over'", time.Now().Add(-time.Hour).UTC()); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("/submissions/%d/comments", run.SubmissionID)
}

// closeTask lets the deadline pass, so that sources are public.
func (s *scene) closeTask() {
	s.t.Helper()
	if _, err := s.site.Store.SQL().ExecContext(s.t.Context(), "update tasks set deadline = $1 where id = $2", time.Now().Add(-time.Hour).UTC(), s.task.ID); err != nil {
		s.t.Fatal(err)
	}
}

func TestPeopleCommentOnATaskAndOnAPublicSource(t *testing.T) {
	s := newScene(t)
	ada, ben, admin, visitor := s.browserOf(s.ada), s.browserOf(modelstest.Person(t, s.site.Store, "Ben", accounts.RoleUser)), s.browserOf(s.admin), s.browser()
	task, submission := "/tasks/"+s.task.Slug, fmt.Sprintf("/submissions/%d", s.done.SubmissionID)
	if to := visitor.page(task, http.StatusOK).Find("a:contains(Comments)").AttrOr("href", ""); to != task+"/comments" {
		t.Errorf("the task leads to %q", to)
	}
	resp := ben.post(task+"/comments", url.Values{"text": {"Does *padding* count? #L12 <script>alert(1)</script>"}})
	doc := document(t, resp, http.StatusOK)
	wantText(t, doc, "ol li[data-comment] .prose", "Does padding count? #L12")
	if doc.Find("ol li .prose a, ol li script").Length() > 0 {
		t.Error("a comment on a task links to a line, or scripts the page")
	}
	if !strings.Contains(resp.Request.URL.String(), "/comments") {
		t.Errorf("writing leads to %s", resp.Request.URL)
	}
	wantText(t, visitor.page(task, http.StatusOK), "main", "Comments (1)")
	wantText(t, visitor.page(task+"/comments", http.StatusOK), "main", "Sign in to write a comment.")

	if visitor.page(submission, http.StatusOK).Find(".tabs a:contains(Comments)").Length() > 0 {
		t.Error("a submission with a hidden source offers comments")
	}
	ada.page(submission+"/comments", http.StatusForbidden)
	s.closeTask()
	doc = document(t, ada.post(submission+"/comments/writeup", url.Values{"text": {"Tiles of 64: see #L4-L6, and not x#L1, #L0, #L1234567, `#L2`, [a](javascript:alert(1))."}}), http.StatusOK)
	link := doc.Find(".prose a[href*=source]")
	if to := link.AttrOr("href", ""); link.Length() != 1 || to != submission+"?tab=source#L4" || link.Text() != "#L4-L6" {
		t.Errorf("%d links to lines, the first %q to %s", link.Length(), link.Text(), to)
	}
	wantText(t, visitor.page(submission+"/comments", http.StatusOK), "#writeup", "Write-up")
	if visitor.page(submission, http.StatusOK).Find(".tabs a:contains('Comments (1)')").Length() != 1 {
		t.Error("the submission does not lead to its comments")
	}
	doc = document(t, ben.post(submission+"/comments", url.Values{"text": {strings.Repeat("a", 4001)}}), http.StatusUnprocessableEntity)
	wantText(t, doc, "[role=alert]", "at most 4000 are kept")
	if len(doc.Find("textarea#text").Text()) != 4001 {
		t.Error("the refused text is lost")
	}
	document(t, admin.post(submission+"/comments/lock", url.Values{"locked": {"1"}}), http.StatusOK)
	wantText(t, ben.page(submission+"/comments", http.StatusOK), ".callout", "These comments are locked.")
	if resp := ben.post(submission+"/comments", url.Values{"text": {"still"}}); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a locked list takes a comment: %s", resp.Status)
	}
}

func TestACommentIsReportedHiddenAndShownAgain(t *testing.T) {
	s := newScene(t)
	made := s.comment()
	ben, admin, visitor := s.browserOf(modelstest.Person(t, s.site.Store, "Ben", accounts.RoleUser)), s.browserOf(s.admin), s.browser()
	document(t, ben.post(made+"/report", url.Values{"reason": {"An advertisement"}}), http.StatusOK)
	wantText(t, document(t, ben.post(made+"/report", url.Values{"reason": {"Again"}}), http.StatusConflict), "[role=alert]", "already")
	wantText(t, admin.page("/review", http.StatusOK), "[data-reported]", "2 reports")
	wantText(t, admin.page(made, http.StatusOK), "[data-report]:nth-child(2)", "Reported by Ben")
	if text := ben.page(made, http.StatusOK).Text(); strings.Contains(text, "Reported by") {
		t.Error("a person reads the reports")
	}
	document(t, admin.post(made+"/hide", url.Values{"reason": {"An advertisement"}}), http.StatusOK)
	visitor.page(made, http.StatusNotFound)
	if text := visitor.page("/tasks/"+s.task.Slug+"/comments", http.StatusOK).Text(); strings.Contains(text, "multiple of 64") {
		t.Error("a hidden comment is shown")
	}
	wantText(t, s.browserOf(s.ada).page(made, http.StatusOK), ".prose", "Only you and moderators can see this comment. An advertisement")
	if text := admin.page("/review", http.StatusOK).Text(); strings.Contains(text, "Reported comments") {
		t.Error("it still waits for a decision")
	}
	document(t, admin.post(made+"/show", url.Values{"reason": {"A mistake"}}), http.StatusOK)
	visitor.page(made, http.StatusOK)
	if resp := ben.post(made+"/delete", nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another person deletes it: %s", resp.Status)
	}
	document(t, s.browserOf(s.ada).post(made+"/delete", nil), http.StatusOK)
	visitor.page(made, http.StatusNotFound)
}

func TestCommentsLookRight(t *testing.T) {
	if os.Getenv("WARPBOARD_SHOTS") == "" && testing.Short() {
		t.Skip("needs a browser")
	}
	s := newScene(t)
	made := s.comment()
	s.closeTask()
	list := fmt.Sprintf("/submissions/%d/comments", s.done.SubmissionID)
	ben := s.browserOf(modelstest.Person(t, s.site.Store, "Ben", accounts.RoleUser))
	s.browserOf(s.ada).post(list+"/writeup", url.Values{"text": {"## How it works\n\nEach block keeps a tile in shared memory (#L6). Each thread keeps 8 × 8 values in registers.\n\n| step | time |\n|---|---|\n| naive | 31 µs |\n| tiles | 12 µs |\n\n```cuda\nfor (int k = 0; k < n; k += 16)\n```"}})
	ben.post(list, url.Values{"text": {"Why 17 columns in #L6?"}})
	s.browserOf(s.ada).post(list, url.Values{"text": {"Padding: with 16, eight threads share a bank."}})
	w := s.window().as(ben)
	w.open(list)
	w.looksRight("comments")
	w = w.as(s.browserOf(s.admin))
	w.open(made)
	w.looksRight("comment")
	w.open("/review")
	w.looksRight("review-comments")
	w.open("/tasks/" + s.task.Slug + "/comments")
	w.looksRight("comments-task")
}
