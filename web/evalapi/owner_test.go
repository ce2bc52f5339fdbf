package evalapi_test

import (
	"bufio"
	"context"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

const secretSource = "the_authors_own_trick"

// post sends a form, as the page would.
func post(a webtest.Asker, path string, form url.Values) int {
	a.Browser.Site.T.Helper()
	return a.Browser.Post(path, form, a.Headers...).StatusCode
}

func TestOnlyAuthorAndAdminsReadAnUnsharedEvaluation(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	_, made := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel("return x # " + secretSource)})
	id := made["id"].(string)
	// the compiler's output may quote the source
	s.EndOne(id, kernelrun.Result{Report: kernelrun.Report{CompilationError: "line 1: " + secretSource}})
	admin := modelstest.Person(t, s.Cfg.Store, "root", accounts.RoleAdmin)
	author := webtest.Asker{Name: "the author's token", Browser: s.Plain(),
		Headers: []string{"Authorization", "Bearer " + s.Token}}
	trusted := []webtest.Asker{author, {Name: "the author's session", Browser: s.Plain(&s.User), Headers: nil},
		{Name: "an admin", Browser: s.Plain(&admin), Headers: nil}}
	strangers := s.Strangers()

	wantReadable := func(as []webtest.Asker, want bool) {
		t.Helper()
		for _, a := range as {
			for _, path := range webtest.Readings(id) {
				if a.Browser.Cookie(site.SessionCookie) == "" && len(a.Headers) > 0 &&
					strings.HasPrefix(path, "/playground") {
					continue // this page requires a session, not a token
				}
				status, text := a.Ask("GET", path, "")
				found := strings.Contains(text, secretSource)
				if found && !want || !found && want && !strings.HasPrefix(path, "/job/") || (status == 200) != want {
					t.Errorf("%s at %s: status %d, reads the source: %t, want %t", a.Name, path, status, found, want)
				}
			}
		}
	}
	wantReadable(trusted, true)
	wantReadable(strangers, false)
	for _, a := range strangers {
		if _, text := a.Ask("GET", "/api/v1/evaluations", ""); strings.Contains(text, id) {
			t.Errorf("%s finds it in the list: %s", a.Name, text)
		}
		if status, _ := a.Ask("PATCH", "/api/v1/evaluations/"+id, `{"shared": true}`); status != 404 {
			t.Errorf("%s shares it: %d", a.Name, status)
		}
		if len(a.Headers) == 0 && post(a, "/evaluations/"+id+"/share", url.Values{"shared": {"true"}}) != 404 {
			t.Errorf("%s shares it on its page", a.Name)
		}
	}
	wantReadable(strangers, false)

	if status, text := author.Ask("PATCH", "/api/v1/evaluations/"+id, `{"shared": true}`); status != 200 ||
		!strings.Contains(text, `"shared":true`) {
		t.Fatalf("sharing: %d %s", status, text)
	}
	wantReadable(append(trusted, strangers...), true)
	for _, a := range strangers {
		if status, _ := a.Ask("PATCH", "/api/v1/evaluations/"+id, `{"shared": false}`); status != 403 {
			t.Errorf("%s takes the sharing back: %d", a.Name, status)
		}
	}
	if status := post(trusted[1], "/evaluations/"+id+"/share", url.Values{"shared": {"false"}}); status != 303 {
		t.Fatalf("not sharing any more: %d", status)
	}
	wantReadable(strangers, false)
}

func TestUnsharingAnEvaluationEndsItsStreams(t *testing.T) {
	s := webtest.NewEvalSite(t)
	_, made := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel("return x"), "shared": true})
	id := made["id"].(string)
	stream := s.Browser().Get("/api/v1/evaluations/" + id + "/events")
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
	if resp, answer := s.Ask("PATCH", "/api/v1/evaluations/"+id,
		webtest.Object{"shared": false}); resp.StatusCode != 200 {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	if rest, err := io.ReadAll(lines); err != nil || strings.Contains(string(rest), "data: {") {
		t.Errorf("the stream went on with %q, %v", rest, err)
	}
}

// anonymous submits without a token and returns the evaluation and its key.
func anonymous(s *webtest.EvalSite, headers ...string) (e work.Evaluation, key string) {
	s.T.Helper()
	resp, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")},
		append([]string{"Authorization", ""}, headers...)...)
	key, _ = made["key"].(string)
	if resp.StatusCode != 202 || key == "" {
		s.T.Fatalf("%s %v", resp.Status, made)
	}
	if len(headers) == 0 && resp.Header.Get(client.EvaluationKeyHeader) != key {
		s.T.Errorf("the header has another key than the answer: %v", resp.Header)
	}
	e, err := s.Cfg.Store.Work.Evaluation(context.Background(), made["id"].(string))
	if err != nil {
		s.T.Fatal(err)
	}
	return e, key
}

