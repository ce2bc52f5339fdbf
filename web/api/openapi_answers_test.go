package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"warpboard/clients/go"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
	"warpboard/web"
	"warpboard/web/webtest"
)

// apiDocument has the parts of the OpenAPI document that describe answers.
type apiDocument struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct {
				Schema *jsonschema.Schema `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]*jsonschema.Schema `json:"schemas"`
	} `json:"components"`

	resolved map[*jsonschema.Schema]*jsonschema.Resolved // cache of resolved schemas
}

func documentOf(s *webtest.Site) (d apiDocument) {
	s.T.Helper()
	d.resolved = map[*jsonschema.Schema]*jsonschema.Resolved{}
	text := strings.ReplaceAll(webtest.Body(s.T, s.Browser().Get("/api/v1/openapi.json")), "#/components/schemas/",
		"#/$defs/")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		s.T.Fatal(err)
	}
	for name, schema := range d.Components.Schemas {
		if name != "EvaluationError" { // has further, meaningless keys for clients of an older API
			webtest.Closed(schema)
		}
	}
	return d
}

// check fails the test unless the document lists the answer's status and content type for the operation, and the body
// matches the schema.
func (d apiDocument) check(t *testing.T, operation string, resp *http.Response) {
	t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	responses := d.Paths[path][strings.ToLower(method)].Responses
	response, known := responses[fmt.Sprint(resp.StatusCode)]
	if !known && resp.StatusCode >= 400 {
		response, known = responses["4XX"]
		if resp.StatusCode >= 500 {
			response, known = responses["default"]
		}
	}
	text := webtest.Body(t, resp)
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if known && resp.StatusCode == http.StatusNoContent && text == "" {
		return
	}
	content, typed := response.Content[kind]
	if !known || !typed {
		t.Errorf("%s: an answer of %d as %s is not in the document: %s", operation, resp.StatusCode, kind, text)
		return
	}
	resolved := d.resolved[content.Schema]
	if resolved == nil {
		var err error
		resolved, err = (&jsonschema.Schema{AllOf: []*jsonschema.Schema{content.Schema},
			Defs: d.Components.Schemas}).Resolve(nil)
		if err != nil {
			t.Fatalf("%s: the schema is not sound: %v", operation, err)
		}
		d.resolved[content.Schema] = resolved
	}
	parts := []string{text}
	if kind == "text/event-stream" {
		parts = nil
		for line := range strings.Lines(text) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
				parts = append(parts, data)
			}
		}
	}
	if kind == client.JSONLines {
		parts = strings.Split(strings.TrimSpace(text), "\n")
	}
	if !strings.Contains(kind, "json") && kind != "text/event-stream" || kind == "application/jsonl" {
		return // files have no schema to check
	}
	for _, part := range parts {
		var value any
		if err := json.Unmarshal([]byte(part), &value); err != nil {
			t.Errorf("%s: %v in %s", operation, err, part)
		} else if err := resolved.Validate(value); err != nil {
			t.Errorf("%s: answer %d is not what the document says: %v\n%s", operation, resp.StatusCode, err, part)
		}
	}
	if len(parts) == 0 {
		t.Errorf("%s: an empty answer", operation)
	}
}

// call is one request for an operation. An empty body means that the request has none.
type call struct {
	path, body string
}

// everyAnswer returns requests for each operation, one for each kind of answer that the operation gives.
func everyAnswer(s *webtest.EvalSite) map[string][]call {
	creator := modelstest.Person(s.T, s.Cfg.Store, "creator", accounts.RoleCreator)
	task := modelstest.Task(s.T, s.Cfg.Store, creator, "sort", "CPU")
	run := modelstest.Submit(s.T, s.Cfg.Store, s.User, task)[0]
	modelstest.Finish(s.T, s.Cfg.Store, run, 5000)
	modelstest.Close(s.T, s.Cfg.Store, creator, modelstest.Task(s.T, s.Cfg.Store, creator, "closed", "CPU"))
	tried := modelstest.Validated(s.T, s.Cfg.Store, creator, s.User)
	empty := modelstest.Bundle("empty")
	empty.Definition.Tests, empty.Definition.Benchmarks = nil, nil
	made(s, webtest.Second(s.Cfg.Store.Catalog.CreateTask(s.T.Context(), creator,
		catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: empty})))
	bare := modelstest.Submit(s.T, s.Cfg.Store, s.User, task)[0].SubmissionID
	modelstest.Finish(s.T, s.Cfg.Store, modelstest.Submit(s.T, s.Cfg.Store, s.User,
		modelstest.Tagged(s.T, s.Cfg.Store, creator, "tagged", "level1", 1000))[0], 500)
	_, shared := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel("return x"), "shared": true})
	_, compared := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"ref_kernel": webtest.TorchModel("return x"), "custom_kernel": webtest.TorchModel("return x")})
	done, live := compared["id"].(string), shared["id"].(string)
	s.EndOne(done, kernelrun.Result{Report: kernelrun.Report{Compiled: true, Correctness: true,
		RuntimeStats: &kernelrun.Stats{Mean: 1}, MaxDifference: "nan"}})
	evaluations, submissions := "/api/v1/evaluations/", fmt.Sprintf("/api/v1/submissions/%d", run.SubmissionID)
	request := webtest.JSONText(webtest.Object{"kernel": webtest.TorchModel("return x")})
	comparison := webtest.JSONText(webtest.Object{"ref_kernel": webtest.TorchModel("return x"),
		"custom_kernel": webtest.TorchModel("return x")})
	mistakes := func(path string) []call {
		return []call{{path, "["}, {path, "{}"}, {path, `{"kernel": {"source_code": 5}}`}, {path, `{"num_trails": 3}`},
			{path, strings.Replace(request, "{", `{"num_trails": 3,`, 1)},
			{path, strings.Replace(request, "{", `{"num_trials": 0,`, 1)},
			{path, strings.Replace(request, "{", `{"gpu_type": "none",`, 1)}}
	}
	batch := endedBatch(s, request)
	both, pages := fmt.Sprintf("?a=%d&b=%d", run.ID, run.ID),
		fmt.Sprintf("/submissions/%d/runs/%d", run.SubmissionID, run.ID)
	event := s.EventOf(creator, 0, "sort").Slug
	talked, mine, others := talked(s, creator)
	page, hook, delivery := "?page=2", hookedTo(s), "/deliveries/1/redeliver"
	calls := map[string][]call{
		"GET /api/v1/inbox": {{"/api/v1/inbox", ""},
			{"/api/v1/inbox?before=1", ""}},
		"POST /api/v1/inbox/read": {{"/api/v1/inbox/read?up_to=1", ""},
			{"/api/v1/inbox/read", ""}},
		"GET /api/v1/tasks/{slug}/comments": {{"/api/v1/tasks/talked/comments", ""},
			{"/api/v1/tasks/talked/comments?after=1", ""}, {"/api/v1/tasks/none/comments", ""}},
		"POST /api/v1/tasks/{slug}/comments": {{"/api/v1/tasks/talked/comments",
			`{"text": "*hello*"}`}, {"/api/v1/tasks/talked/comments", `{"text": ""}`},
			{"/api/v1/tasks/talked/comments", `{"text": "x", "writeup": true}`}},
		"GET /api/v1/submissions/{id}/comments": {{talked, ""}, {submissions + "/comments", ""}},
		"POST /api/v1/submissions/{id}/comments": {{talked, `{"text": "#L1", "writeup": true}`},
			{submissions + "/comments", `{"text": "x"}`}},
		"DELETE /api/v1/comments/{id}": {{mine, ""}, {others, ""},
			{"/api/v1/comments/99", ""}},
		"POST /api/v1/comments/{id}/report": {{others + "/report", `{"reason": "spam"}`},
			{others + "/report", `{"reason": "spam"}`}, {others + "/report", `{"why": "spam"}`}},
		"DELETE /api/v1/webhooks/{id}": {{hookedTo(s), ""}, {"/api/v1/webhooks/99", ""}},
		"DELETE /api/v1/tokens/{id}": {{anotherToken(s), ""},
			{"/api/v1/tokens/99", ""}},
		"GET /api/v1/webhooks": {{"/api/v1/webhooks", ""},
			{"/api/v1/webhooks?site=1", ""}},
		"POST /api/v1/webhooks": {{"/api/v1/webhooks",
			`{"url": "https://example.org", "events": ["run.ended"]}`}, {"/api/v1/webhooks", `{"url": "x"}`}},
		"POST /api/v1/webhooks/{id}/test": {{hook + "/test", "{}"},
			{"/api/v1/webhooks/99/test", "{}"}},
		"GET /api/v1/webhooks/{id}/deliveries": {{hook + "/deliveries", ""},
			{hook + "/deliveries?before=1", ""}, {"/api/v1/webhooks/99/deliveries", ""}},
		"POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver": {{hook + delivery, "{}"},
			{"/api/v1/webhooks/99" + delivery, "{}"}},
		"POST /api/v1/evaluations": append(mistakes("/api/v1/evaluations"),
			call{"/api/v1/evaluations", request}, call{"/api/v1/evaluations", comparison}),
		"POST /api/v1/compile": {{"/api/v1/compile", "{}"}, {"/api/v1/compile", `{"source_code": "x", "kernel_type": "cpp"}`}},
		"GET /api/v1/evaluations": {{"/api/v1/evaluations", ""},
			{"/api/v1/evaluations" + page, ""}},
		"GET /api/v1/evaluations/{id}": {{evaluations + live, ""},
			{evaluations + done, ""}, {evaluations + "none", ""}},
		"PATCH /api/v1/evaluations/{id}": {{evaluations + done, `{"shared": true}`},
			{evaluations + done, `{"share": true}`}, {evaluations + done, `{}`}},
		"GET /api/v1/evaluations/{id}/events": {{evaluations + done + "/events", ""},
			{evaluations + "none/events", ""}},
		"POST /api/v1/evaluations/{id}/cancel": {{evaluations + live + "/cancel", "{}"},
			{evaluations + live + "/cancel", "{}"}},
		"POST /api/v1/evaluations/batch": {{"/api/v1/evaluations/batch",
			`{"requests": [` + request + `, {}, 1]}`}, {"/api/v1/evaluations/batch", `{"requests": []}`}},
		"GET /api/v1/evaluations/batch/{id}/results": {{batch + "/results", ""},
			{batch + "/results?after=1", ""}, {evaluations + "batch/none/results", ""}},
		"DELETE /api/v1/evaluations/batch/{id}": {{batch, ""}, {evaluations + "batch/none", ""}},
		"POST /evaluate": append(mistakes("/evaluate"),
			call{"/evaluate", request}),
		"POST /compare": append(mistakes("/compare"),
			call{"/compare", comparison}),
		"POST /": append(mistakes("/"),
			call{"/", `{"ref_code": "x", "custom_code": "x"}`}),
		"GET /job/{id}": {{"/job/" + done, ""}, {"/job/none", ""}},
		"GET /api/v1/tasks/{slug}": {{"/api/v1/tasks/sort", ""},
			{"/api/v1/tasks/empty", ""}, {"/api/v1/tasks/none", ""}},
		"GET /api/v1/boards/{slug}/{device}": {{"/api/v1/boards/sort/CPU", ""},
			{"/api/v1/boards/" + tried.Slug + "/CPU", ""}, {"/api/v1/boards/sort/CPU" + page, ""},
			{"/api/v1/boards/sort/H200", ""}, {"/api/v1/boards/sort/CPU?version=x", ""}},
		"GET /api/v1/tasks/{slug}/draws": {{"/api/v1/tasks/" + tried.Slug + "/draws", ""},
			{"/api/v1/tasks/none/draws", ""}},
		"POST /api/v1/tasks/{slug}/validation": {{"/api/v1/tasks/" + tried.Slug + "/validation",
			""}, {"/api/v1/tasks/" + tried.Slug + "/validation", ""}, {"/api/v1/tasks/none/validation", ""}},
		"GET /api/v1/leaderboards": {{"/api/v1/leaderboards", ""},
			{"/api/v1/leaderboards?device=CPU&from=2026-01-01", ""}, {"/api/v1/leaderboards?from=2026-13-01", ""}},
		"GET /api/v1/events/{slug}/suite": {{"/api/v1/events/" + event + "/suite", ""}, {"/api/v1/events/none/suite", ""},
			{"/api/v1/events/" + event + "/suite?device=none", ""}},
		"GET /api/v1/tags/{tag}/suite": {{"/api/v1/tags/level1/suite", ""}, {"/api/v1/tags/none/suite", ""}},
		"GET /api/v1/events/{slug}": {{"/api/v1/events/" + event, ""},
			{"/api/v1/events/none", ""}, {"/api/v1/events/" + event + "?device=CPU", ""}},
		"POST /api/v1/join": {{"/api/v1/join",
			webtest.JSONText(webtest.Object{"code": s.Invite(task)})}, {"/api/v1/join", `{"code": "none"}`},
			{"/api/v1/join", `{"cod": "x"}`}},
		"DELETE /api/v1/tasks/{slug}/membership": {{"/api/v1/tasks/sort/membership", ""},
			{joinedTask(s, creator), ""}},
		"POST /api/v1/login": {{"/api/v1/login", `{"host": "laptop"}`},
			{"/api/v1/login", `{"hots": "laptop"}`}},
		"POST /api/v1/login/token": {{"/api/v1/login/token", `{"secret": "none"}`}},
		"POST /api/v1/submissions": {{"/api/v1/submissions",
			`{"task": "sort", "file_name": "a.cpp", "source": "x"}`},
			{"/api/v1/submissions", `{"task": "none", "file_name": "a.cpp", "source": "x"}`},
			{"/api/v1/submissions", `{`}},
		"POST /api/v1/tasks/{slug}": {{"/api/v1/tasks/sort", "no zip"}},
		"GET /api/v1/submissions": {{"/api/v1/submissions", ""},
			{"/api/v1/submissions?limit=1", ""}, {"/api/v1/submissions?task=none", ""}},
		"GET /api/v1/submissions/{id}/source": {{submissions + "/source", ""},
			{"/api/v1/submissions/99/source", ""}},
		"GET /api/v1/runs/{id}/statement": {{fmt.Sprintf("/api/v1/runs/%d/statement",
			run.ID), ""}, {"/api/v1/runs/99/statement", ""}},
		"GET /api/v1/submissions/{id}": {{submissions, ""},
			{fmt.Sprintf("/api/v1/submissions/%d", bare), ""}, {"/api/v1/submissions/99", ""}},
		"POST /api/v1/submissions/{id}/cancel": {{fmt.Sprintf("/api/v1/submissions/%d/cancel",
			bare), "{}"}, {submissions + "/cancel", "{}"}},
		"GET /api/v1/submissions/{id}/events": {{submissions + "/events", ""},
			{"/api/v1/submissions/99/events", ""}},
		"GET /api/v1/tasks/{slug}/bundle": {{"/api/v1/tasks/sort/bundle", ""},
			{"/api/v1/tasks/none/bundle", ""}},
		"GET /compare.json": {{"/compare.json" + both, ""},
			{"/compare.json?a=1&b=99", ""}, {"/compare.json", ""}},
		"GET /compare.csv": {{"/compare.csv" + both, ""},
			{"/compare.csv", ""}},
	}
	for _, operation := range []string{"GET /api/v1/tokens", "GET /api/v1/evaluations/stats", "GET /health",
		"GET /stats", "POST /admin/cleanup-jobs", "GET /api/v1/tasks",
		"GET /api/v1/capacity", "GET /api/v1/devices", "GET /api/v1/events", "GET /api/v1/me"} {
		_, path, _ := strings.Cut(operation, " ")
		calls[operation] = []call{{path, ""}}
	}
	for _, kind := range []string{".json", ".txt", ".csv", ".ptx", ".ncu-rep"} {
		calls["GET /submissions/{id}/runs/{run}/profile"+kind] = []call{{pages + "/profile" + kind, ""}}
	}
	for _, file := range []string{"/entries.csv", "/dataset.jsonl", "/dataset.parquet", "/kernelbot.parquet",
		"/README.md"} {
		calls["GET /tasks/{slug}/boards/{device}"+file] = []call{{"/tasks/closed/boards/CPU" + file, ""},
			{"/tasks/sort/boards/CPU" + file, ""}, {"/tasks/sort/boards/none" + file, ""}}
	}
	return calls
}

// made fails the test if err, the error of creating test data, is not nil.
func made(s *webtest.EvalSite, err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

// anotherToken creates a second token for the person who sends the requests, and returns the token's address.
func anotherToken(s *webtest.EvalSite) string {
	s.T.Helper()
	_, token, err := s.Cfg.Store.Accounts.CreateToken(s.T.Context(), s.User.ID, "another", 0)
	made(s, err)
	return fmt.Sprintf("/api/v1/tokens/%d", token.ID)
}

// joinedTask makes a members' board that the person joined, and returns the address of the membership.
func joinedTask(s *webtest.EvalSite, owner accounts.User) string {
	s.T.Helper()
	task := modelstest.Task(s.T, s.Cfg.Store, owner, "joined", "CPU")
	in := task.Settings()
	in.Visibility = catalog.Members
	made(s, webtest.Second(s.Cfg.Store.Catalog.UpdateTask(s.T.Context(), owner, task.ID, in)))
	made(s, webtest.Second(s.Cfg.Store.Members.Join(s.T.Context(), s.User.ID, s.Invite(task))))
	return "/api/v1/tasks/joined/membership"
}

// endedBatch sends a batch of one request, ends it, and returns its address.
func endedBatch(s *webtest.EvalSite, request string) string {
	s.T.Helper()
	_, batch := s.Ask("POST", "/api/v1/evaluations/batch", `{"requests": [`+request+`]}`)
	s.EndOne(batch["entries"].([]any)[0].(webtest.Object)["id"].(string),
		kernelrun.Result{Report: kernelrun.Report{Compiled: true}})
	return "/api/v1/evaluations/batch/" + batch["id"].(string)
}

// talked creates a closed task with a submission, and a comment by the person and one by other. It returns the
// addresses of the submission's comments and of the two comments.
func talked(s *webtest.EvalSite, other accounts.User) (submission, mine, others string) {
	s.T.Helper()
	task := modelstest.Task(s.T, s.Cfg.Store, other, "talked", "CPU")
	run := modelstest.Submit(s.T, s.Cfg.Store, s.User, task)[0]
	var addresses [2]string
	for i, who := range []accounts.User{s.User, other} {
		comment, err := s.Cfg.Store.Comments.Add(s.T.Context(), who, comments.Thread{Task: task}, "From "+who.Name)
		made(s, err)
		addresses[i] = fmt.Sprintf("/api/v1/comments/%d", comment.ID)
	}
	s.Happens()
	modelstest.Close(s.T, s.Cfg.Store, other, task)
	return fmt.Sprintf("/api/v1/submissions/%d/comments", run.SubmissionID), addresses[0], addresses[1]
}

// hookedTo creates a webhook with one delivery and returns the webhook's address.
func hookedTo(s *webtest.EvalSite) string {
	s.T.Helper()
	hook, err := s.Cfg.Store.Webhooks.CreateWebhook(s.T.Context(), s.User,
		webhooks.NewWebhook{URL: "https://example.org/hook", EventKinds: webhooks.PersonalKinds()})
	made(s, err)
	made(s, s.Cfg.Store.Webhooks.TestWebhook(s.T.Context(), s.User, hook.ID))
	return fmt.Sprintf("/api/v1/webhooks/%d", hook.ID)
}

func TestEveryAnswerIsWhatTheDocumentSays(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxDeviceWait = time.Nanosecond }, webtest.Signs(t))
	document, calls := documentOf(s.Site), everyAnswer(s)
	for path, methods := range document.Paths {
		for method := range methods {
			if name := strings.ToUpper(method) + " " + path; calls[name] == nil {
				t.Errorf("no one tries %s", name)
			}
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(calls)) {
		method, _, _ := strings.Cut(operation, " ")
		for _, headers := range [][]string{nil, {"Authorization", "Bearer wb_wrong"}} {
			for _, call := range calls[operation] {
				resp, err := s.Send(t.Context(), method, call.path, call.body, headers...)
				if err != nil {
					t.Fatal(err)
				}
				document.check(t, operation, resp)
				resp.Body.Close()
			}
		}
	}
}
