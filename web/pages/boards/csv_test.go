package boards_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// hostileProfile creates a profiled run whose case, kernel, and metrics have texts that a spreadsheet would run as
// formulas, such as =HYPERLINK(1).
func hostileProfile(t *testing.T, s *webtest.ProfiledScene) work.Run {
	t.Helper()
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	attempt, now := s.Attempt(run), time.Now().UTC()
	ranked := job.StageResult{Stage: job.StageRanked, Status: job.StatusPass, StartedAt: now, EndedAt: now,
		Cases: []job.CaseResult{{SpecLine: "=HYPERLINK(1)", Status: job.StatusPass, Runs: 3, Mean: 1500}}}
	s.Record(job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomePassed,
		Stages: []job.StageResult{ranked}}, &work.Score{NS: 1500})
	report := ncu.Report{Kernels: []ncu.Kernel{{ID: 1, Name: "@kernel()", Metrics: map[string]ncu.Metric{
		"drift": ncu.NewMetric("-1.5", "%"), "remark": ncu.NewMetric("=A1", "")}}}}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	profile := modelstest.ProfileRun(t, s.Cfg.Store, run)
	attempt = s.Attempt(profile)
	s.Record(job.Result{RunID: profile.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
		Outcome: job.OutcomePassed,
		Stages: []job.StageResult{{Stage: job.StageProfile, Status: job.StatusPass, StartedAt: now, EndedAt: now,
			Cases: []job.CaseResult{{Status: job.StatusPass}}}},
		Artifacts: []job.Artifact{{Name: "profile.0.json.gz", Type: "application/gzip", Data: webtest.Pack(t, data)}}},
		nil)
	return run
}

func TestDownloadsOfAProfileRunNothingInASpreadsheet(t *testing.T) {
	s := &webtest.ProfiledScene{Scene: webtest.NewScene(t)}
	s.ProfilingWorker()
	run := hostileProfile(t, s)
	rows := func(path string) [][]string {
		t.Helper()
		resp := s.BrowserOf(s.Admin).Get(path)
		webtest.WantStatus(t, resp, http.StatusOK)
		rows, err := csv.NewReader(resp.Body).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	want := [][]string{
		{"kernel", "name", "metric", "unit", "value", "text"},
		{"1", "'@kernel()", "drift", "%", "-1.5", "-1.5"},
		{"1", "'@kernel()", "remark", "", "", "'=A1"},
	}
	if diff := cmp.Diff(want, rows(webtest.ProfilePath(run)+".csv")); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	compared := rows(fmt.Sprintf("/compare.csv?a=%d&b=%d", run.ID, run.ID))
	if len(compared) < 2 || !slices.Equal(compared[1],
		[]string{"times", "mean", "'=HYPERLINK(1)", "ns", "1500", "1500"}) {
		t.Errorf("comparison: %q", compared)
	}
}
