package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

const batchPath = "/api/v1/evaluations/batch"

// someRequests returns n different requests for a batch.
func someRequests(n int) (list []any) {
	for i := range n {
		list = append(list, webtest.Object{"kernel": webtest.TorchModel(fmt.Sprintf("return x + %d", i))})
	}
	return list
}

// batch sends a batch and fails the test unless all requests are accepted. It returns the batch's address and the IDs
// of the evaluations.
func batch(s *webtest.EvalSite, requests []any, headers ...string) (path string, ids []string) {
	s.T.Helper()
	resp, made := s.Ask("POST", batchPath, webtest.Object{"requests": requests}, headers...)
	if resp.StatusCode != http.StatusAccepted || made["taken"] != float64(len(requests)) {
		s.T.Fatalf("%s %v", resp.Status, made)
	}
	for _, entry := range made["entries"].([]any) {
		ids = append(ids, entry.(webtest.Object)["id"].(string))
	}
	return batchPath + "/" + made["id"].(string), ids
}

// endsOne ends an evaluation and announces the change to the site's open streams.
func endsOne(s *webtest.EvalSite, id string) {
	s.T.Helper()
	s.EndOne(id, kernelrun.Result{Report: kernelrun.Report{Compiled: true}})
	e, err := s.Cfg.Store.Work.Evaluation(context.Background(), id)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Cfg.Hub.EvaluationChanged(e)
}

// resultLines reads the streamed results of a batch, as a client does.
type resultLines struct {
	t    *testing.T
	body io.ReadCloser
	text *bufio.Scanner
}

func follow(s *webtest.EvalSite, t *testing.T, path string, after int) *resultLines {
	t.Helper()
	resp, err := s.Send(t.Context(), "GET", fmt.Sprintf("%s/results?after=%d", path, after), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != client.JSONLines {
		t.Fatalf("%s as %s", resp.Status, kind)
	}
	return &resultLines{t, resp.Body, bufio.NewScanner(resp.Body)}
}

// next waits for the next non-empty line. At the end of the stream it returns false.
func (r *resultLines) next() (line client.BatchResult, ok bool) {
	r.t.Helper()
	for r.text.Scan() {
		if len(r.text.Bytes()) == 0 {
			continue
		}
		if err := json.Unmarshal(r.text.Bytes(), &line); err != nil {
			r.t.Fatalf("%v in %s", err, r.text.Text())
		}
		return line, true
	}
	return line, false
}

// rest reads all lines until the stream ends.
func (r *resultLines) rest() (lines []client.BatchResult) {
	r.t.Helper()
	for line, ok := r.next(); ok; line, ok = r.next() {
		lines = append(lines, line)
	}
	return lines
}

func eachEvalSite(t *testing.T, fn func(t *testing.T, s *webtest.EvalSite), changes ...func(*web.Config)) {
	modelstest.Each(t, func(t *testing.T, store *models.Store) { fn(t, webtest.NewEvalSiteOn(t, store, changes...)) })
}

func TestABatchOf999BadRequestsTakesTheGoodOne(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		bad := []any{webtest.Object{}, 1, "text", webtest.Object{"kernel": 5},
			webtest.Object{"kernel": webtest.TorchModel("return x"), "num_trails": 3},
			webtest.Object{"kernel": webtest.TorchModel("return x"), "gpu_type": "none"}}
		var requests []any
		for i := range 999 {
			requests = append(requests, bad[i%len(bad)])
		}
		requests = slices.Insert(requests, 500, any(webtest.Object{"kernel": webtest.TorchModel("return x")}))
		resp, made := s.Ask("POST", batchPath, webtest.Object{"requests": requests})
		entries, _ := made["entries"].([]any)
		if resp.StatusCode != http.StatusAccepted || made["taken"] != 1.0 || len(entries) != 1000 {
			t.Fatalf("%s, %v taken, %d entries", resp.Status, made["taken"], len(entries))
		}
		for i, one := range entries {
			entry := one.(webtest.Object)
			problem, refused := entry["problem"].(webtest.Object)
			if refused == (i == 500) || (entry["id"] != nil) != (i == 500) {
				t.Fatalf("entry %d: %v", i, entry)
			}
			if refused && (problem["status"] != 422.0 || problem["detail"] == "") {
				t.Errorf("entry %d: %v", i, problem)
			}
		}
		if detail := fmt.Sprint(entries[4]); !strings.Contains(detail, "num_trials") {
			t.Errorf("a mistyped key: %s", detail)
		}
		resp, made = s.Ask("POST", batchPath, webtest.Object{"requests": bad})
		if resp.StatusCode != http.StatusAccepted || made["taken"] != 0.0 || made["id"] != nil ||
			len(made["entries"].([]any)) != len(bad) {
			t.Errorf("all are bad: %s %v", resp.Status, made)
		}
	})
}

