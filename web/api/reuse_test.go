package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/accounts"
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// asks submits a kernel that may reuse an earlier result (reuse_result), and returns the evaluation.
func asks(s *webtest.EvalSite, body string, headers ...string) webtest.Object {
	s.T.Helper()
	resp, made := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel(body), "reuse_result": true}, headers...)
	if resp.StatusCode != http.StatusAccepted {
		s.T.Fatalf("%s %v", resp.Status, made)
	}
	return made
}

func read(s *webtest.EvalSite, id any, headers ...string) webtest.Object {
	s.T.Helper()
	resp, e := s.Ask("GET", "/api/v1/evaluations/"+id.(string), nil, headers...)
	if resp.StatusCode != http.StatusOK {
		s.T.Fatalf("%s %v", resp.Status, e)
	}
	return e
}

// waiting returns the number of evaluations in the queue for workers. Those that wait for another one's result do not
// count.
func waiting(s *webtest.EvalSite) int {
	s.T.Helper()
	queue, err := s.Cfg.Store.Work.WaitingQueue(context.Background())
	if err != nil {
		s.T.Fatal(err)
	}
	return len(queue)
}

func compiled() kernelrun.Result { return kernelrun.Result{Report: kernelrun.Report{Compiled: true}} }

func TestEqualEvaluationsShareOneMeasurement(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		first, second, other := asks(s, "return x"), asks(s, "return x"), asks(s, "return x + 1")
		if n := waiting(s); n != 2 {
			t.Fatalf("%d wait for a worker, want the first and the other", n)
		}
		s.EndOne(first["id"].(string), compiled())
		// one sent before and one after the first evaluation ended
		for _, id := range []any{second["id"], asks(s, "return x")["id"]} {
			e := read(s, id)
			result, _ := e["result"].(webtest.Object)
			if e["state"] != "completed" || e["reused"] != first["id"] || result["reused"] != first["id"] ||
				result["job_id"] != id {
				t.Errorf("%v", e)
			}
		}
		if e := read(s, first["id"]); e["reused"] != nil || e["state"] != "completed" {
			t.Errorf("the measured one: %v", e)
		}
		if e := read(s, other["id"]); e["state"] != "submitted" {
			t.Errorf("another kernel: %v", e)
		}
	})
}

func TestOnlyTheSameCallerSharesResults(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		first := asks(s, "return x")
		s.EndOne(first["id"].(string), compiled())
		for _, who := range s.Strangers()[2:] {
			status, _ := who.Ask("POST", "/api/v1/evaluations",
				webtest.JSONText(webtest.Object{"kernel": webtest.TorchModel("return x"), "reuse_result": true}))
			if status != http.StatusAccepted && status != http.StatusUnauthorized {
				t.Fatalf("%s: %d", who.Name, status)
			}
		}
		if n := waiting(s); n == 0 {
			t.Error("another person got a result that is not theirs")
		}
	})
}

func TestACallerWhoDidNotSayReuseGetsAMeasurement(t *testing.T) {
	s := webtest.NewEvalSite(t)
	s.EndOne(asks(s, "return x")["id"].(string), compiled())
	_, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")})
	if e := read(s, made["id"]); e["state"] != "submitted" || e["reused"] != nil {
		t.Errorf("%v", e)
	}
}

func TestTheNextOfThoseThatShareIsMeasuredWhereTheFirstHasNoResult(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		first, second, third := asks(s, "return x"), asks(s, "return x"), asks(s, "return x")
		if resp, answer := s.Ask("POST", "/api/v1/evaluations/"+first["id"].(string)+"/cancel",
			nil); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %v", resp.Status, answer)
		}
		if e := read(s, second["id"]); e["state"] != "submitted" || waiting(s) != 1 {
			t.Fatalf("%v, %d wait", e, waiting(s))
		}
		s.EndOne(second["id"].(string), compiled())
		if e := read(s, second["id"]); e["reused"] != nil {
			t.Errorf("the one that was measured: %v", e)
		}
		if e := read(s, third["id"]); e["state"] != "completed" || e["reused"] != second["id"] {
			t.Errorf("the last one: %v", e)
		}
	})
}

