package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/models/work"
)

// addProfiled gives the scene a run whose profile names the trick: in its kernels, and in what the profiler says of them.
func (s *trickyScene) addProfiled() {
	s.t.Helper()
	run := s.submit(s.person, "H200", goodKernel+"// profiled "+trick)
	s.runs["is profiled"] = run
	attempt := s.attempt(run)
	ranked := trickyStage(job.StageRanked, job.StatusPass)
	ranked.Cases = s.repeated(8e3)
	s.record(job.Result{RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeDone,
		Stages: []job.StageResult{trickyStage(job.StageBuild, job.StatusPass), ranked}}, &work.Score{NS: 8e3})
	held := fixtureReport(s.t, "cuda4")
	held.Warnings = append(held.Warnings, "Basic counters of "+trick+" were not measured.")
	for i := range held.Kernels {
		k := &held.Kernels[i]
		k.Name, k.Short, k.Process = fmt.Sprintf("void %s<%d>(float*)", trick, i), trick, trick
		k.Rules = append(k.Rules, ncu.Rule{Name: "Rule", Type: "OPT", Message: "Look at " + trick + "."})
	}
	s.endProfile(run, held)
}

// TestFragmentsHideNamesOfAHiddenSource: kernels have the names that their source gives them. The parts of pages
// that scripts ask for, boards of past days, one kernel of a profile, and the resources of MCP.
func TestFragmentsHideNamesOfAHiddenSource(t *testing.T) {
	s := newTrickyScene(t)
	run := s.runs["is profiled"]
	profile := profilePath(run)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	paths := []string{board + "?at=2999-01-01", board + "?columns=error", board + "?sort=energy", board + "?version=1",
		profile + "?kernel=0", profile + "?kernel=1", profile + ".json?case=2", profile + ".csv?case=2", profile + ".txt?case=2", profile + "?case=0&pin=" + fmt.Sprint(s.first.ID),
		fmt.Sprintf("%s?case=0&pin=%d", profilePath(s.first), run.ID),
		fmt.Sprintf("/compare?a=%d&b=%d", run.ID, run.ID), fmt.Sprintf("/compare?a=%d&b=%d&case=2", s.first.ID, run.ID),
		fmt.Sprintf("/compare.json?a=%d&b=%d", run.ID, s.second.ID), fmt.Sprintf("/compare.csv?a=%d&b=%d", s.second.ID, run.ID)}
	for _, r := range s.runs {
		paths = append(paths, fmt.Sprintf("/submissions/%d", r.SubmissionID), fmt.Sprintf("/submissions/%d/runs/%d", r.SubmissionID, r.ID),
			fmt.Sprintf("/tasks/%s/solve?run=%d", s.task.Slug, r.SubmissionID), fmt.Sprintf("/compare?as=%d&bs=%d", r.SubmissionID, s.first.SubmissionID),
			fmt.Sprintf("/api/v1/submissions/%d", r.SubmissionID))
	}
	// Those who may see one of two sources first: what was drawn for them must not be shown to others.
	reading := []*browser{s.browserOf(s.person), s.browserOf(s.admin)}
	strangers := map[string]*browser{"a visitor": s.browser(), "another person": s.browserOf(s.other), "the task's author": s.browserOf(s.author)}
	for _, path := range paths {
		for _, b := range reading {
			b.get(path)
		}
		for who, b := range strangers {
			for _, headers := range [][]string{nil, {"HX-Request", "true"}} {
				if text := body(t, b.get(path, headers...)); strings.Contains(text, trick) {
					at := strings.Index(text, trick)
					t.Errorf("%s at %s %v: …%s…", who, path, headers, text[max(0, at-150):min(len(text), at+60)])
				}
			}
		}
	}
	s.readNoResource(run)
	for _, path := range []string{profile, profile + ".json", profile + ".csv", profile + ".txt", fmt.Sprintf("/submissions/%d", run.SubmissionID),
		fmt.Sprintf("/api/v1/submissions/%d", run.SubmissionID), fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, run.ID)} {
		if !strings.Contains(body(t, s.browserOf(s.admin).get(path)), trick) {
			t.Errorf("an admin is not told at %s", path)
		}
	}
}

// readNoResource has an agent without rights read a profile as a resource.
func (s *trickyScene) readNoResource(run work.Run) {
	t := s.t.(*testing.T)
	secret, _, err := s.site.Store.Accounts.CreateToken(t.Context(), s.other.ID, "reader", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := connect(t, &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(secret)}, DisableStandaloneSSE: true})
	answer, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: fmt.Sprintf("warpboard://profile/%d", run.SubmissionID)})
	if err != nil || len(answer.Contents) == 0 || !strings.Contains(answer.Contents[0].Text, "Speed of light") {
		t.Fatalf("the profile as a resource: %+v, %v", answer, err)
	}
	if slices.ContainsFunc(answer.Contents, func(c *sdk.ResourceContents) bool { return strings.Contains(c.Text, trick) }) {
		t.Error("the resource tells it")
	}
}

// TestAComparisonTellsNoTextOfATasksOwnProgram: it reads the source, and names the cases of its report as it likes.
func TestAComparisonTellsNoTextOfATasksOwnProgram(t *testing.T) {
	s := newProfiledScene(t)
	version, err := s.site.Store.Catalog.Version(t.Context(), s.task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	version.Definition.OwnHarness = true
	definition, err := json.Marshal(version.Definition)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.site.Store.SQL().ExecContext(t.Context(), "update task_versions set definition = $1 where id = $2", string(definition), version.ID); err != nil {
		t.Fatal(err)
	}
	run := s.submit(s.ada, "H200", goodKernel)
	attempt := s.attempt(run)
	ranked := trickyStage(job.StageRanked, job.StatusPass)
	ranked.Cases = append(s.repeated(8e3), job.CaseResult{Index: 3, Spec: trick, Status: job.StatusPass, Mean: 8e3, Message: trick})
	s.record(job.Result{RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeDone, Stages: []job.StageResult{ranked}}, &work.Score{NS: 8e3})
	told := 0
	for _, path := range []string{"/compare?a=%d&b=%d", "/compare.json?a=%d&b=%d", "/compare.csv?a=%d&b=%d"} {
		path = fmt.Sprintf(path, run.ID, run.ID)
		if strings.Contains(body(t, s.browserOf(s.ada).get(path)), trick) {
			told++
		}
		if text := body(t, s.browser().get(path)); strings.Contains(text, trick) {
			t.Errorf("%s tells a visitor", path)
		}
	}
	if told == 0 {
		t.Error("the person is told nothing")
	}
}

// TestNoSharedCacheKeepsAHiddenSource: a proxy may keep an answer that does not say whose it is, and give it to the next who asks.
func TestNoSharedCacheKeepsAHiddenSource(t *testing.T) {
	s := newTrickyScene(t)
	s.end(s.attempt(s.runs["goes on"]), 7e3) // streams end
	s.sql("update runs set state = 'failed', ended_at = queued_at where ended_at is null")
	mine, told := s.browserOf(s.person), 0
	mine.Timeout = 30 * time.Second
	for _, path := range s.surfaces() {
		resp := mine.get(path)
		if !strings.Contains(body(t, resp), trick) {
			continue
		}
		told++
		if kept := resp.Header.Get("Cache-Control"); !strings.Contains(kept, "private") && !strings.Contains(kept, "no-store") {
			t.Errorf("%s answered %s with Cache-Control %q", path, resp.Status, kept)
		}
	}
	if told < 40 {
		t.Errorf("only %d answers tell the person of their source", told)
	}
}
