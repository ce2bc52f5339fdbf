package boards_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestRunsOfEqualSourceAreShownAsOneScore checks the common score of a person's runs of identical source on the board,
// on the pages of both runs, in the API, and in the CSV.
func TestRunsOfEqualSourceAreShownAsOneScore(t *testing.T) {
	s := webtest.NewScene(t)
	cleo := modelstest.Person(t, s.Cfg.Store, "Cleo", accounts.RoleUser)
	first := s.Submit(cleo, "H200", webtest.GoodKernel+"// Cleo's\n")
	s.Finish(first, 2e3)
	second := s.Submit(cleo, "H200", webtest.GoodKernel+"// Cleo's\n")
	attempt := s.Attempt(second)
	result := modelstest.Result(attempt, 1.9e3)
	result.Stages[3].Cases = webtest.TimedCases(1.9e3)
	// The same software as for the first run, because only runs of one epoch count together.
	result.Machine = job.Machine{Worker: "rack-7", Driver: "570.86.15", CUDA: "12.8", CompilerVersion: "nvcc 12.8.93"}
	result.Machine.Disturbances = &job.Disturbances{ClockSamples: 50, LowClockSamples: 20}
	if _, err := s.Cfg.Store.Work.RecordResult(t.Context(), result,
		work.ResultFindings{Score: &work.Score{NS: 1.9e3}}); err != nil {
		t.Fatal(err)
	}
	b := s.BrowserOf(cleo)
	card := func(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	webtest.WantText(t, b.Page(card(first), http.StatusOK), "[data-pool]",
		fmt.Sprintf("2 runs of this source: #%d (this one), #%d", first.SubmissionID, second.SubmissionID))
	webtest.WantText(t, b.Page(card(second), http.StatusOK), "[data-pool]",
		"so that the luckiest one does not count alone")
	webtest.WantText(t, b.Page(card(second), http.StatusOK), "[data-disturbed]",
		"clock more than a tenth below its highest in 20 of 50 samples")
	row := fmt.Sprintf("[data-entry='%d']", first.ID)
	board := b.Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
	webtest.WantText(t, board, row, "2 runs")
	webtest.WantText(t, board, row, "disturbed")

	var api client.Board
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get("/api/v1/boards/"+s.Task.Slug+"/H200"))), &api); err != nil {
		t.Fatal(err)
	}
	if e := api.Entries[0]; e.User.ID != cleo.ID || e.PooledRuns != 2 ||
		!strings.HasPrefix(e.DisturbanceReason, "1 of 2 runs: clock") || e.SubmissionID != first.SubmissionID {
		t.Errorf("the API's board begins with %+v", e)
	}
	var sub client.Submission
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get(fmt.Sprintf("/api/v1/submissions/%d", second.SubmissionID)))),
		&sub); err != nil {
		t.Fatal(err)
	}
	if r := sub.Runs[0]; r.PoolRepresentativeRun != first.ID || *r.ScoreNS != 1.9e3 || r.PooledRuns != 0 || r.DisturbanceReason == "" {
		t.Errorf("the API's second run is %+v", r)
	}
	if csv := webtest.Body(t, b.Get("/tasks/"+s.Task.Slug+
		"/boards/H200/entries.csv")); !strings.Contains(strings.Split(csv, "\n")[1],
		fmt.Sprintf(",%d,%d,2,1 of 2 runs", first.ID, first.SubmissionID)) {
		t.Errorf("the CSV begins with %q", strings.Split(csv, "\n")[:2])
	}
	comparesTheRunsAlone(s, first, second)
	cancelWhileItIsRanked(s, cleo, first)
}

