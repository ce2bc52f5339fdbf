package operation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// answered ends the waiting runs of the validation script with the given answers, in the order of the board's entries.
func answered(s *webtest.Scene, answers ...job.CaseResult) {
	s.T.Helper()
	queue, err := s.Cfg.Store.Work.WaitingQueue(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	for _, q := range queue {
		run, err := s.Cfg.Store.Work.Run(s.T.Context(), q.RunID)
		if err != nil {
			s.T.Fatal(err)
		}
		if run.Mode != job.ModeValidate || len(answers) == 0 {
			continue
		}
		result := modelstest.Result(s.Attempt(run), 0)
		result.ScoreNS, result.Stages = nil,
			[]job.StageResult{{Stage: job.StageValidate, Status: answers[0].Status, Cases: answers[:1],
				Stderr: "Traceback of the script\n"}}
		if answers[0].Status != job.StatusPass {
			result.Outcome, result.Failure = job.OutcomeFailed, &job.Failure{Reason: answers[0].Message}
		}
		if _, err := s.Cfg.Store.Work.RecordResult(s.T.Context(), result, work.ResultFindings{}); err != nil {
			s.T.Fatal(err)
		}
		answers = answers[1:]
	}
}

// TestAnAuthorRunsTheValidationScript starts the script on its page, and checks that the board, the runs, and the API
// show its answers.
func TestAnAuthorRunsTheValidationScript(t *testing.T) {
	s := webtest.NewScene(t)
	author := modelstest.Person(t, s.Cfg.Store, "Cora", accounts.RoleCreator)
	var people []accounts.User
	for _, name := range []string{"Ann", "Ben", "Cid"} {
		people = append(people, modelstest.Person(t, s.Cfg.Store, name, accounts.RoleUser))
	}
	task := modelstest.Validated(t, s.Cfg.Store, author, people...)
	cora, visitor := s.BrowserOf(author), s.Browser()
	link := cora.Page("/tasks/tried", http.StatusOK).Find("a:contains('Validate')").AttrOr("href", "")
	if link != "/tasks/tried/validation" {
		t.Fatalf("the task's page leads to %q", link)
	}
	if resp := s.BrowserOf(s.Ada).Get(link); resp.StatusCode != http.StatusForbidden {
		t.Errorf("someone else gets %s", resp.Status)
	}
	if resp := s.BrowserOf(s.Ada).Post(link, nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("someone else asks for it: %s", resp.Status)
	}
	doc := webtest.Document(t, cora.Post(link, nil), http.StatusOK)
	webtest.WantText(t, doc, "[data-board=CPU] tr[data-validated]:nth-child(1)",
		"Ann 10.00 µs waits or runs version v1, by Cora")
	webtest.WantText(t, webtest.Document(t, cora.Post(link, nil), http.StatusConflict), "[role=alert]",
		"The script is already waiting for a worker")
	answered(s, job.CaseResult{Status: job.StatusPass, Message: "8 of 8 shapes"},
		job.CaseResult{Status: job.StatusFail, Message: "<b>no</b> & never"},
		job.CaseResult{Status: job.StatusError, Message: "The script ended with exit code 1. ValueError"})
	doc = cora.Page(link, http.StatusOK)
	webtest.WantText(t, doc, "tr[data-validated]:nth-child(2)", "does not apply <b>no</b> & never")
	webtest.WantText(t, doc, "tr[data-validated]:nth-child(3)",
		"not validated The script ended with exit code 1. ValueError Last output Traceback of the script")
	board := visitor.Page("/tasks/tried/boards/CPU", http.StatusOK)
	for i, want := range []string{"1 Ann applies", "2 Ben does not apply", "3 Cid not validated"} {
		webtest.WantText(t, board, fmt.Sprintf("#board tbody tr:nth-child(%d)", i+1), want)
	}
	if title := board.Find("#board tbody tr:nth-child(2) [data-validated]").AttrOr("title",
		""); !strings.HasPrefix(title, "Validation script, version v1, asked by Cora on ") ||
		!strings.HasSuffix(title, ": <b>no</b> & never") {
		t.Errorf("behind the tag stands %q", title)
	}
	past := visitor.Page("/tasks/tried/boards/CPU?at="+time.Now().UTC().Format(time.DateOnly), http.StatusOK)
	webtest.WantText(t, past, "#board tbody tr:nth-child(2)", "2 Ben does not apply")
	if table := webtest.Body(t, visitor.Get("/tasks/tried/boards/CPU/entries.csv")); !strings.Contains(table,
		",does not apply,<b>no</b> & never,v1\n") {
		t.Errorf("the table has %s", table)
	}
	run := visitor.Page(board.Find("#board tbody tr:first-child [data-validated]").AttrOr("href", ""), http.StatusOK)
	webtest.WantText(t, run, "[data-validation]",
		"applies 8 of 8 shapes Validation script, version v1, asked by Cora on")
	var answer client.Board
	if err := json.Unmarshal([]byte(webtest.Body(t, visitor.Get("/api/v1/boards/tried/CPU"))), &answer); err != nil {
		t.Fatal(err)
	}
	if v := answer.Entries[1].Validation; v == nil || v.Answer != "does not apply" ||
		v.Message != "<b>no</b> & never" || v.ScriptVersion != "v1" || v.AskedBy != "Cora" || v.AskedAt.IsZero() {
		t.Errorf("the API has %+v", v)
	}
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/audit?q=task+tried", http.StatusOK), "[data-act='validate']",
		"version v1 of the script, 3 entries")
	w := s.Window()
	w.As(cora).Visit(link)
	w.LooksRight("validation")
	w.Visit(fmt.Sprintf("/tasks/%s/boards/CPU", task.Slug))
	w.LooksRight("validated-board")
}
