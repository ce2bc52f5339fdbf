package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// trick is a marker in a hidden source, and in all messages of compilers, programs, and profilers about it.
const trick = "static_assert_of_the_trick"

// trickyScene is a scene with one person's runs in every state. The source and all output of each run contain the
// trick.
type trickyScene struct {
	*webtest.ProfiledScene
	person, author, other accounts.User
	runs                  map[string]work.Run // key: description of the state, such as "does not compile"
}

func newTrickyScene(t *testing.T) *trickyScene {
	s := &trickyScene{ProfiledScene: webtest.NewProfiledScene(t, webtest.Signs(t)), runs: map[string]work.Run{}}
	s.person, s.other = modelstest.Person(t, s.Cfg.Store, "Pat", accounts.RoleUser),
		modelstest.Person(t, s.Cfg.Store, "Olga", accounts.RoleUser)
	s.author = modelstest.Person(t, s.Cfg.Store, "Eve", accounts.RoleCreator)
	// the task's author may not read the sources either
	s.sql("update tasks set owner_id = $1 where id = $2", s.author.ID, s.Task.ID)
	s.runs["does not compile"] = s.Submit(s.person, "H200", "// "+trick)
	w := webtest.NewWorker(t, s.Site, s.runs["does not compile"])
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageBuild})
	w.Log(trick)
	build := trickyStage(job.StageBuild, job.StatusError)
	w.Say(job.Event{Type: job.EventStageEnded, Stage: job.StageBuild, EndedStage: &build})
	s.ends(w.Attempt, job.OutcomeFailed, nil, build)

	s.runs["fails in its test"] = s.Submit(s.person, "H200", "// fails "+trick)
	test := trickyStage(job.StageTest, job.StatusError)
	s.ends(s.Attempt(s.runs["fails in its test"]), job.OutcomeFailed, nil, trickyStage(job.StageBuild, job.StatusPass),
		test)

	s.runs["has findings"] = s.Submit(s.person, "H200", "// findings "+trick)
	found := trickyStage(job.StageSanitize, job.StatusFail)
	found.Cases = []job.CaseResult{{SpecLine: "memcheck", Status: job.StatusFail, Message: trick}}
	found.Findings = []job.Finding{{Tool: "memcheck", Message: trick, Detail: trick, Kernel: trick, File: trick,
		Line: 1, Occurrences: 1}}
	s.ends(s.Attempt(s.runs["has findings"]), job.OutcomeFailed, nil, trickyStage(job.StageBuild, job.StatusPass),
		found)

	s.runs["was lost"] = s.Submit(s.person, "H200", "// lost "+trick)
	lost := trickyStage(job.StageTest, job.StatusError)
	lost.Failure.IsInfrastructureError, lost.Failure.Reason = true, "Worker rack-7 could not evaluate the run: it printed "+
		trick
	s.ends(s.Attempt(s.runs["was lost"]), job.OutcomeLost, nil, lost)

	s.ProfilingWorker()
	ranked := s.Submit(s.person, "H200", webtest.GoodKernel+"// "+trick)
	s.runs["is on the board"] = ranked
	s.End(s.Attempt(ranked), 9e3)
	failed := trickyStage(job.StageProfile, job.StatusError)
	failed.Cases = []job.CaseResult{{Status: job.StatusError, Message: trick}}
	s.ends(s.Attempt(modelstest.ProfileRun(t, s.Cfg.Store, ranked)), job.OutcomeFailed, nil, trickyStage(job.StageBuild, job.StatusPass),
		failed)
	s.addProfiled()
	s.runs["goes on"] = s.Submit(s.person, "H200", "// goes on "+trick)
	s.quote(s.runs["was lost"].SubmissionID)
	s.sql("update submissions set file_name = $1 where user_id = $2", trick+".cu", s.person.ID)
	return s
}

// quote adds comments that quote a submission, while its source is public. Then it makes the source hidden again.
func (s *trickyScene) quote(submissionID int64) {
	s.sql("update tasks set deadline = $1 where id = $2", time.Now().Add(-time.Hour).UTC(), s.Task.ID)
	filed, err := s.Cfg.Store.Submissions.Details(s.T.Context(), submissionID)
	if err != nil {
		s.T.Fatal(err)
	}
	of := filed[submissionID]
	on := comments.Thread{Task: of.Task, Submission: &of.Submission}
	if _, err = s.Cfg.Store.Comments.SetWriteup(s.T.Context(), s.person, on, "#L1 is "+trick); err == nil {
		_, err = s.Cfg.Store.Comments.Add(s.T.Context(), s.other, on, "I see "+trick)
	}
	if err == nil {
		err = s.Cfg.Store.Comments.Report(s.T.Context(), s.author, 1, "it quotes "+trick)
	}
	if err != nil {
		s.T.Fatal(err)
	}
	s.sql("update tasks set deadline = $1 where id = $2", s.Task.Deadline.UTC(), s.Task.ID)
}

