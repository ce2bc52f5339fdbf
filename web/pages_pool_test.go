package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web/client"
)

// TestRunsOfEqualSourceAreShownAsOneScore: on the board, on both runs' pages, in the API and in the CSV.
func TestRunsOfEqualSourceAreShownAsOneScore(t *testing.T) {
	s := newScene(t)
	cleo := modelstest.Person(t, s.Store, "Cleo", models.RoleUser)
	first := s.submit(cleo, "H200", goodKernel+"// Cleo's\n")
	s.finish(first, 2e3)
	second := s.submit(cleo, "H200", strings.ReplaceAll(goodKernel, "\n", "\r\n")+"\r\n// Cleo's")
	attempt := s.attempt(second)
	result := modelstest.Result(attempt, 1.9e3)
	result.Stages[3].Cases = timedCases(1.9e3)
	result.Machine = job.Machine{Worker: "rack-7", Driver: "570.86.15", CUDA: "12.8", Compiler: "nvcc 12.8.93"} // the epoch of the first
	result.Machine.Disturbances = &job.Disturbances{AtWork: 50, LowClock: 20}
	if _, err := s.Store.RecordResult(t.Context(), result, models.Findings{Score: &models.Score{NS: 1.9e3}}); err != nil {
		t.Fatal(err)
	}
	b := s.browserOf(cleo)
	card := func(run models.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	wantText(t, b.page(card(first), http.StatusOK), "[data-pool]", fmt.Sprintf("2 runs of this source together: run %d (this one), run %d", first.ID, second.ID))
	wantText(t, b.page(card(second), http.StatusOK), "[data-pool]", "and not with the luckiest one")
	wantText(t, b.page(card(second), http.StatusOK), "[data-disturbed]", "clock more than a tenth below its highest in 20 of 50 samples")
	row := fmt.Sprintf("[data-entry='%d']", first.ID)
	board := b.page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK)
	wantText(t, board, row, "2 runs")
	wantText(t, board, row, "disturbed")

	var api client.Board
	if err := json.Unmarshal([]byte(body(t, b.get("/api/v1/boards/"+s.task.Slug+"/H200"))), &api); err != nil {
		t.Fatal(err)
	}
	if e := api.Entries[0]; e.User.ID != cleo.ID || e.PooledRuns != 2 || !strings.HasPrefix(e.Disturbed, "1 of 2 runs: clock") || e.SubmissionID != first.SubmissionID {
		t.Errorf("the API's board begins with %+v", e)
	}
	var sub client.Submission
	if err := json.Unmarshal([]byte(body(t, b.get(fmt.Sprintf("/api/v1/submissions/%d", second.SubmissionID)))), &sub); err != nil {
		t.Fatal(err)
	}
	if r := sub.Runs[0]; r.PoolRun != first.ID || *r.ScoreNS != 1.9e3 || r.PooledRuns != 0 || r.Disturbed == "" {
		t.Errorf("the API's second run is %+v", r)
	}
	if csv := body(t, b.get("/tasks/"+s.task.Slug+"/boards/H200/entries.csv")); !strings.Contains(strings.Split(csv, "\n")[1], fmt.Sprintf(",%d,%d,2,1 of 2 runs", first.ID, first.SubmissionID)) {
		t.Errorf("the CSV begins with %q", strings.Split(csv, "\n")[:2])
	}
}
