package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/models/counters"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// impatient is a site whose callers would be given up by a proxy after a moment.
func impatient(c *Config) { c.Limits.KeepAlive = 30 * time.Millisecond }

// finish ends an evaluation that waits, as its worker would.
func (s *evalSite) finish(e work.Evaluation) {
	s.t.Helper()
	s.end(e, "w1", `{"compiled": true, "correctness": true, "worker": "w1"}`)
}

// end ends an evaluation that waits with a worker's report.
func (s *evalSite) end(e work.Evaluation, worker, report string, samples ...counters.Sample) {
	s.t.Helper()
	attempt, err := s.site.Store.Work.StartAttempt(context.Background(), e.Ref())
	if err != nil {
		s.t.Fatal(err)
	}
	result := modelstest.Evaluated(attempt, report)
	result.Machine.Worker = worker
	out, err := s.site.Store.Work.RecordResult(context.Background(), result, modelstest.Completed(samples...))
	if err != nil || !out.Accepted {
		s.t.Fatalf("the end is not accepted: %+v, %v", out, err)
	}
}

// proxy is a reverse proxy that ends a request if the site sends nothing for so long.
func (s *evalSite) proxy(patience time.Duration) string {
	target, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{ResponseHeaderTimeout: patience}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusGatewayTimeout)
	}
	server := httptest.NewServer(proxy)
	s.t.Cleanup(server.Close)
	return server.URL
}

// TestALongEvaluationOutlivesAProxysPatience: the answer's head goes through the proxy while the evaluation still waits.
func TestALongEvaluationOutlivesAProxysPatience(t *testing.T) {
	s := newEvalSite(t, impatient)
	through := *s.testSite
	through.url = s.proxy(20 * time.Second)
	caller := &evalSite{testSite: &through, token: s.token, user: s.user}
	resp, err := caller.send(context.Background(), "POST", "/evaluate", object{"kernel": torchModel("return x")})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s.finish(s.waitForState(work.EvaluationSubmitted))
	var answer object
	decodeBody(t, resp, &answer)
	result, _ := answer["kernel_exec_result"].(object)
	if resp.StatusCode != 200 || answer["status"] != "success" || result["correctness"] != true {
		t.Errorf("%s %v", resp.Status, answer)
	}
	wantNoCache(t, resp)
	if want := s.url + "/api/v1/evaluations/" + answer["job_id"].(string); resp.Header.Get("Content-Location") != want {
		t.Errorf("Content-Location is %q, want %s", resp.Header.Get("Content-Location"), want)
	}
}

// begin sends an evaluation as nginx does, with the site's token if it has one, and returns once the answer has begun.
func (s *evalSite) begin(t *testing.T) (net.Conn, *http.Response) {
	t.Helper()
	kernel, err := json.Marshal(object{"kernel": torchModel("return x")})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.site.Settings.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(60 * time.Second))
	authorization := ""
	if s.token != "" {
		authorization = "Authorization: Bearer " + s.token + "\r\n"
	}
	fmt.Fprintf(conn, "POST /evaluate HTTP/1.0\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		s.site.Settings.Addr, authorization, len(kernel), kernel)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if first, err := io.ReadFull(resp.Body, make([]byte, 2)); resp.StatusCode != 200 || err != nil {
		t.Fatalf("%s, %d bytes, %v", resp.Status, first, err)
	}
	return conn, resp
}

func TestAnAnswerThatHasBegunTellsOfAFailureInItsBody(t *testing.T) {
	s := newEvalSite(t, impatient)
	_, resp := s.begin(t)
	cancel := "/api/v1/evaluations/" + s.waitForState(work.EvaluationSubmitted).ID + "/cancel"
	if made, answer := s.ask("POST", cancel, object{}); made.StatusCode != 200 || answer["state"] != "cancelled" {
		t.Fatalf("not cancelled: %s %v", made.Status, answer)
	}
	if again, _ := s.ask("POST", cancel, object{}); again.StatusCode != 409 {
		t.Errorf("cancelled twice: %s", again.Status)
	}
	var answer object
	if decodeBody(t, resp, &answer); answer["status"] != "error" || answer["error"] != "Job was cancelled" || answer["job_id"] == nil {
		t.Errorf("answer: %v", answer)
	}
	if resp.TransferEncoding != nil {
		t.Errorf("HTTP/1.0 was answered in chunks")
	}
}

func TestALateAnswerBeginsWithTheKeyOfACallerWithoutAToken(t *testing.T) {
	s := newEvalSite(t, impatient, func(c *Config) { c.OpenEvalAPI = "all" })
	s.token = ""
	_, resp := s.begin(t)
	path := strings.TrimPrefix(resp.Header.Get("Content-Location"), s.url)
	key := resp.Header.Get(client.EvaluationKeyHeader)
	if read, e := s.ask("GET", path, nil, "Authorization", "", client.EvaluationKeyHeader, key); key == "" || read.StatusCode != 200 || e["state"] != "submitted" {
		t.Errorf("with the key %q: %s %v", key, read.Status, e)
	}
}

func TestACallerWhoLeavesALateAnswerCancels(t *testing.T) {
	s := newEvalSite(t, impatient)
	conn, _ := s.begin(t)
	conn.Close()
	s.waitForState(work.EvaluationCancelled)
}

func TestAStopOfTheSiteEndsALateAnswer(t *testing.T) {
	s := newEvalSite(t, impatient)
	_, resp := s.begin(t)
	s.stop()
	if text := body(t, resp); !strings.Contains(text, "goes on") {
		t.Errorf("answered %s", text)
	}
}

// TestADirectCallerGetsTheContractsStatus: no one loses patience there, so a failure may have its own status.
func TestADirectCallerGetsTheContractsStatus(t *testing.T) {
	s := newEvalSite(t, impatient, func(c *Config) { c.EvalLimits.Wait = 200 * time.Millisecond })
	for path, body := range map[string]object{
		"/evaluate": {"kernel": torchModel("return x")},
		"/":         {"ref_code": source(torchModel("return x")), "custom_code": "x = 1"}, // the legacy format
	} {
		if resp, answer := s.ask("POST", path, body); resp.StatusCode != 500 || answer["status"] != "error" || answer["error"] == nil {
			t.Errorf("%s: %s %v", path, resp.Status, answer)
		}
	}
}

// lines is a log whose lines a test reads.
type lines chan string

func (l lines) Write(p []byte) (int, error) { l <- string(p); return len(p), nil }

func TestACallerWhoLeavesIsNoErrorOfTheSite(t *testing.T) {
	log := make(lines, 1000)
	s := newEvalSite(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		if resp, err := s.send(ctx, "POST", "/", object{"ref_kernel": torchModel("return x"), "custom_kernel": torchModel("return x")}); err == nil {
			resp.Body.Close()
			t.Error("an answer")
		}
	}()
	s.waitForState(work.EvaluationSubmitted)
	leave()
	<-left
	s.waitForState(work.EvaluationCancelled)
	for line := range log {
		if strings.Contains(line, "level=ERROR") {
			t.Errorf("logged: %s", line)
		}
		if strings.Contains(line, "method=POST path=/ ") && strings.Contains(line, "msg=request ") {
			if !strings.Contains(line, "status=499") {
				t.Errorf("logged: %s", line)
			}
			return
		}
	}
}