func TestNewSoftwareIsMeasuredAgain(t *testing.T) {
	s := webtest.NewEvalSite(t)
	first := asks(s, "return x")
	s.EndOne(first["id"].(string), compiled())
	_, _, err := s.Cfg.Store.RecordSlots(t.Context(), job.Heartbeat{Worker: "w1", Time: time.Now(), WorkerStartedAt: time.Now(),
		Slots: []job.Slot{{Device: "CPU", Machine: job.Machine{Device: "CPU", Torch: "9.9", Python: "3"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if e := asks(s, "return x"); e["reused"] != nil || waiting(s) != 1 {
		t.Errorf("%v", e)
	}
}

func TestAResultOfARevokedWorkerIsMeasuredAgain(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		fleet, admin := s.Cfg.Store.Fleet, accounts.User{ID: 1, Role: accounts.RoleAdmin}
		give := func() {
			if _, _, err := fleet.CreateCredential(t.Context(), admin, "w1", []string{"CPU"}); err != nil {
				t.Fatal(err)
			}
		}
		give()
		s.EndOne(asks(s, "return x")["id"].(string), compiled())
		if e := asks(s, "return x"); e["reused"] == nil {
			t.Fatalf("of a trusted worker: %v", e)
		}
		if err := fleet.RevokeCredential(t.Context(), admin, "w1"); err != nil {
			t.Fatal(err)
		}
		again := asks(s, "return x")
		if again["reused"] != nil || waiting(s) != 1 {
			t.Errorf("of a revoked worker: %v", again)
		}
		s.Ask("POST", "/api/v1/evaluations/"+again["id"].(string)+"/cancel", nil)
		give() // gives the worker a new secret under the same name
		if e := asks(s, "return x"); e["reused"] != nil {
			t.Errorf("of the holder of the old secret: %v", e)
		}
	})
}

// TestAtMost200WaitForOneMeasurement checks that one measurement is shared by at most 200 other evaluations. With more,
// storing the result would block all writers for minutes.
func TestAtMost200WaitForOneMeasurement(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		var requests []any
		for range 250 {
			requests = append(requests, webtest.Object{"kernel": webtest.TorchModel("return x"), "reuse_result": true})
		}
		_, ids := batch(s, requests)
		if n := waiting(s); n != 2 {
			t.Fatalf("%d wait for a worker, want the first and the one after 200", n)
		}
		for range 152 { // with these, 200 evaluations wait for the second measurement
			asks(s, "return x")
		}
		if n := waiting(s); n != 2 {
			t.Fatalf("%d wait for a worker, though there is room", n)
		}
		asks(s, "return x")
		if n := waiting(s); n != 3 {
			t.Fatalf("%d wait for a worker, want a third", n)
		}
		s.EndOne(ids[0], compiled())
		if e := read(s, ids[200]); e["reused"] != ids[0] {
			t.Errorf("the last that waits for the first: %v", e)
		}
		if e := read(s, ids[202]); e["state"] != "submitted" {
			t.Errorf("one that waits for the second: %v", e)
		}
	}, func(c *web.Config) { c.EvalLimits.MaxLive = 1000 })
}

func TestEqualRequestsOfABatchShareOneMeasurement(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		known := asks(s, "return x")
		s.EndOne(known["id"].(string), compiled())
		var requests []any
		for _, body := range []string{"return x", "return x + 1", "return x + 1", "return x", "return x + 1"} {
			requests = append(requests, webtest.Object{"kernel": webtest.TorchModel(body), "reuse_result": true})
		}
		path, ids := batch(s, requests)
		if n := waiting(s); n != 1 {
			t.Fatalf("%d wait, want the second alone", n)
		}
		lines := follow(s, t, path, 0)
		for _, want := range []int{0, 3} {
			if line, ok := lines.next(); !ok || line.Index != want || line.Evaluation.ReusedResultOf != known["id"] {
				t.Fatalf("%+v", line)
			}
		}
		endsOne(s, ids[1])
		reused := map[int]string{}
		for _, line := range lines.rest() {
			if line.Evaluation != nil {
				reused[line.Index] = line.Evaluation.ReusedResultOf
			}
		}
		if len(reused) != 3 || reused[1] != "" || reused[2] != ids[1] || reused[4] != ids[1] {
			t.Errorf("%v, measured was %s", reused, ids[1])
		}
	})
}

