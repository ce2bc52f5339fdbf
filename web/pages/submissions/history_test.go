package submissions_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// resultWithoutScore returns a result without a score for Ada's newest run.
func resultWithoutScore(s *webtest.Scene) job.Result {
	s.T.Helper()
	result := modelstest.Result(s.Attempt(s.Newest(s.Ada)), 1e4)
	result.ScoreNS = nil
	return result
}

// TestTheHistoryShowsTheTimeOfABenchmark checks that a benchmark, which has no score, is listed with the geometric mean
// of its cases.
func TestTheHistoryShowsTheTimeOfABenchmark(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	b.Upload("/tasks/"+s.Task.Slug+"/solve", "", "", nil,
		url.Values{"source": {webtest.GoodKernel}, "device": {"H200"}, "mode": {"benchmark"}})
	result := resultWithoutScore(s)
	result.Stages = append(result.Stages[:1], result.Stages[2])
	result.Stages[1].Cases = webtest.TimedCases(1e4) // three cases of 10, 40, and 160 µs
	s.Record(result, nil)
	history := webtest.Document(t, b.Get("/tasks/"+s.Task.Slug+"/solve/runs", "HX-Request", "true"), http.StatusOK)
	if row := webtest.Words(history.Find("tbody tr").First()); !strings.Contains(row, "40.00 µs") {
		t.Errorf("the history says %q", row)
	}
}
