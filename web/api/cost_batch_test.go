package api_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/e2e/costtest"
	"warpboard/evaluator/kernelrun"
	"warpboard/web/webtest"
)

// TestNoBatchCostsMoreThanARequestMay sends batches with a thousand requests or thousands of values in each request.
func TestNoBatchCostsMoreThanARequestMay(t *testing.T) {
	const size = 12_000_000
	s := webtest.NewEvalSite(t)
	values := func(one string, n int) string {
		return `{"kernel":{"source_code":"","kernel_type":"torch","io":{"args":[` + strings.Repeat(one+",", n) + one +
			`]}}}`
	}
	list := func(one string) string {
		return `{"requests":[` + strings.Repeat(one+",", size/(len(one)+1)-1) + one + `]}`
	}
	for name, body := range map[string]string{
		"values of many requests": list(values("{}", 4000)),
		"as many as are read": `{"requests":[` + strings.Repeat(values("{}", 55)+",", 999) + values("{}", 55) +
			`]}`,
		"numbers": list(values("1", 6000)),
		"keys": list(`{"kernel":{"source_code":"","kernel_type":"torch","metadata":` +
			webtest.Keys(12_000) + `}}`),
		"unknown keys": `{"requests":[` + strings.Repeat(webtest.Keys(900)+",", 999) + webtest.Keys(900) +
			`]}`,
		"too many":    list(`{}`),
		"no objects":  list(`[[[[[[[[]]]]]]]]`),
		"no JSON":     strings.Repeat("[", size),
		"empty lines": strings.Repeat("\n", size),
	} {
		costtest.Check(t, name, func() {
			kind := "application/json"
			if name == "empty lines" {
				kind = client.JSONLines
			}
			resp, err := s.Send(t.Context(), "POST", "/api/v1/evaluations/batch", body, "Content-Type", kind)
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

// TestABatchThatIsSentAgainReadsNoResults checks that a repeated batch request does not load the results, even when all
// evaluations have ended.
func TestABatchThatIsSentAgainReadsNoResults(t *testing.T) {
	s := webtest.NewEvalSite(t)
	key := []string{client.IdempotencyHeader, "once"}
	_, ids := batch(s, someRequests(50), key...)
	endLarge(s, ids)
	costtest.Check(t, "the batch again", func() {
		if _, again := batch(s, someRequests(50), key...); !slices.Equal(again, ids) {
			t.Errorf("another batch: %v", again)
		}
	})
	costtest.Check(t, "one with its key", func() {
		if resp, _ := s.Ask("POST", "/api/v1/evaluations", someRequests(1)[0],
			key...); resp.StatusCode != http.StatusConflict {
			t.Error(resp.Status)
		}
	})
}

// endLarge ends evaluations with results of 1 MiB.
func endLarge(s *webtest.EvalSite, ids []string) {
	s.T.Helper()
	for _, id := range ids {
		s.EndOne(id, kernelrun.Result{Metrics: map[string]kernelrun.KernelMetrics{"custom": {NsightReport: json.RawMessage(`"` +
			strings.Repeat("x", 1<<20) + `"`)}}})
	}
}

// TestTheFirstResultOfABatchCostsAsMuchAsOneResult checks that a reader's first result does not load the other 49,
// which have ended too.
func TestTheFirstResultOfABatchCostsAsMuchAsOneResult(t *testing.T) {
	s := webtest.NewEvalSite(t)
	path, ids := batch(s, someRequests(50))
	endLarge(s, ids)
	costtest.Check(t, "the first result", func() {
		resp, err := s.Send(t.Context(), "GET", path+"/results", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var first client.BatchResult
		if err := json.NewDecoder(bufio.NewReader(resp.Body)).Decode(&first); err != nil || first.Number != 1 {
			t.Errorf("%s: result %d, %v", resp.Status, first.Number, err)
		}
	})
}
