package web_test

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
	"warpboard/web/webtest"
)

// addProfiled adds a run whose profile contains the trick: in the names of kernels, and in the profiler's messages.
func (s *trickyScene) addProfiled() {
	s.T.Helper()
	run := s.Submit(s.person, "H200", webtest.GoodKernel+"// profiled "+trick)
	s.runs["is profiled"] = run
	attempt := s.Attempt(run)
	ranked := trickyStage(job.StageRanked, job.StatusPass)
	ranked.Cases = s.Repeated(8e3)
	s.Record(job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomePassed,
		Stages: []job.StageResult{trickyStage(job.StageBuild, job.StatusPass), ranked}}, &work.Score{NS: 8e3})
	held := webtest.FixtureReport(s.T, "cuda4")
	held.Warnings = append(held.Warnings, "Basic counters of "+trick+" were not measured.")
	for i := range held.Kernels {
		k := &held.Kernels[i]
		k.Name, k.ShortName, k.ProcessName = fmt.Sprintf("void %s<%d>(float*)", trick, i), trick, trick
		k.Rules = append(k.Rules, ncu.Rule{Name: "Rule", Severity: "OPT", Message: "Look at " + trick + "."})
	}
	s.EndProfile(run, held)
}

// TestFragmentsHideNamesOfAHiddenSource checks that strangers do not see kernel names of a hidden source, because names
// are part of the source. It requests fragments that scripts load, past days of boards, single kernels of a profile,
// and MCP resources.
func TestFragmentsHideNamesOfAHiddenSource(t *testing.T) {
	s := newTrickyScene(t)
	run := s.runs["is profiled"]
	profile := webtest.ProfilePath(run)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	paths := []string{board + "?at=2999-01-01", board + "?columns=error", board + "?version=1",
		profile + "?kernel=0", profile + "?kernel=1", profile + ".json?case=2", profile + ".csv?case=2",
		profile + ".txt?case=2", profile + "?case=0&pin=" + fmt.Sprint(s.First.ID),
		fmt.Sprintf("%s?case=0&pin=%d", webtest.ProfilePath(s.First), run.ID),
		fmt.Sprintf("/compare?a=%d&b=%d", run.ID, run.ID), fmt.Sprintf("/compare?a=%d&b=%d&case=2", s.First.ID, run.ID),
		fmt.Sprintf("/compare.json?a=%d&b=%d", run.ID, s.Second.ID),
		fmt.Sprintf("/compare.csv?a=%d&b=%d", s.Second.ID, run.ID)}
	for _, r := range s.runs {
		paths = append(paths, fmt.Sprintf("/submissions/%d", r.SubmissionID),
			fmt.Sprintf("/submissions/%d/runs/%d", r.SubmissionID, r.ID),
			fmt.Sprintf("/tasks/%s/solve?run=%d", s.Task.Slug, r.SubmissionID),
			fmt.Sprintf("/compare?as=%d&bs=%d", r.SubmissionID, s.First.SubmissionID),
			fmt.Sprintf("/api/v1/submissions/%d", r.SubmissionID))
	}
	// People who may see the source load each page first: strangers must not get what was cached for them.
	reading := []*webtest.Browser{s.BrowserOf(s.person), s.BrowserOf(s.Admin)}
	strangers := map[string]*webtest.Browser{"a visitor": s.Browser(), "another person": s.BrowserOf(s.other),
		"the task's author": s.BrowserOf(s.author)}
	for _, path := range paths {
		for _, b := range reading {
			b.Get(path)
		}
		for who, b := range strangers {
			for _, headers := range [][]string{nil, {"HX-Request", "true"}} {
				if text := webtest.Body(t, b.Get(path, headers...)); strings.Contains(text, trick) {
					at := strings.Index(text, trick)
					t.Errorf("%s at %s %v: …%s…", who, path, headers, text[max(0, at-150):min(len(text), at+60)])
				}
			}
		}
	}
	s.readNoResource(run)
	for _, path := range []string{profile, profile + ".json", profile + ".csv", profile + ".txt",
		fmt.Sprintf("/submissions/%d", run.SubmissionID),
		fmt.Sprintf("/api/v1/submissions/%d", run.SubmissionID),
		fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, run.ID)} {
		if !strings.Contains(webtest.Body(t, s.BrowserOf(s.Admin).Get(path)), trick) {
			t.Errorf("an admin is not told at %s", path)
		}
	}
}

