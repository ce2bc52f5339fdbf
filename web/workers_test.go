package web_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/tasks"
	"warpboard/web"
	"warpboard/web/webtest"
)

// workerSite starts a site whose message queue accepts one worker, "w1" with the secret "right".
func workerSite(t *testing.T, with ...func(*web.Config)) (*webtest.Site, *queuetest.Handler) {
	t.Helper()
	q, err := queue.OpenQueue(t.Context(), queue.Config{Authorize: func(name, secret string) ([]string, bool, error) {
		return []string{"CPU"}, name == "w1" && secret == "right", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	handler := &queuetest.Handler{}
	serving := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { serving <- q.Serve(ctx, handler) }()
	t.Cleanup(func() {
		stop()
		if err := <-serving; err != nil {
			t.Error(err)
		}
	})
	return webtest.Start(t, append([]func(*web.Config){func(c *web.Config) { c.Queue = q }}, with...)...), handler
}

// takesAJob connects as worker w1 to the site at address, and receives a job.
func takesAJob(t *testing.T, handler *queuetest.Handler, address, ca string) {
	t.Helper()
	handler.Put(job.Job{MessageVersion: job.MessageVersion, RunID: 7, AttemptID: "a1", AttemptSecret: "s",
		Device: "CPU", Mode: job.ModeTest,
		Task: tasks.Definition{Lang: tasks.LangCPP, Tests: []tasks.Case{{{Name: "n", Value: "16"}}}}})
	conn, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: address, CAFile: ca, Name: "w1",
		Secret: "right"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := conn.Receive(t.Context(), "CPU", nil, nil); err != nil ||
		got.AttemptID != "a1" {
		t.Fatalf("the worker got %+v, %v", got, err)
	}
}

func TestARemoteWorkerNeedsTheSitesAddressAlone(t *testing.T) {
	s, handler := workerSite(t)
	takesAJob(t, handler, s.URL, "")
	_, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: s.URL, Name: "w1", Secret: "wrong"})
	if err == nil || !strings.Contains(err.Error(), "refused worker") {
		t.Errorf("a wrong secret: %v", err)
	}
}

// TestAWorkerReachesTheSiteThroughNginx connects a worker over TLS through nginx, configured as in docs/proxy.md, for a
// separate host and for a path.
func TestAWorkerReachesTheSiteThroughNginx(t *testing.T) {
	for _, home := range []string{"https://boards.example.org", "https://lab.example.org/warpboard"} {
		s, handler := workerSite(t, func(c *web.Config) { c.BaseURL = home })
		_, address, ca := startProxyBefore(s, t, "nginx", home)
		takesAJob(t, handler, strings.NewReplacer("boards.example.org", address, "lab.example.org", address).Replace(home),
			ca)
	}
}

func TestOnlyWorkersUseTheWorkersAddress(t *testing.T) {
	s, _ := workerSite(t)
	webtest.WantStatus(t, s.Browser().Get(job.WorkerPath), http.StatusUpgradeRequired)
	address := strings.Replace(s.URL, "http://", "ws://", 1) + job.WorkerPath
	if _, resp, err := websocket.DefaultDialer.Dial(address,
		http.Header{"Origin": {"https://evil.example.org"}}); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site connects: %v, %v", resp, err)
	}
	// A client that sends nothing is disconnected, as on NATS's own port.
	ws, _, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ws.SetReadDeadline(time.Now().Add(90 * time.Second))
	for err == nil {
		var r io.Reader
		if _, r, err = ws.NextReader(); err == nil {
			_, err = io.Copy(io.Discard, r)
		}
	}
	if strings.Contains(err.Error(), "timeout") {
		t.Errorf("a stranger may stay: %v", err)
	}
	// A worker cannot connect under the site's own name, which needs a secret of the process.
	if _, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: s.URL, Name: "=site",
		Secret: "right"}); err == nil {
		t.Error("a worker connects under the site's name")
	}
}

func TestASiteWithACertificateLetsWorkersInOverTLS(t *testing.T) {
	cert, key := queuetest.Certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s, handler := workerSite(t, func(c *web.Config) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	})
	takesAJob(t, handler, strings.Replace(s.URL, "http://", "https://", 1), cert)
}