// comparesTheRunsAlone checks that a comparison of two runs uses only their own times for ratio and scores, and
// mentions the different scores on the board.
func comparesTheRunsAlone(s *webtest.Scene, first, second work.Run) {
	s.T.Helper()
	type side struct {
		Score  float64  `json:"score_ns"`
		Board  *float64 `json:"board_score_ns"`
		Pooled int      `json:"pooled_runs"`
	}
	var found struct {
		A, B  side
		Ratio struct{ Value float64 }
	}
	b, query := s.BrowserOf(s.Admin), fmt.Sprintf("?a=%d&b=%d", first.ID, second.ID)
	webtest.DecodeBody(s.T, b.Get("/compare.json"+query), &found)
	if r := found.B.Score / found.A.Score; !(math.Abs(r/found.Ratio.Value-1) < 1e-12) || found.A.Board == nil ||
		*found.A.Board == found.A.Score || found.A.Pooled != 2 {
		s.T.Errorf("the scores have the ratio %v: %+v", r, found)
	}
	webtest.WantText(s.T, b.Page("/compare"+query, http.StatusOK), ".pf-side small", "This run alone. Its board shows")
}

// cancelWhileItIsRanked submits the source a third time and cancels the run while it is measured. No one may see its
// times, but the measured processes count for the score.
func cancelWhileItIsRanked(s *webtest.Scene, cleo accounts.User, first work.Run) {
	t := s.T
	t.Helper()
	b, third := s.BrowserOf(cleo), s.Submit(cleo, "H200", webtest.GoodKernel+"// Cleo's\n")
	w := webtest.NewWorker(t, s.Site, third)
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageRanked, CaseCount: 3})
	for _, ns := range []float64{5e3, 5e3, 7777e3} {
		cases := webtest.TimedCases(ns)
		for i := range cases[:2] {
			w.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageRanked, CaseCount: 3, Case: &cases[i]})
		}
	}
	w.Say(job.Event{Type: job.EventLog, Stage: job.StageRanked, Stream: "stdout", Text: "I took 7777 us\n"})
	page, api := fmt.Sprintf("/submissions/%d", third.SubmissionID),
		fmt.Sprintf("/api/v1/submissions/%d", third.SubmissionID)
	webtest.WantText(t, b.Page(page, http.StatusOK), "[data-stage=ranked]", "process 3 of at least 5, case 3 of 3")
	stream := s.Open(api+"/events", "")
	defer stream.Cancel()
	seen := webtest.Body(t, b.Get(page)) + webtest.Body(t, b.Get(api))
	for range 8 { // events of the run until the last case; the log has none
		e, _ := stream.Next()
		seen += e.Data
	}
	for _, message := range []string{"took 7777", "7777000", "7,777", "7\u202f777", "7.777", "31.1", "3.11e"} {
		if strings.Contains(seen, message) {
			t.Errorf("while a run is ranked, something tells %q of its times", message)
		}
	}
	if _, err := s.Cfg.Store.Work.CancelRun(t.Context(), cleo, third.ID); err != nil {
		t.Fatal(err)
	}
	s.Record(job.Result{RunID: third.ID, AttemptID: w.Attempt.ID, AttemptSecret: w.Attempt.Secret,
		Outcome:           job.OutcomeCancelled,
		UnfinishedRanking: &job.UnfinishedRanking{CaseMedians: [][]float64{{9e3, 9e3}, {9e3, 9e3}, {9e3, 9e3}}}}, nil)
	note := b.Page(fmt.Sprintf("/submissions/%d", first.SubmissionID), http.StatusOK)
	webtest.WantText(t, note, "[data-pool]", "The score combines 3 runs of this source")
	webtest.WantText(t, note, "[data-pool]",
		"Also one cancelled, failed, or deleted run, whose measurements also count.")
	var board client.Board
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get("/api/v1/boards/"+s.Task.Slug+"/H200"))),
		&board); err != nil {
		t.Fatal(err)
	}
	for _, e := range board.Entries {
		if e.User.ID == cleo.ID && (e.PooledRuns != 3 || e.ScoreNS < 7e3) {
			t.Errorf("the API says of who cancelled a slow run %+v", e)
		}
	}
}
