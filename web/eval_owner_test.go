package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/site"
)

const secretSource = "the_authors_own_trick"

// asker sends requests as someone; headers say as whom.
type asker struct {
	name    string
	browser *browser
	headers []string
}

func (a asker) ask(method, path, text string) (status int, answer string) {
	a.browser.site.t.Helper()
	headers := append([]string{"Content-Type", "application/json"}, a.headers...)
	if method != http.MethodGet {
		headers = append(headers, site.CSRFHeader, a.browser.csrf())
	}
	resp := a.browser.send(method, path, strings.NewReader(text), headers...)
	return resp.StatusCode, body(a.browser.site.t, resp)
}

// post sends a form, as the page would.
func (a asker) post(path string, form url.Values) int {
	a.browser.site.t.Helper()
	return a.browser.post(path, form, a.headers...).StatusCode
}

// strangers are everyone but the evaluation's author and admins.
func (s *evalSite) strangers() []asker {
	other := modelstest.Person(s.t, s.site.Store, "eve", accounts.RoleCreator)
	token, _, err := s.site.Store.Accounts.CreateToken(context.Background(), other.ID, "test", 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return []asker{
		{"a visitor", s.plain(), nil},
		{"another person", s.plain(&other), nil},
		{"another token", s.plain(), []string{"Authorization", "Bearer " + token}},
		{"another key", s.plain(), []string{client.EvaluationKeyHeader, site.RandomText(32)}},
	}
}

// plain is a browser that follows no redirects, signed in as someone or not.
func (s *evalSite) plain(user ...*accounts.User) *browser {
	b := s.browser()
	if len(user) > 0 {
		b = (&scene{testSite: s.testSite}).browserOf(*user[0])
	}
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// readings are all addresses at which an evaluation can be read.
func readings(id string) []string {
	return []string{"/evaluations/" + id, "/playground?from=" + id, "/api/v1/evaluations/" + id,
		"/api/v1/evaluations/" + id + "?wait=1", "/api/v1/evaluations/" + id + "/events", "/job/" + id}
}

func TestEveryAddressOfAnEvaluationIsTried(t *testing.T) {
	s := newEvalSite(t)
	var tried []string
	for _, path := range readings(":id") {
		path, _, _ = strings.Cut(path, "?")
		tried = append(tried, path)
	}
	for _, r := range s.app.GetRoutes(true) {
		about := strings.HasPrefix(r.Path, "/job/") || strings.Contains(r.Path, "evaluations/:id")
		if r.Method == http.MethodGet && about && !slices.Contains(tried, r.Path) {
			t.Errorf("no one looks whether strangers can read at %s", r.Path)
		}
	}
}

func TestOnlyAuthorAndAdminsReadAnUnsharedEvaluation(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.OpenEvalAPI = "all" })
	_, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x # " + secretSource)})
	id := made["id"].(string)
	s.endOne(id, kernelrun.Result{Report: kernelrun.Report{CompilationError: "line 1: " + secretSource}}) // compilers quote
	admin := modelstest.Person(t, s.site.Store, "root", accounts.RoleAdmin)
	author := asker{"the author's token", s.plain(), []string{"Authorization", "Bearer " + s.token}}
	trusted := []asker{author, {"the author's session", s.plain(&s.user), nil}, {"an admin", s.plain(&admin), nil}}
	strangers := s.strangers()

	wantReadable := func(as []asker, want bool) {
		t.Helper()
		for _, a := range as {
			for _, path := range readings(id) {
				if a.browser.cookie(site.SessionCookie) == "" && len(a.headers) > 0 && strings.HasPrefix(path, "/playground") {
					continue // a page, for people who sign in
				}
				status, text := a.ask("GET", path, "")
				found := strings.Contains(text, secretSource)
				if found && !want || !found && want && !strings.HasPrefix(path, "/job/") || (status == 200) != want {
					t.Errorf("%s at %s: status %d, reads the source: %t, want %t", a.name, path, status, found, want)
				}
			}
		}
	}
	wantReadable(trusted, true)
	wantReadable(strangers, false)
	for _, a := range strangers {
		if _, text := a.ask("GET", "/api/v1/evaluations", ""); strings.Contains(text, id) {
			t.Errorf("%s finds it in the list: %s", a.name, text)
		}
		if status, _ := a.ask("PATCH", "/api/v1/evaluations/"+id, `{"shared": true}`); status != 404 {
			t.Errorf("%s shares it: %d", a.name, status)
		}
		if len(a.headers) == 0 && a.post("/evaluations/"+id+"/share", url.Values{"shared": {"true"}}) != 404 {
			t.Errorf("%s shares it on its page", a.name)
		}
	}
	wantReadable(strangers, false)

	if status, text := author.ask("PATCH", "/api/v1/evaluations/"+id, `{"shared": true}`); status != 200 || !strings.Contains(text, `"shared":true`) {
		t.Fatalf("sharing: %d %s", status, text)
	}
	wantReadable(append(trusted, strangers...), true)
	for _, a := range strangers {
		if status, _ := a.ask("PATCH", "/api/v1/evaluations/"+id, `{"shared": false}`); status != 403 {
			t.Errorf("%s takes the sharing back: %d", a.name, status)
		}
	}
	if status := trusted[1].post("/evaluations/"+id+"/share", url.Values{"shared": {"false"}}); status != 303 {
		t.Fatalf("not sharing any more: %d", status)
	}
	wantReadable(strangers, false)
}

