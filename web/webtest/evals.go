package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/membership"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/site"
)

// Impatient makes the site start the responses of waiting evaluations after 30 ms, as if a proxy would soon end them.
func Impatient(c *web.Config) { c.Limits.FirstByteDelay = 30 * time.Millisecond }

// Finish ends a waiting evaluation with a correct result, as a worker does.
func (s *EvalSite) Finish(e work.Evaluation) {
	s.T.Helper()
	s.End(e, "w1", `{"compiled": true, "correctness": true, "worker": "w1"}`)
}

// End ends a waiting evaluation as a worker does, with a report (JSON).
func (s *EvalSite) End(e work.Evaluation, worker, report string, samples ...work.CounterSample) {
	s.T.Helper()
	attempt, err := s.Cfg.Store.Work.StartAttempt(context.Background(), e.WorkRef())
	if err != nil {
		s.T.Fatal(err)
	}
	result := modelstest.Evaluated(attempt, report)
	result.Machine.Worker = worker
	out, err := s.Cfg.Store.Work.RecordResult(context.Background(), result, modelstest.Completed(samples...))
	if err != nil || !out.AttemptAccepted {
		s.T.Fatalf("the end is not accepted: %+v, %v", out, err)
	}
}

// Asker is a client with a browser and fixed headers, which identify it, for example with a token.
type Asker struct {
	Name    string
	Browser *Browser
	Headers []string
}

// Ask sends a request and returns the status and the body of the response.
func (a Asker) Ask(method, path, text string) (status int, answer string) {
	a.Browser.Site.T.Helper()
	headers := append([]string{"Content-Type", "application/json"}, a.Headers...)
	if method != http.MethodGet {
		headers = append(headers, site.CSRFHeader, a.Browser.CSRF())
	}
	resp := a.Browser.Send(method, path, strings.NewReader(text), headers...)
	return resp.StatusCode, Body(a.Browser.Site.T, resp)
}

// Strangers returns clients that must not read the evaluation: a visitor, and another person, token, and key.
func (s *EvalSite) Strangers() []Asker {
	other := modelstest.Person(s.T, s.Cfg.Store, "eve", accounts.RoleCreator)
	token, _, err := s.Cfg.Store.Accounts.CreateToken(context.Background(), other.ID, "test", 0)
	if err != nil {
		s.T.Fatal(err)
	}
	return []Asker{
		{"a visitor", s.Plain(), nil},
		{"another person", s.Plain(&other), nil},
		{"another token", s.Plain(), []string{"Authorization", "Bearer " + token}},
		{"another key", s.Plain(), []string{client.EvaluationKeyHeader, site.RandomText(32)}},
	}
}

// Plain returns a browser that does not follow redirects. With a user, it is signed in.
func (s *EvalSite) Plain(user ...*accounts.User) *Browser {
	b := s.Browser()
	if len(user) > 0 {
		b = (&Scene{Site: s.Site}).BrowserOf(*user[0])
	}
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// Readings returns all paths that show an evaluation.
func Readings(id string) []string {
	return []string{"/evaluations/" + id, "/playground?from=" + id, "/api/v1/evaluations/" + id,
		"/api/v1/evaluations/" + id + "?wait=1", "/api/v1/evaluations/" + id + "/events", "/job/" + id}
}

// Object is a JSON object.
type Object = map[string]any

// EvalSite is a site with a user of the evaluation API and their token.
type EvalSite struct {
	*Site
	Token string
	User  accounts.User
}

// NewEvalSite starts a site for evaluations. The store has a heartbeat of a worker with a CPU, but no worker runs.
func NewEvalSite(t testing.TB, changes ...func(*web.Config)) *EvalSite {
	t.Helper()
	return NewEvalSiteOn(t, modelstest.Open(t), changes...)
}

// NewEvalSiteOn starts a site like NewEvalSite, on an existing store.
func NewEvalSiteOn(t testing.TB, store *models.Store, changes ...func(*web.Config)) *EvalSite {
	t.Helper()
	s := &EvalSite{Site: StartAt(t, "127.0.0.1:0", store, changes...)}
	s.User = modelstest.Person(t, s.Cfg.Store, "ada", accounts.RoleUser)
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(context.Background(), s.User.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Token = secret
	s.beat()
	return s
}

func (s *EvalSite) beat() {
	s.T.Helper()
	modelstest.RecordHeartbeat(s.T, s.Cfg.Store, job.Heartbeat{Worker: "w1", Time: time.Now(), WorkerStartedAt: time.Now(),
		Slots: []job.Slot{{Device: "CPU", Machine: job.Machine{Torch: "1.13"}}}})
}

// Send sends a request with the user's token, unless headers replace it. body is JSON text, or a value to encode as
// JSON.
func (s *EvalSite) Send(ctx context.Context, method, path string, body any, headers ...string) (*http.Response, error) {
	s.T.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.T.Fatal(err)
		}
		text = string(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader([]byte(text)))
	if err != nil {
		s.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.Token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
}

// Ask sends a request like Send. It fails the test if there is no response, and also returns the decoded JSON.
func (s *EvalSite) Ask(method, path string, body any, headers ...string) (*http.Response, Object) {
	s.T.Helper()
	resp, err := s.Send(context.Background(), method, path, body, headers...)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { resp.Body.Close() })
	var answer Object
	DecodeBody(s.T, resp, &answer)
	return resp, answer
}

// TorchModel returns a KernelCode object for a torch kernel, whose method forward has the given body.
func TorchModel(body string) Object {
	return Object{"kernel_type": "torch",
		"source_code": "import ctypes, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        " +
			body +
			"\ndef get_inputs():\n    return [torch.rand(1000) + 1]\ndef get_init_inputs():\n    return []\n"}
}

// WaitForState waits until the user's newest evaluation has a state, and returns the evaluation.
func (s *EvalSite) WaitForState(state work.EvaluationState) work.Evaluation {
	s.T.Helper()
	for limit := time.Now().Add(tier.Patience()); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		list, err := s.Cfg.Store.Work.Evaluations(context.Background(), work.Requester{User: s.User}, 0, 1)
		if err != nil {
			s.T.Fatal(err)
		}
		if len(list) > 0 && list[0].State == state {
			return list[0]
		}
	}
	s.T.Fatalf("no evaluation became %s", state)
	return work.Evaluation{}
}

// Closed changes a schema of the API document so that objects with keys that it does not list are invalid. With it,
// tests find keys of responses that the document lacks. The published document allows further keys, because clients
// must accept them.
func Closed(schema *jsonschema.Schema) {
	if schema == nil {
		return
	}
	if schema.AdditionalProperties == nil && len(schema.Properties) > 0 {
		schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, property := range schema.Properties {
		Closed(property)
	}
	Closed(schema.Items)
}

// Invite creates an invite code of a task.
func (s *Site) Invite(task catalog.Task) string {
	s.T.Helper()
	code, _, err := s.Cfg.Store.Members.CreateInvite(s.T.Context(), accounts.User{Role: accounts.RoleAdmin}, task.ID,
		membership.NewInvite{})
	if err != nil {
		s.T.Fatal(err)
	}
	return code
}

// EndOne ends an evaluation with a result, like a worker.
func (s *EvalSite) EndOne(id string, result kernelrun.Result) {
	s.T.Helper()
	s.End(work.Evaluation{ID: id}, "w1", JSONText(result))
}