func trickyStage(stage job.Stage, status job.Status) job.StageResult {
	r := job.StageResult{Stage: stage, Status: status, StartedAt: time.Now(), EndedAt: time.Now(), Command: "nvcc " + trick,
		Stdout: trick, Stderr: trick}
	if stage == job.StageBuild {
		r.ExtraKeys = map[string]string{"ptxas._Z24" + trick + "Pf.registers": "64"}
	}
	if status != job.StatusPass {
		r.Failure = &job.Failure{Reason: "Compiling submission.cu failed: error: " + trick + ".", ExitCode: 2}
		if stage == job.StageTest { // the judge writes this message
			r.Failure.Reason = "The program ended with exit code 2 in test case 1."
		}
	}
	return r
}

func (s *trickyScene) ends(attempt work.Attempt, outcome job.Outcome, score *work.Score, stages ...job.StageResult) {
	s.T.Helper()
	s.Record(job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: outcome,
		Failure: stages[len(stages)-1].Failure, Stages: stages}, score)
}

func (s *trickyScene) sql(query string, args ...any) {
	s.T.Helper()
	if _, err := s.Cfg.Store.SQL().ExecContext(s.T.Context(), query, args...); err != nil {
		s.T.Fatal(err)
	}
}

// endless matches paths that the test does not request: streams that never end and contain only numbers and topics, and
// paths that other programs serve.
var endless = regexp.MustCompile(
	`^/(boards/events|boards/:version/:device/events|devices/events|static/|clients/|auth/|mcp|api/\+)`)

// surfaces returns the paths of all pages and data that the site shows. Paths about a run are listed for each run.
func (s *trickyScene) surfaces() (list []string) {
	s.T.Helper()
	search := []string{"", "?tab=source", "?case=0", "?case=1"}
	for _, r := range s.App().GetRoutes(true) {
		if r.Method != http.MethodGet || endless.MatchString(r.Path) {
			continue
		}
		for _, run := range s.runs {
			path := strings.NewReplacer("/submissions/:id/runs/:run",
				fmt.Sprintf("/submissions/%d/runs/%d", run.SubmissionID, run.ID),
				"/submissions/:id", fmt.Sprintf("/submissions/%d", run.SubmissionID), "/runs/:id",
				fmt.Sprintf("/runs/%d", run.ID),
				":slug", s.Task.Slug, ":device", "H200", "/users/:id", fmt.Sprintf("/users/%d", s.person.ID),
				"/docs/:page", "/docs/measuring",
				"/webhooks/:id", "/webhooks/1", "/comments/:id", "/comments/1", "/evaluations/:id", "/evaluations/x",
				"/job/:id", "/job/x", ":tag", "beginner", ":form/:lang", "eval/cu",
				":starter", "vectoradd_cpp", ":kind", "vectoradd_cpp", ":digest", "x").Replace(r.Path)
			for _, query := range search {
				if query == "" || strings.Contains(path, "/submissions/") {
					list = append(list, path+query)
				}
			}
		}
	}
	for _, run := range s.runs {
		list = append(list, fmt.Sprintf("/compare?a=%d&b=%d", run.ID, s.First.ID),
			fmt.Sprintf("/compare.json?a=%d&b=%d", s.First.ID, run.ID),
			fmt.Sprintf("/submissions/%d/runs/%d/profile?pin=%d", s.First.SubmissionID, s.First.ID, run.ID),
			fmt.Sprintf("/tasks/%s/solve?from=%d", s.Task.Slug, run.SubmissionID),
			fmt.Sprintf("/tasks/%s?from=%d", s.Task.Slug, run.SubmissionID))
	}
	list = append(list, "/find?q="+trick[:6], "/find?q=Pat", "/search?q="+trick[:6], "/search?q=Pat", "/?q="+trick[:6],
		"/tasks/"+s.Task.Slug+"/boards/H200?q=Pat")
	slices.Sort(list)
	return slices.Compact(list)
}