func TestUnsharingAnEvaluationEndsItsStreams(t *testing.T) {
	s := newEvalSite(t)
	_, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x"), "shared": true})
	id := made["id"].(string)
	stream := s.browser().get("/api/v1/evaluations/" + id + "/events")
	lines := bufio.NewReader(stream.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "data:") {
			break
		}
	}
	if resp, answer := s.ask("PATCH", "/api/v1/evaluations/"+id, object{"shared": false}); resp.StatusCode != 200 {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	if rest, err := io.ReadAll(lines); err != nil || strings.Contains(string(rest), "data: {") {
		t.Errorf("the stream went on with %q, %v", rest, err)
	}
}

// anonymous submits without a token and returns the evaluation and its key.
func (s *evalSite) anonymous(headers ...string) (e work.Evaluation, key string) {
	s.t.Helper()
	resp, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x")}, append([]string{"Authorization", ""}, headers...)...)
	key, _ = made["key"].(string)
	if resp.StatusCode != 202 || key == "" {
		s.t.Fatalf("%s %v", resp.Status, made)
	}
	if len(headers) == 0 && resp.Header.Get(client.EvaluationKeyHeader) != key {
		s.t.Errorf("the header has another key than the answer: %v", resp.Header)
	}
	e, err := s.site.Store.Work.Evaluation(context.Background(), made["id"].(string))
	if err != nil {
		s.t.Fatal(err)
	}
	return e, key
}