func TestReportsOfNsightComputeAreNotShared(t *testing.T) {
	s := webtest.NewEvalSite(t)
	resp, answer := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel("return x"), "reuse_result": true, "collect_device_metrics": true})
	if resp.StatusCode != http.StatusUnprocessableEntity && resp.StatusCode != http.StatusBadRequest {
		t.Errorf("%s %v", resp.Status, answer)
	}
}

// Evaluations without a token belong to the caller's key. Only requests with the same key share their results.
func TestAKeySharesItsOwnResults(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	mine := []string{"Authorization", "", client.EvaluationKeyHeader, site.RandomText(32)}
	resp, first := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel("return x"), "reuse_result": true}, mine...)
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%s %v", resp.Status, first)
	}
	s.EndOne(first["id"].(string), compiled())
	if e := asks(s, "return x", mine...); e["reused"] != first["id"] {
		t.Errorf("%v", e)
	}
}

// TestASharedResultIsStoredOnce checks that evaluations that share a result store no copy, and that the result is not
// deleted while another evaluation uses it.
func TestASharedResultIsStoredOnce(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		first, second := asks(s, "return x"), asks(s, "return x")
		s.EndOne(first["id"].(string), compiled())
		third := asks(s, "return x")
		for _, e := range []webtest.Object{second, third} {
			var kept int64
			row := s.Cfg.Store.SQL().QueryRowContext(t.Context(),
				"select count(*) from evaluations where id = $1 and result is not null and result <> 'null'", e["id"])
			if err := row.Scan(&kept); err != nil || kept != 0 {
				t.Errorf("%s has a copy, or %v", e["id"], err)
			}
		}
		if err := s.Cfg.Store.Work.PruneEvaluations(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if resp, _ := s.Ask("GET", "/api/v1/evaluations/"+first["id"].(string), nil); resp.StatusCode != http.StatusOK {
			t.Error("the result is gone before those that share it")
		}
	})
}

// TestASharedEvaluationThatIsSentAgainHasItsResult checks that a repeated request with the same Idempotency-Key returns
// the evaluation with the shared result.
func TestASharedEvaluationThatIsSentAgainHasItsResult(t *testing.T) {
	s := webtest.NewEvalSite(t)
	s.EndOne(asks(s, "return x")["id"].(string), compiled())
	first := asks(s, "return x", client.IdempotencyHeader, "one")
	again := asks(s, "return x", client.IdempotencyHeader, "one")
	if again["id"] != first["id"] || first["result"] == nil || again["result"] == nil {
		t.Errorf("first %v, again %v", first, again)
	}
}

// TestSharingGivesNoMorePlacesInTheQueue checks that a caller cannot exceed MaxLive queued evaluations by cancelling
// evaluations that others share.
func TestSharingGivesNoMorePlacesInTheQueue(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		var requests []any
		for i := range 10 {
			one := webtest.Object{"kernel": webtest.TorchModel("return x + " + string(rune('0'+i))),
				"reuse_result": true}
			requests = append(requests, one, one)
		}
		_, ids := batch(s, requests)
		for i := 0; i < len(ids); i += 2 {
			s.Ask("POST", "/api/v1/evaluations/"+ids[i]+"/cancel", nil)
			if n := waiting(s); n > 2 {
				t.Fatalf("%d are in the queue", n)
			}
		}
	}, func(c *web.Config) { c.EvalLimits.MaxLive = 2 })
}
