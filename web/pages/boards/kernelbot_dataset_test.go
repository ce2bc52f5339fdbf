package boards_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// foreignRow is a row of KernelBot's public dataset, with the columns and types that its readers expect.
type foreignRow struct {
	SubmissionID int64    `parquet:"submission_id"`
	ProblemName  string   `parquet:"problem_name"`
	UserID       string   `parquet:"user_id"`
	UserName     string   `parquet:"user_name"`
	Score        *float64 `parquet:"score,optional"`
	Passed       bool     `parquet:"passed"`
	Status       string   `parquet:"status"`
	Mode         string   `parquet:"mode"`
	Runner       string   `parquet:"runner"`
	Code         string   `parquet:"code"`
}

func foreignRows(s *webtest.Scene, address string) (rows []foreignRow, next string) {
	s.T.Helper()
	resp := s.Browser().Get(address)
	webtest.WantStatus(s.T, resp, http.StatusOK)
	file := webtest.Body(s.T, resp)
	rows, err := parquet.Read[foreignRow](strings.NewReader(file), int64(len(file)))
	if err != nil {
		s.T.Fatal(err)
	}
	next, _, _ = strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"), ">")
	return rows, next
}

// TestRunsOfAClosedTaskAreDownloadedAsKernelBotPublishesThem checks the downloaded file with the types of KernelBot's
// dataset. It must not contain sources of people who opted out.
func TestRunsOfAClosedTaskAreDownloadedAsKernelBotPublishesThem(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200/"
	zoe := modelstest.Person(t, s.Cfg.Store, "Zoe", accounts.RoleUser)
	s.Finish(s.Submit(zoe, "H200", "// the same"), 7e3)
	s.Finish(s.Submit(zoe, "H200", "// the same"), 6e3)
	s.Fail(s.Submit(zoe, "H200", "// does not compile"), webtest.BuildFailure())
	for _, file := range []string{"kernelbot.parquet", "README.md"} {
		webtest.WantStatus(t, s.BrowserOf(s.Admin).Get(board+file), http.StatusForbidden)
	}
	s.Closes(false)
	rows, next := foreignRows(s, board+"kernelbot.parquet")
	for next != "" {
		var more []foreignRow
		more, next = foreignRows(s, next[strings.Index(next, "/tasks/"):])
		rows = append(rows, more...)
	}
	var hers []foreignRow
	for _, row := range rows {
		if row.UserName == "Zoe" {
			hers = append(hers, row)
		}
	}
	if len(hers) != 2 || len(rows) < 60 {
		t.Fatalf("%d rows, of Zoe %+v", len(rows), hers)
	}
	passed, failed := hers[0], hers[1]
	if passed.Score == nil || *passed.Score > 7e-6 || !passed.Passed || passed.Status != "succeeded" ||
		passed.Code != "// the same" || passed.Mode != "leaderboard" || passed.Runner != "H200" ||
		passed.ProblemName != s.Task.Slug {
		t.Errorf("the run that passed is %+v", passed)
	}
	if failed.Score != nil || failed.Passed || failed.Status != "failed" || failed.Code != "// does not compile" {
		t.Errorf("the run that failed is %+v", failed)
	}
	card := webtest.Body(t, s.Browser().Get(board+"README.md"))
	if !strings.HasPrefix(card, "---\nlicense: other\n") || !strings.Contains(card, "data_files: kernelbot.parquet") {
		t.Errorf("the card is %s", card)
	}

	b := s.BrowserOf(zoe)
	b.Post("/me/datasets", url.Values{"out": {"1"}})
	if b.Page("/me", http.StatusOK).Find("input[name=out][checked]").Length() != 1 {
		t.Error("the choice is lost")
	}
	rows, _ = foreignRows(s, board+"kernelbot.parquet")
	for _, row := range rows {
		if row.UserName == "Zoe" {
			t.Errorf("a row of a person who opted out: %+v", row)
		}
	}
	if lines := webtest.Body(t, b.Get(board+"dataset.jsonl")); !strings.Contains(lines, `"person":"Zoe"`) ||
		strings.Contains(lines, "// the same") {
		t.Error("the board's dataset lacks Zoe's time, or has her source")
	}
}

// TestTheColumnsAreThoseOfKernelBotsExport checks that the columns have the same order and types as in the export of
// KernelBot's libkernelbot/hf_export.py.
func TestTheColumnsAreThoseOfKernelBotsExport(t *testing.T) {
	s := webtest.NewScene(t)
	s.Closes(false)
	file := webtest.Body(t, s.Browser().Get("/tasks/"+s.Task.Slug+"/boards/H200/kernelbot.parquet"))
	opened, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, f := range opened.Schema().Fields() {
		columns = append(columns, f.Name()+" "+f.Type().String())
	}
	const text = "STRING"
	want := []string{"submission_id INT(64,true)", "leaderboard_id INT(64,true)", "problem_name " + text,
		"user_id " + text, "user_name " + text, "code_id INT(64,true)",
		"file_name " + text, "submission_time TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)", "status " + text,
		"score DOUBLE", "passed BOOLEAN", "mode " + text, "runner " + text, "code " + text}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("(-KernelBot's +ours):\n%s", diff)
	}
}
