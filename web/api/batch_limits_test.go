package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

func TestABatchIsItsCallersAlone(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	requests := someRequests(2)
	requests[0].(webtest.Object)["shared"] = true
	path, ids := batch(s, requests)
	for _, id := range ids {
		endsOne(s, id)
	}
	for _, a := range s.Strangers() {
		read, text := a.Ask("GET", path+"/results", "")
		cancelled, _ := a.Ask("DELETE", path, "")
		if read != 404 || cancelled != 404 || strings.Contains(text, ids[0]) {
			t.Errorf("%s: reads with %d, cancels with %d", a.Name, read, cancelled)
		}
	}
	admin := modelstest.Person(t, s.Cfg.Store, "root", accounts.RoleAdmin)
	if status, _ := (webtest.Asker{Name: "an admin", Browser: s.Plain(&admin), Headers: nil}).Ask("GET",
		path+"/results", ""); status != 200 {
		t.Errorf("an admin: %d", status)
	}

	resp, made := s.Ask("POST", batchPath, webtest.Object{"requests": someRequests(1)}, "Authorization", "")
	key, _ := made["key"].(string)
	if resp.StatusCode != 202 || key == "" || resp.Header.Get(client.EvaluationKeyHeader) != key {
		t.Fatalf("without a token: %s %v", resp.Status, made)
	}
	path = batchPath + "/" + made["id"].(string)
	for sent, want := range map[string]int{key: 204, "": 404} {
		if resp, err := s.Send(t.Context(), "DELETE", path, nil, "Authorization", "", client.EvaluationKeyHeader,
			sent); err != nil || resp.StatusCode != want {
			t.Errorf("with the key %q: %v %v", sent, resp, err)
		}
	}
	if resp, _ := webtest.NewEvalSite(t).Ask("POST", batchPath, webtest.Object{"requests": someRequests(1)},
		"Authorization", ""); resp.StatusCode != 401 {
		t.Errorf("where a token is needed: %s", resp.Status)
	}
}

func TestTheLimitsOfAnHourCountEachRequestOfABatch(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		batch(s, someRequests(4))
		resp, made := s.Ask("POST", batchPath, webtest.Object{"requests": someRequests(4)})
		last := made["entries"].([]any)[3].(webtest.Object)["problem"].(webtest.Object)
		if resp.StatusCode != 202 || made["taken"] != 1.0 || last["status"] != 429.0 ||
			!strings.Contains(fmt.Sprint(last), "At most 5 evaluations an hour") {
			t.Errorf("%s, %v taken, %v", resp.Status, made["taken"], last)
		}
	}, func(c *web.Config) { c.EvalLimits.MaxPerHour = 5 })
}

func TestABatchMayHaveMoreThanMayBeAtOnce(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxLive = 2 })
	batch(s, someRequests(5))
	for range 2 {
		if resp, answer := s.Ask("POST", "/api/v1/evaluations", someRequests(1)[0]); resp.StatusCode != 202 {
			t.Errorf("one beside the batch: %s %v", resp.Status, answer)
		}
	}
	if resp, _ := s.Ask("POST", "/api/v1/evaluations", someRequests(1)[0]); resp.StatusCode != 429 {
		t.Errorf("a third: %s", resp.Status)
	}
}

func TestARepeatedKeyReturnsTheSameEvaluation(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		once := []string{client.IdempotencyHeader, "once"}
		_, ids := batch(s, someRequests(3), once...)
		endsOne(s, ids[1])
		if _, again := batch(s, someRequests(3), once...); !slices.Equal(ids, again) {
			t.Errorf("the batch became %v, then %v", ids, again)
		}
		one := []string{client.IdempotencyHeader, "one"}
		_, first := s.Ask("POST", "/api/v1/evaluations", someRequests(1)[0], one...)
		if resp, second := s.Ask("POST", "/api/v1/evaluations", someRequests(1)[0], one...); resp.StatusCode != 202 ||
			first["id"] != second["id"] {
			t.Errorf("%s: %v, then %v", resp.Status, first["id"], second["id"])
		}
		for name, conflict := range map[string]func() (*http.Response, webtest.Object){
			"another batch": func() (*http.Response, webtest.Object) {
				return s.Ask("POST", batchPath, webtest.Object{"requests": someRequests(2)}, once...)
			},
			"one with a batch's key": func() (*http.Response, webtest.Object) {
				return s.Ask("POST", "/api/v1/evaluations", someRequests(1)[0], once...)
			},
			"a batch with one's key": func() (*http.Response, webtest.Object) {
				return s.Ask("POST", batchPath, webtest.Object{"requests": someRequests(1)}, one...)
			},
			"another one": func() (*http.Response, webtest.Object) {
				return s.Ask("POST", "/api/v1/evaluations", someRequests(2)[1], one...)
			},
		} {
			if resp, answer := conflict(); resp.StatusCode != 409 {
				t.Errorf("%s: %s %v", name, resp.Status, answer)
			}
		}
		long := []string{client.IdempotencyHeader, strings.Repeat("k", 201)}
		if resp, _ := s.Ask("POST", batchPath, webtest.Object{"requests": someRequests(1)},
			long...); resp.StatusCode != 422 {
			t.Errorf("a long key: %s", resp.Status)
		}
	})
}
