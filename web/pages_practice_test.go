package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/models/work"
)

// closes ends the scene's task, and says whether it takes practice runs.
func (s *scene) closes(practice bool) {
	s.t.Helper()
	b := s.browserOf(s.admin)
	values := fields(b.page("/tasks/"+s.task.Slug+"/edit", http.StatusOK).Find("form[action$='/edit']"))
	values.Set("deadline", time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05"))
	values["device"] = s.task.Devices
	values.Del("practice")
	if practice {
		values.Set("practice", "1")
	}
	wantStatus(s.t, b.post("/tasks/"+s.task.Slug+"/edit", values), http.StatusOK)
}

// TestAClosedTaskTakesPracticeWhereItsAuthorSaysSo from the setting to the run's page.
func TestAClosedTaskTakesPracticeWhereItsAuthorSaysSo(t *testing.T) {
	s := newScene(t)
	s.closes(false)
	b := s.browserOf(s.ada)
	solve := "/tasks/" + s.task.Slug + "/solve"
	doc := b.page(solve, http.StatusOK)
	if doc.Find("[data-key=shift-enter]").Length() != 0 {
		t.Error("a closed task offers to rank")
	}
	wantText(t, doc, ".bench-bar", "This task is closed")

	s.closes(true)
	if s.browserOf(s.admin).page("/tasks/"+s.task.Slug+"/edit", http.StatusOK).Find("input[name=practice][checked]").Length() != 1 {
		t.Error("the setting does not come back")
	}
	doc = b.page(solve, http.StatusOK)
	wantText(t, doc, "[data-key=shift-enter]", "Practice")
	wantText(t, doc, "[data-practice]", "on no board")
	wantText(t, b.page("/tasks/"+s.task.Slug, http.StatusOK), ".meta", "open for practice")
	before := b.page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK).Find("[data-entry]").Length()
	form := url.Values{"source": {"// after the deadline"}, "device": {"H200"}, "mode": {"ranked"}}
	b.upload("/tasks/"+s.task.Slug+"/submit", "", "", nil, form)
	run := s.newest(s.ada)
	if run.Mode != work.ModePractice {
		t.Fatalf("a run after the deadline is %s", run.Mode)
	}
	s.finish(run, 1e3)
	doc = b.page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
	wantText(t, doc, "[data-score]", "1.000")
	wantText(t, doc, "main", "Practice")
	if after := b.page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK).Find("[data-entry]").Length(); after != before {
		t.Errorf("the board had %d entries and has %d", before, after)
	}
}

// TestAnAdminAddsASubmissionInTheWorkbench for another person, with a reason that everyone reads.
func TestAnAdminAddsASubmissionInTheWorkbench(t *testing.T) {
	s := newScene(t)
	s.closes(false)
	b, solve := s.browserOf(s.admin), "/tasks/"+s.task.Slug+"/solve"
	if s.browserOf(s.ada).page(solve, http.StatusOK).Find("[name=for]").Length() != 0 {
		t.Error("a user is asked whom a submission is for")
	}
	values := fields(b.page(solve, http.StatusOK).Find("[data-bench-form]"))
	values.Set("mode", "ranked")
	values.Set("source", "// sent by mail")
	values["device"] = []string{"H200"}
	values.Set("for", "no such person")
	values.Set("why", "The site was down.")
	doc := document(t, b.upload(solve, "", "", nil, values), http.StatusUnprocessableEntity)
	wantText(t, doc, "[role=alert]", `no person called "no such person"`)
	if doc.Find("[name=why]").AttrOr("value", "") != "The site was down." {
		t.Error("what the admin typed does not come back")
	}
	values.Set("for", strings.ToUpper(s.ada.Name))
	wantStatus(t, b.upload(solve, "", "", nil, values), http.StatusOK)
	run := s.newest(s.ada)
	s.finish(run, 1e3)
	doc = s.browser().page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
	wantText(t, doc, "[data-added]", "The site was down.")
	doc = s.browser().page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK)
	if title := doc.Find("tr [data-added]").AttrOr("title", ""); title != "Added by an admin: The site was down." {
		t.Errorf("the board says %q", title)
	}
}
