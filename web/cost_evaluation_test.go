package web

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/web/site"
)

// TestNoEvaluationCostsItsReadersMoreThanARequestMay though its request is as large as one may be; those who wait for it read it
// each second.
func TestNoEvaluationCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newEvalSite(t)
	source, letters := make([]byte, 11<<20), rand.NewChaCha8([32]byte{})
	_, _ = letters.Read(source)
	for i, b := range source {
		source[i] = "[](){}*.-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"[b%64]
	}
	_, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": object{"kernel_type": "torch", "source_code": string(source)}, "shared": true})
	id, ok := made["id"].(string)
	if !ok {
		t.Fatalf("%.300v", made)
	}
	for name, path := range map[string]string{
		"the evaluation": "/api/v1/evaluations/" + id, "its end": "/api/v1/evaluations/" + id + "?wait=1", "its job": "/job/" + id,
		"its page": "/evaluations/" + id, "a list": "/api/v1/evaluations",
	} {
		costtest.Check(t, name, func() {
			resp, err := s.send(t.Context(), "GET", path, nil, "Accept-Encoding", "identity")
			if err != nil {
				t.Fatal(err)
			}
			n, _ := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK || n == 0 || n > site.MostText {
				t.Errorf("%s: %s, %d bytes", name, resp.Status, n)
			}
		})
	}
	attempt, err := s.site.Store.Work.StartAttempt(t.Context(), job.Ref{EvaluationID: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.site.Store.Work.RecordResult(t.Context(), modelstest.Evaluated(attempt, `{"worker":"w1"}`), modelstest.Completed()); err != nil {
		t.Fatal(err)
	}
	_, ended := s.ask("GET", "/api/v1/evaluations/"+id, nil)
	metadata := ended["result"].(object)["kernel_exec_result"].(object)["metadata"].(object)
	if ended["request"] != nil || metadata["kernel_type"] != "torch" {
		t.Errorf("what has ended says of its request: %.100v, %v", ended["request"], metadata)
	}
}

// TestNoBatchCostsMoreThanARequestMay: each of its requests may have thousands of values, and it has a thousand requests.
func TestNoBatchCostsMoreThanARequestMay(t *testing.T) {
	const size = 12_000_000
	s := newEvalSite(t)
	values := func(one string, n int) string {
		return `{"kernel":{"source_code":"","kernel_type":"torch","io":{"args":[` + strings.Repeat(one+",", n) + one + `]}}}`
	}
	list := func(one string) string {
		return `{"requests":[` + strings.Repeat(one+",", size/(len(one)+1)-1) + one + `]}`
	}
	for name, body := range map[string]string{
		"values of many requests": list(values("{}", 4000)),
		"as many as are read":     `{"requests":[` + strings.Repeat(values("{}", 55)+",", 999) + values("{}", 55) + `]}`,
		"numbers":                 list(values("1", 6000)),
		"keys":                    list(`{"kernel":{"source_code":"","kernel_type":"torch","metadata":` + keys(12_000) + `}}`),
		"unknown keys":            `{"requests":[` + strings.Repeat(keys(900)+",", 999) + keys(900) + `]}`,
		"too many":                list(`{}`),
		"no objects":              list(`[[[[[[[[]]]]]]]]`),
		"no JSON":                 strings.Repeat("[", size),
	} {
		costtest.Check(t, name, func() {
			resp, err := s.send(t.Context(), "POST", "/api/v1/evaluations/batch", body)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if n == 0 || n > 2<<20 {
				t.Errorf("%s: %s, %d bytes", name, resp.Status, n)
			}
		})
	}
}