func TestABodyThatIsNoBatchIsRefusedWhole(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for body, want := range map[string]string{
		"[]": "requests", `{"requests": []}`: "no requests", `{"request": [1]}`: "requests", `{"requests": [1}`: "not",
		`{"requests": [1]} 2`: "text after its end", `{"requests": [` + strings.Repeat("1,", 1000) +
			`1]}`: "at most 1000",
	} {
		if resp, answer := s.Ask("POST", batchPath, body); resp.StatusCode != 422 ||
			!strings.Contains(fmt.Sprint(answer["detail"]), want) {
			t.Errorf("%.40s: %s %v", body, resp.Status, answer)
		}
	}
	if resp, answer := s.Ask("POST", batchPath, "x", "Content-Type", "text/plain"); resp.StatusCode != 422 {
		t.Errorf("%s %v", resp.Status, answer)
	}
}

func TestABatchIsTakenAsJSONLines(t *testing.T) {
	s := webtest.NewEvalSite(t)
	lines := webtest.JSONText(someRequests(1)[0]) + "\n\n{\r\n" +
		webtest.JSONText(webtest.Object{"ref_kernel": webtest.TorchModel("return x"),
			"custom_kernel": webtest.TorchModel("return x")})
	resp, made := s.Ask("POST", batchPath, lines, "Content-Type", client.JSONLines)
	if resp.StatusCode != 202 || made["taken"] != 2.0 || made["entries"].([]any)[1].(webtest.Object)["problem"] == nil {
		t.Errorf("%s %v", resp.Status, made)
	}
}

func TestACallerWhoLeftReadsTheRestOfABatch(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		path, ids := batch(s, someRequests(4))
		endsOne(s, ids[2])
		endsOne(s, ids[0])
		reader := follow(s, t, path, 0)
		first, _ := reader.next()
		second, _ := reader.next()
		reader.body.Close()
		endsOne(s, ids[3])
		reader = follow(s, t, path, 2)
		third, _ := reader.next()
		endsOne(s, ids[1]) // while the reader reads the stream
		var indexes []int
		lines := append([]client.BatchResult{first, second, third}, reader.rest()...)
		for i, line := range lines[:len(lines)-1] {
			if line.Number != int64(i+1) || line.Evaluation == nil || line.Evaluation.ID != ids[line.Index] ||
				line.Evaluation.Result == nil || line.Evaluation.Request != nil {
				t.Errorf("line %d: %+v", i+1, line)
			}
			indexes = append(indexes, line.Index)
		}
		if diff := cmp.Diff([]int{2, 0, 3, 1}, indexes); diff != "" {
			t.Errorf("in the order of ends:\n%s", diff)
		}
		if last := lines[len(lines)-1]; !last.End || last.Number != 4 {
			t.Errorf("the last line: %+v", last)
		}
		if again := follow(s, t, path, 4).rest(); len(again) != 1 || !again[0].End {
			t.Errorf("after all: %+v", again)
		}
	})
}

func TestACancelledBatchEndsAndStopsItsAttempts(t *testing.T) {
	eachEvalSite(t, func(t *testing.T, s *webtest.EvalSite) {
		path, ids := batch(s, someRequests(5))
		endsOne(s, ids[1])
		attempt, err := s.Cfg.Store.Work.StartAttempt(t.Context(), job.WorkRef{EvaluationID: ids[3]})
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := s.Send(t.Context(), "DELETE", path, nil); err != nil ||
			resp.StatusCode != http.StatusNoContent {
			t.Fatalf("%v %v", resp, err)
		}
		if !slices.Contains(s.Queue.Cancelled, attempt.ID) {
			t.Errorf("stopped attempts are %v, not %s", s.Queue.Cancelled, attempt.ID)
		}
		states := map[string]int{}
		for _, line := range follow(s, t, path, 0).rest() {
			if !line.End {
				states[line.Evaluation.State]++
			}
		}
		if diff := cmp.Diff(map[string]int{"completed": 1, "cancelled": 4}, states); diff != "" {
			t.Error(diff)
		}
		if resp, err := s.Send(t.Context(), "DELETE", path, nil); err != nil ||
			resp.StatusCode != http.StatusNoContent {
			t.Errorf("again: %v %v", resp, err)
		}
	})
}