// TestNoSurfaceTellsStrangersASourceBeforeItsDeadline requests pages, streams, the API, feeds, tables, datasets,
// statements, comparisons, the command palette, and MCP for runs in every state. It does so as a visitor, as another
// person, and as the task's author: none of them may see the source.
func TestNoSurfaceTellsStrangersASourceBeforeItsDeadline(t *testing.T) {
	s := newTrickyScene(t)
	strangers := map[string]*webtest.Browser{"a visitor": s.Browser(), "another person": s.BrowserOf(s.other),
		"the task's author": s.BrowserOf(s.author)}
	wantHidden := func(paths []string) (asked int) {
		t.Helper()
		for _, path := range paths {
			for who, b := range strangers {
				b.Timeout = 30 * time.Second // ends the reading of streams, which never end
				resp := b.Get(path)
				text := webtest.Body(t, resp)
				if asked++; strings.Contains(strings.ReplaceAll(text, "q="+trick[:6], ""), trick) {
					at := strings.Index(text, trick)
					t.Errorf("%s at %s: %s …%s…", who, path, resp.Status, text[max(0, at-150):min(len(text), at+60)])
				}
			}
		}
		return asked
	}
	running := webtest.NewWorker(t, s.Site, s.runs["goes on"])
	running.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageBuild})
	build := trickyStage(job.StageBuild, job.StatusPass)
	running.Say(job.Event{Type: job.EventStageEnded, Stage: job.StageBuild, EndedStage: &build})
	running.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageTest, CaseCount: 2})
	running.Log(trick)
	page, api := fmt.Sprintf("/submissions/%d", s.runs["goes on"].SubmissionID),
		fmt.Sprintf("/api/v1/submissions/%d", s.runs["goes on"].SubmissionID)
	wantHidden([]string{page, api})
	if !strings.Contains(webtest.Body(t, s.BrowserOf(s.person).Get(page)), trick) {
		t.Error("the person does not see the log of the run")
	}
	// ends the run, so that the streams end
	s.ends(running.Attempt, job.OutcomeFailed, nil, build, trickyStage(job.StageTest, job.StatusError))
	s.sql("update runs set state = 'failed', ended_at = queued_at where id = $1", s.runs["was lost"].ID)
	asked := wantHidden(s.surfaces())
	if asked < 300 {
		t.Errorf("only %d surfaces were looked at", asked)
	}
	s.tellAgentsNothing()

	failed := s.runs["does not compile"]
	mine, paths := s.BrowserOf(s.person),
		[]string{"/submissions/%d", "/submissions/%d/source", "/api/v1/submissions/%d", "/api/v1/submissions/%d/events",
			"/api/v1/submissions/%d/source"}
	check := func(who string, b *webtest.Browser) {
		for _, path := range paths {
			if path := fmt.Sprintf(path, failed.SubmissionID); !strings.Contains(webtest.Body(t, b.Get(path)), trick) {
				t.Errorf("%s is not told at %s", who, path)
			}
		}
	}
	check("the person", mine)
	check("an admin", s.BrowserOf(s.Admin))
	var shown struct {
		Runs []struct{ Failure job.Failure }
	}
	webtest.DecodeBody(t, s.Browser().Get(fmt.Sprintf("/api/v1/submissions/%d", failed.SubmissionID)), &shown)
	if f := shown.Runs[0].Failure; f.ExitCode != 2 || !strings.Contains(f.Reason, "build ended with exit code 2") {
		t.Errorf("a stranger is told no kind of failure: %+v", f)
	}
	s.sql("update tasks set deadline = $1 where id = $2", time.Now().Add(-time.Hour).UTC(), s.Task.ID)
	check("a visitor after the deadline", s.Browser())
}

// tellAgentsNothing calls every reading MCP tool with another person's token, and fails the test if a result contains
// the trick.
func (s *trickyScene) tellAgentsNothing() {
	t := s.T.(*testing.T)
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.other.ID, "agent", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := webtest.Connect(t, &sdk.StreamableClientTransport{Endpoint: s.URL + "/mcp",
		HTTPClient: &http.Client{Transport: webtest.Bearer(secret)}, DisableStandaloneSSE: true})
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, tool := range tools.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			continue
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range s.runs {
			arguments := webtest.Object{}
			for name, value := range map[string]any{"id": run.SubmissionID, "task": s.Task.Slug, "device": "H200",
				"a": run.ID, "b": s.First.ID} {
				if strings.Contains(string(schema), `"`+name+`":`) {
					arguments[name] = value
				}
			}
			result, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: arguments})
			if err != nil {
				continue // a tool that refuses these arguments shows nothing
			}
			used++
			text, err := json.Marshal(result)
			if err != nil || strings.Contains(string(text), trick) {
				t.Errorf("the tool %s tells it: %v %s", tool.Name, err, text)
			}
		}
	}
	if used < 20 {
		t.Errorf("only %d calls of tools were answered", used)
	}
}