// readNoResource reads a profile as an MCP resource with another person's token, and fails the test if it contains the
// trick.
func (s *trickyScene) readNoResource(run work.Run) {
	t := s.T.(*testing.T)
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.other.ID, "reader", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := webtest.Connect(t, &sdk.StreamableClientTransport{Endpoint: s.URL + "/mcp",
		HTTPClient: &http.Client{Transport: webtest.Bearer(secret)}, DisableStandaloneSSE: true})
	answer, err := a.ReadResource(t.Context(),
		&sdk.ReadResourceParams{URI: fmt.Sprintf("warpboard://profile/%d", run.SubmissionID)})
	if err != nil || len(answer.Contents) == 0 || !strings.Contains(answer.Contents[0].Text, "Speed of light") {
		t.Fatalf("the profile as a resource: %+v, %v", answer, err)
	}
	if slices.ContainsFunc(answer.Contents,
		func(c *sdk.ResourceContents) bool { return strings.Contains(c.Text, trick) }) {
		t.Error("the resource tells it")
	}
}

// TestAComparisonTellsNoTextOfATasksOwnProgram checks that strangers see no text of a report by the task's own harness.
// Such a harness reads the source, and can copy it into the report.
func TestAComparisonTellsNoTextOfATasksOwnProgram(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	version, err := s.Cfg.Store.Catalog.Version(t.Context(), s.Task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	version.Definition.HasOwnHarness = true
	definition, err := json.Marshal(version.Definition)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.SQL().ExecContext(t.Context(), "update task_versions set definition = $1 where id = $2",
		string(definition), version.ID); err != nil {
		t.Fatal(err)
	}
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	attempt := s.Attempt(run)
	ranked := trickyStage(job.StageRanked, job.StatusPass)
	ranked.Cases = append(s.Repeated(8e3),
		job.CaseResult{Index: 3, SpecLine: trick, Status: job.StatusPass, Mean: 8e3, Message: trick})
	s.Record(job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomePassed,
		Stages: []job.StageResult{ranked}}, &work.Score{NS: 8e3})
	count := 0
	for _, path := range []string{"/compare?a=%d&b=%d", "/compare.json?a=%d&b=%d", "/compare.csv?a=%d&b=%d"} {
		path = fmt.Sprintf(path, run.ID, run.ID)
		if strings.Contains(webtest.Body(t, s.BrowserOf(s.Ada).Get(path)), trick) {
			count++
		}
		if text := webtest.Body(t, s.Browser().Get(path)); strings.Contains(text, trick) {
			t.Errorf("%s tells a visitor", path)
		}
	}
	if count == 0 {
		t.Error("the person is told nothing")
	}
}

// TestNoSharedCacheKeepsAHiddenSource checks that an answer with a hidden source forbids shared caching. A proxy could
// otherwise return it to the next visitor.
func TestNoSharedCacheKeepsAHiddenSource(t *testing.T) {
	s := newTrickyScene(t)
	s.End(s.Attempt(s.runs["goes on"]), 7e3) // ends the run, so that the streams end
	s.sql("update runs set state = 'failed', ended_at = queued_at where ended_at is null")
	mine, count := s.BrowserOf(s.person), 0
	mine.Timeout = 30 * time.Second
	for _, path := range s.surfaces() {
		resp := mine.Get(path)
		if !strings.Contains(webtest.Body(t, resp), trick) {
			continue
		}
		count++
		if kept := resp.Header.Get("Cache-Control"); !strings.Contains(kept, "private") &&
			!strings.Contains(kept, "no-store") {
			t.Errorf("%s answered %s with Cache-Control %q", path, resp.Status, kept)
		}
	}
	if count < 40 {
		t.Errorf("only %d answers tell the person of their source", count)
	}
}
