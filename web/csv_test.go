package web

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
	"warpboard/models/work"
)

// hostileProfile is a run whose bundle's program called a case like a formula, and whose kernel and
// metrics have such names and texts too.
func hostileProfile(t *testing.T, s *profiledScene) work.Run {
	t.Helper()
	run := s.submit(s.ada, "H200", goodKernel)
	attempt, now := s.attempt(run), time.Now().UTC()
	ranked := job.StageResult{Stage: job.StageRanked, Status: job.StatusPass, Started: now, Ended: now,
		Cases: []job.CaseResult{{Spec: "=HYPERLINK(1)", Status: job.StatusPass, Runs: 3, Mean: 1500}}}
	s.record(job.Result{RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeDone,
		Stages: []job.StageResult{ranked}}, &work.Score{NS: 1500})
	report := ncu.Report{Kernels: []ncu.Kernel{{ID: 1, Name: "@kernel()", Metrics: map[string]ncu.Metric{
		"drift": ncu.NewMetric("-1.5", "%"), "remark": ncu.NewMetric("=A1", "")}}}}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := s.site.Store.Work.ProfileRun(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	attempt = s.attempt(profile)
	s.record(job.Result{RunID: profile.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeDone,
		Stages: []job.StageResult{{Stage: job.StageProfile, Status: job.StatusPass, Started: now, Ended: now,
			Cases: []job.CaseResult{{Status: job.StatusPass}}}},
		Artifacts: []job.Artifact{{Name: "profile.0.json.gz", Type: "application/gzip", Data: pack(t, data)}}}, nil)
	return run
}

func TestDownloadsOfAProfileRunNothingInASpreadsheet(t *testing.T) {
	s := &profiledScene{scene: newScene(t)}
	s.profilingWorker()
	run := hostileProfile(t, s)
	rows := func(path string) [][]string {
		t.Helper()
		resp := s.browserOf(s.admin).get(path)
		wantStatus(t, resp, http.StatusOK)
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
	if diff := cmp.Diff(want, rows(profilePath(run)+".csv")); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	compared := rows(fmt.Sprintf("/compare.csv?a=%d&b=%d", run.ID, run.ID))
	if len(compared) < 2 || !slices.Equal(compared[1], []string{"times", "mean", "'=HYPERLINK(1)", "ns", "1500", "1500"}) {
		t.Errorf("comparison: %q", compared)
	}
}