func TestTwoCallersWithoutATokenAtOneAddressAreStrangers(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.OpenEvalAPI, c.EvalLimits.AtOnce = "all", 4 })
	mine, key := s.anonymous()
	theirs, otherKey := s.anonymous()
	again, sameKey := s.anonymous(client.EvaluationKeyHeader, key)
	if mine.Owner == theirs.Owner || mine.Owner == "" || key == otherKey || again.Owner != mine.Owner || sameKey != key {
		t.Fatalf("owners %q, %q and %q", mine.Owner, theirs.Owner, again.Owner)
	}
	if strings.Contains(mine.Owner, key) {
		t.Error("the key itself is stored")
	}
	as := func(key string) []string { return []string{"Authorization", "", client.EvaluationKeyHeader, key} }
	listed := func(key string) (ids []string) {
		t.Helper()
		resp, answer := s.ask("GET", "/api/v1/evaluations", nil, as(key)...)
		if resp.StatusCode != 200 {
			t.Fatalf("%s %v", resp.Status, answer)
		}
		for _, e := range answer["evaluations"].([]any) {
			ids = append(ids, e.(object)["id"].(string))
		}
		return ids
	}
	if diff := cmp.Diff([]string{again.ID, mine.ID}, listed(key)); diff != "" {
		t.Errorf("listed with a key:\n%s", diff)
	}
	if got := listed(""); len(got) != 0 {
		t.Errorf("listed without a key: %v", got)
	}
	path := "/api/v1/evaluations/" + mine.ID
	for who, stranger := range map[string]string{"no key": "", "another key": otherKey, "a made-up key": "guess"} {
		read, _ := s.ask("GET", path, nil, as(stranger)...)
		cancel, _ := s.ask("POST", path+"/cancel", object{}, as(stranger)...)
		if read.StatusCode/100 != 4 || cancel.StatusCode/100 != 4 {
			t.Errorf("with %s: reading %s, cancelling %s", who, read.Status, cancel.Status)
		}
	}
	if resp, job := s.ask("GET", "/job/"+mine.ID, nil, as("")...); resp.StatusCode != 200 || job["status"] != "submitted" {
		t.Errorf("a client of the foreign API, which knows no keys, asks for its job: %s %v", resp.Status, job)
	}
	s.anonymous()
	if resp, _ := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x")}, "Authorization", ""); resp.StatusCode != 429 {
		t.Errorf("a fresh key got round the limit of an address: %s", resp.Status)
	}
	for address, want := range map[string]int{"203.0.113.5": 202, "127.0.0.1": 429} { // behind the proxy of this machine
		resp, answer := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x")}, "Authorization", "", "X-Forwarded-For", address)
		if resp.StatusCode != want {
			t.Errorf("the limit of %s: %s %v", address, resp.Status, answer)
		}
	}
	if resp, answer := s.ask("POST", path+"/cancel", object{}, as(key)...); resp.StatusCode != 200 || answer["state"] != "cancelled" {
		t.Errorf("with the right key: %s %v", resp.Status, answer)
	}
}

func TestCleaningUpDropsOnesOwnJobsAlone(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.OpenEvalAPI = "all" })
	mine, key := s.anonymous()
	s.endOne(mine.ID, kernelrun.Result{})
	if _, err := s.site.Store.SQL().ExecContext(t.Context(), "update evaluations set ended_at = '2020-01-01 00:00:00'"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		key  string
		left bool
	}{{"", true}, {site.RandomText(32), true}, {key, false}} {
		s.ask("POST", "/admin/cleanup-jobs", nil, "Authorization", "", client.EvaluationKeyHeader, step.key)
		if _, err := s.site.Store.Work.Evaluation(t.Context(), mine.ID); (err == nil) != step.left {
			t.Errorf("after a clean-up with the key %q: %v, want it left: %t", step.key, err, step.left)
		}
	}
}

func TestABlockingCallWithoutATokenBringsAKey(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.OpenEvalAPI = "all"; c.EvalLimits.Wait = 1 })
	resp, answer := s.ask("POST", "/evaluate", object{"kernel": torchModel("return x")}, "Authorization", "")
	key := resp.Header.Get(client.EvaluationKeyHeader)
	if key == "" || answer["job_id"] == nil {
		t.Fatalf("%s %v %v", resp.Status, resp.Header, answer)
	}
	if read, e := s.ask("GET", "/api/v1/evaluations/"+answer["job_id"].(string), nil, "Authorization", "", client.EvaluationKeyHeader, key); read.StatusCode != 200 {
		t.Errorf("with its key: %s %v", read.Status, e)
	}
}

func TestAgentsWithoutATokenReadTheirOwnJobsAlone(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.OpenEvalAPI = "all" })
	mine, key := s.anonymous()
	agent := s.agent(t, "")
	if answer, refused := agent.call("get_job_status", object{"job_id": mine.ID}); refused == "" {
		t.Errorf("without the key: %v", answer)
	}
	if answer, refused := agent.call("get_job_status", object{"job_id": mine.ID, "key": key, "wait": 0}); answer["status"] != "submitted" {
		t.Errorf("with the key: %v %s", answer, refused)
	}
}
