package evalapi_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// TestNoEvaluationCostsItsReadersMoreThanARequestMay reads an evaluation with the largest possible request. Clients
// that wait for its end read it every second.
func TestNoEvaluationCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := webtest.NewEvalSite(t)
	source, letters := make([]byte, 11<<20), rand.NewChaCha8([32]byte{})
	_, _ = letters.Read(source)
	for i, b := range source {
		source[i] = "[](){}*.-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"[b%64]
	}
	request := webtest.Object{"kernel": webtest.Object{"kernel_type": "torch", "source_code": string(source)},
		"shared": true}
	resp, made := s.Ask("POST", "/api/v1/evaluations", request)
	for range 4 { // a busy machine may not read 11 MiB in time and answers 503: send the request again
		if resp.StatusCode == http.StatusServiceUnavailable {
			resp, made = s.Ask("POST", "/api/v1/evaluations", request)
		}
	}
	id, ok := made["id"].(string)
	if !ok {
		t.Fatalf("%.300v", made)
	}
	check := func(when string) {
		for name, path := range map[string]string{
			"the evaluation": "/api/v1/evaluations/" + id, "its end": "/api/v1/evaluations/" + id + "?wait=1",
			"its job":  "/job/" + id,
			"its page": "/evaluations/" + id, "a list": "/api/v1/evaluations",
		} {
			costtest.Check(t, name+when, func() {
				resp, err := s.Send(t.Context(), "GET", path, nil, "Accept-Encoding", "identity")
				if err != nil {
					t.Fatal(err)
				}
				n, _ := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK || n == 0 || n > site.MaxFormText {
					t.Errorf("%s%s: %s, %d bytes", name, when, resp.Status, n)
				}
			})
		}
	}
	check("")
	attempt, err := s.Cfg.Store.Work.StartAttempt(t.Context(), job.WorkRef{EvaluationID: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.Work.RecordResult(t.Context(), modelstest.Evaluated(attempt, `{"worker":"w1"}`),
		modelstest.Completed()); err != nil {
		t.Fatal(err)
	}
	check(" after its end")
	_, ended := s.Ask("GET", "/api/v1/evaluations/"+id, nil)
	metadata := ended["result"].(webtest.Object)["kernel_exec_result"].(webtest.Object)["metadata"].(webtest.Object)
	if ended["request"] != nil || metadata["kernel_type"] != "torch" {
		t.Errorf("what has ended says of its request: %.100v, %v", ended["request"], metadata)
	}
}