func TestTwoCallersWithoutATokenAtOneAddressAreStrangers(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators, c.EvalLimits.MaxLive = "all", 4 })
	mine, key := anonymous(s)
	theirs, otherKey := anonymous(s)
	again, sameKey := anonymous(s, client.EvaluationKeyHeader, key)
	if mine.Owner == theirs.Owner || mine.Owner == "" || key == otherKey || again.Owner != mine.Owner ||
		sameKey != key {
		t.Fatalf("owners %q, %q and %q", mine.Owner, theirs.Owner, again.Owner)
	}
	if strings.Contains(mine.Owner, key) {
		t.Error("the key itself is stored")
	}
	as := func(key string) []string { return []string{"Authorization", "", client.EvaluationKeyHeader, key} }
	listed := func(key string) (ids []string) {
		t.Helper()
		resp, answer := s.Ask("GET", "/api/v1/evaluations", nil, as(key)...)
		if resp.StatusCode != 200 {
			t.Fatalf("%s %v", resp.Status, answer)
		}
		for _, e := range answer["evaluations"].([]any) {
			ids = append(ids, e.(webtest.Object)["id"].(string))
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
		read, _ := s.Ask("GET", path, nil, as(stranger)...)
		cancel, _ := s.Ask("POST", path+"/cancel", webtest.Object{}, as(stranger)...)
		if read.StatusCode/100 != 4 || cancel.StatusCode/100 != 4 {
			t.Errorf("with %s: reading %s, cancelling %s", who, read.Status, cancel.Status)
		}
	}
	if resp, job := s.Ask("GET", "/job/"+mine.ID, nil, as("")...); resp.StatusCode != 200 ||
		job["status"] != "submitted" {
		t.Errorf("a client of the foreign API, which knows no keys, asks for its job: %s %v", resp.Status, job)
	}
	anonymous(s)
	if resp, _ := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")},
		"Authorization", ""); resp.StatusCode != 429 {
		t.Errorf("a fresh key got round the limit of an address: %s", resp.Status)
	}
	// requests with X-Forwarded-For come from a trusted proxy on this machine
	for address, want := range map[string]int{"203.0.113.5": 202, "127.0.0.1": 429} {
		resp, answer := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")},
			"Authorization", "", "X-Forwarded-For", address)
		if resp.StatusCode != want {
			t.Errorf("the limit of %s: %s %v", address, resp.Status, answer)
		}
	}
	if resp, answer := s.Ask("POST", path+"/cancel", webtest.Object{}, as(key)...); resp.StatusCode != 200 ||
		answer["state"] != "cancelled" {
		t.Errorf("with the right key: %s %v", resp.Status, answer)
	}
}

func TestCleaningUpDropsOnesOwnJobsAlone(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	mine, key := anonymous(s)
	s.EndOne(mine.ID, kernelrun.Result{})
	if _, err := s.Cfg.Store.SQL().ExecContext(t.Context(),
		"update evaluations set queued_at = '2020-01-01 00:00:00', ended_at = '2020-01-01 00:00:00'"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		key  string
		left bool
	}{{"", true}, {site.RandomText(32), true}, {key, false}} {
		s.Ask("POST", "/admin/cleanup-jobs", nil, "Authorization", "", client.EvaluationKeyHeader, step.key)
		if _, err := s.Cfg.Store.Work.Evaluation(t.Context(), mine.ID); (err == nil) != step.left {
			t.Errorf("after a clean-up with the key %q: %v, want it left: %t", step.key, err, step.left)
		}
	}
}

func TestABlockingCallWithoutATokenBringsAKey(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "all"; c.EvalLimits.MaxDeviceWait = 1 })
	resp, answer := s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")},
		"Authorization", "")
	key := resp.Header.Get(client.EvaluationKeyHeader)
	if key == "" || answer["job_id"] == nil {
		t.Fatalf("%s %v %v", resp.Status, resp.Header, answer)
	}
	if read, e := s.Ask("GET", "/api/v1/evaluations/"+answer["job_id"].(string), nil, "Authorization", "",
		client.EvaluationKeyHeader, key); read.StatusCode != 200 {
		t.Errorf("with its key: %s %v", read.Status, e)
	}
}

func TestAgentsWithoutATokenReadTheirOwnJobsAlone(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	mine, key := anonymous(s)
	agent := s.Agent(t, "")
	if answer, refused := agent.Call("get_job_status", webtest.Object{"job_id": mine.ID}); refused == "" {
		t.Errorf("without the key: %v", answer)
	}
	if answer, refused := agent.Call("get_job_status",
		webtest.Object{"job_id": mine.ID, "key": key, "wait": 0}); answer["status"] != "submitted" {
		t.Errorf("with the key: %v %s", answer, refused)
	}
}
