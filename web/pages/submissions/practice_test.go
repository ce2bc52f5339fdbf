package submissions_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestAClosedTaskTakesPracticeWhereItsAuthorSaysSo checks that, if the author allows practice, a closed task accepts
// submissions that do not appear on a board. It checks the setting, the workbench, and the run's page.
func TestAClosedTaskTakesPracticeWhereItsAuthorSaysSo(t *testing.T) {
	s := webtest.NewScene(t)
	s.Closes(false)
	b := s.BrowserOf(s.Ada)
	solve := "/tasks/" + s.Task.Slug + "/solve"
	doc := b.Page(solve, http.StatusOK)
	if doc.Find("[data-key=shift-enter]").Length() != 0 {
		t.Error("a closed task offers to rank")
	}
	webtest.WantText(t, doc, ".bench-bar", "This task is closed")

	s.Closes(true)
	if s.BrowserOf(s.Admin).Page("/tasks/"+s.Task.Slug+"/edit",
		http.StatusOK).Find("input[name=practice][checked]").Length() != 1 {
		t.Error("the setting does not come back")
	}
	doc = b.Page(solve, http.StatusOK)
	webtest.WantText(t, doc, "[data-key=shift-enter]", "Practice")
	webtest.WantText(t, doc, "[data-practice]", "do not appear on a board")
	webtest.WantText(t, b.Page("/tasks/"+s.Task.Slug, http.StatusOK), ".meta", "open for practice")
	before := b.Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK).Find("[data-entry]").Length()
	form := url.Values{"source": {"// after the deadline"}, "device": {"H200"}, "mode": {"ranked"}}
	b.Upload("/tasks/"+s.Task.Slug+"/submit", "", "", nil, form)
	run := s.Newest(s.Ada)
	if run.Mode != work.ModePractice {
		t.Fatalf("a run after the deadline is %s", run.Mode)
	}
	s.Finish(run, 1e3)
	doc = b.Page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
	webtest.WantText(t, doc, "[data-score]", "1.000")
	webtest.WantText(t, doc, "main", "Practice")
	if after := b.Page("/tasks/"+s.Task.Slug+"/boards/H200",
		http.StatusOK).Find("[data-entry]").Length(); after != before {
		t.Errorf("the board had %d entries and has %d", before, after)
	}
}

// TestAnAdminAddsASubmissionInTheWorkbench checks that an admin can submit for another person after the deadline, with
// a reason that everyone sees.
func TestAnAdminAddsASubmissionInTheWorkbench(t *testing.T) {
	s := webtest.NewScene(t)
	s.Closes(false)
	b, solve := s.BrowserOf(s.Admin), "/tasks/"+s.Task.Slug+"/solve"
	if s.BrowserOf(s.Ada).Page(solve, http.StatusOK).Find("[name=for]").Length() != 0 {
		t.Error("a user is asked whom a submission is for")
	}
	values := webtest.Fields(b.Page(solve, http.StatusOK).Find("[data-bench-form]"))
	values.Set("mode", "ranked")
	values.Set("source", "// sent by mail")
	values["device"] = []string{"H200"}
	values.Set("for", "no such person")
	values.Set("why", "The site was down.")
	doc := webtest.Document(t, b.Upload(solve, "", "", nil, values), http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "[role=alert]", `no person called "no such person"`)
	if doc.Find("[name=why]").AttrOr("value", "") != "The site was down." {
		t.Error("what the admin typed does not come back")
	}
	values.Set("for", strings.ToUpper(s.Ada.Name))
	webtest.WantStatus(t, b.Upload(solve, "", "", nil, values), http.StatusOK)
	run := s.Newest(s.Ada)
	s.Finish(run, 1e3)
	doc = s.Browser().Page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
	webtest.WantText(t, doc, "[data-added]", "The site was down.")
	doc = s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
	if title := doc.Find("tr [data-status]").AttrOr("title", ""); title != "Added by an admin: The site was down." {
		t.Errorf("the board says %q", title)
	}
}
