package evalapi_test

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
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/webtest"
)

// proxy starts a reverse proxy that ends a request if the site sends no header within patience, and returns its URL.
func proxy(s *webtest.EvalSite, patience time.Duration) string {
	target, err := url.Parse(s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{ResponseHeaderTimeout: patience}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusGatewayTimeout)
	}
	server := httptest.NewServer(proxy)
	s.T.Cleanup(server.Close)
	return server.URL
}

// TestALongEvaluationOutlivesAProxysPatience checks that the site sends the response header through a proxy while the
// evaluation is still in the queue.
func TestALongEvaluationOutlivesAProxysPatience(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient)
	through := *s.Site
	through.URL = proxy(s, 20*time.Second)
	caller := &webtest.EvalSite{Site: &through, Token: s.Token, User: s.User}
	resp, err := caller.Send(context.Background(), "POST", "/evaluate",
		webtest.Object{"kernel": webtest.TorchModel("return x")})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s.Finish(s.WaitForState(work.EvaluationSubmitted))
	var answer webtest.Object
	webtest.DecodeBody(t, resp, &answer)
	result, _ := answer["kernel_exec_result"].(webtest.Object)
	if resp.StatusCode != 200 || answer["status"] != "success" || result["correctness"] != true {
		t.Errorf("%s %v", resp.Status, answer)
	}
	wantNoCache(t, resp)
	if want := s.URL + "/api/v1/evaluations/" + answer["job_id"].(string); resp.Header.Get("Content-Location") != want {
		t.Errorf("Content-Location is %q, want %s", resp.Header.Get("Content-Location"), want)
	}
}

// begin sends an evaluation over HTTP/1.0, as nginx does, with the site's token if it has one. It returns when the
// response header has arrived.
func begin(s *webtest.EvalSite, t *testing.T) (net.Conn, *http.Response) {
	t.Helper()
	kernel, err := json.Marshal(webtest.Object{"kernel": webtest.TorchModel("return x")})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Cfg.Settings.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(60 * time.Second))
	authorization := ""
	if s.Token != "" {
		authorization = "Authorization: Bearer " + s.Token + "\r\n"
	}
	fmt.Fprintf(conn,
		"POST /evaluate HTTP/1.0\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		s.Cfg.Settings.Addr, authorization, len(kernel), kernel)
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
	s := webtest.NewEvalSite(t, webtest.Impatient)
	_, resp := begin(s, t)
	cancel := "/api/v1/evaluations/" + s.WaitForState(work.EvaluationSubmitted).ID + "/cancel"
	if made, answer := s.Ask("POST", cancel, webtest.Object{}); made.StatusCode != 200 ||
		answer["state"] != "cancelled" {
		t.Fatalf("not cancelled: %s %v", made.Status, answer)
	}
	if again, _ := s.Ask("POST", cancel, webtest.Object{}); again.StatusCode != 409 {
		t.Errorf("cancelled twice: %s", again.Status)
	}
	var answer webtest.Object
	if webtest.DecodeBody(t, resp, &answer); answer["status"] != "error" || answer["error"] != "Job was cancelled" ||
		answer["job_id"] == nil {
		t.Errorf("answer: %v", answer)
	}
	if resp.TransferEncoding != nil {
		t.Errorf("HTTP/1.0 was answered in chunks")
	}
}

func TestALateAnswerBeginsWithTheKeyOfACallerWithoutAToken(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	s.Token = ""
	_, resp := begin(s, t)
	path := strings.TrimPrefix(resp.Header.Get("Content-Location"), s.URL)
	key := resp.Header.Get(client.EvaluationKeyHeader)
	if read, e := s.Ask("GET", path, nil, "Authorization", "", client.EvaluationKeyHeader, key); key == "" ||
		read.StatusCode != 200 || e["state"] != "submitted" {
		t.Errorf("with the key %q: %s %v", key, read.Status, e)
	}
}

func TestACallerWhoLeavesALateAnswerCancels(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient)
	conn, _ := begin(s, t)
	conn.Close()
	s.WaitForState(work.EvaluationCancelled)
}

func TestAStopOfTheSiteEndsALateAnswer(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient)
	_, resp := begin(s, t)
	s.Stop()
	if text := webtest.Body(t, resp); !strings.Contains(text, "continues") {
		t.Errorf("answered %s", text)
	}
}

// TestADirectCallerGetsTheContractsStatus checks that a failure has status 500 if no proxy is involved: without a
// proxy's time limit, the site can wait for the result before it sends the status.
func TestADirectCallerGetsTheContractsStatus(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient, func(c *web.Config) { c.EvalLimits.MaxDeviceWait = 200 * time.Millisecond })
	for path, body := range map[string]webtest.Object{
		"/evaluate": {"kernel": webtest.TorchModel("return x")},
		// the old request format
		"/": {"ref_code": source(webtest.TorchModel("return x")), "custom_code": "x = 1"},
	} {
		if resp, answer := s.Ask("POST", path, body); resp.StatusCode != 500 || answer["status"] != "error" ||
			answer["error"] == nil {
			t.Errorf("%s: %s %v", path, resp.Status, answer)
		}
	}
}

// lines is a log whose lines a test reads.
type lines chan string

func (l lines) Write(p []byte) (int, error) { l <- string(p); return len(p), nil }

func TestACallerWhoLeavesIsNoErrorOfTheSite(t *testing.T) {
	log := make(lines, 1000)
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		if resp, err := s.Send(ctx, "POST", "/",
			webtest.Object{"ref_kernel": webtest.TorchModel("return x"),
				"custom_kernel": webtest.TorchModel("return x")}); err == nil {
			resp.Body.Close()
			t.Error("an answer")
		}
	}()
	s.WaitForState(work.EvaluationSubmitted)
	leave()
	<-left
	s.WaitForState(work.EvaluationCancelled)
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
