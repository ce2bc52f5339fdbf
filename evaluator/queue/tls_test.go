package queue

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/queue/queuetest"
)

func TestRemoteWorkersSpeakTLSWhereThereIsACertificate(t *testing.T) {
	cert, key := queuetest.Certificate(t)
	tw := &twoWorkers{}
	q := openQueue(t, Config{ListenAddress: "127.0.0.1:0", CertFile: cert, KeyFile: key, Authorize: tw.authorize})
	if !strings.HasPrefix(q.Addr(), "tls://") {
		t.Errorf("workers connect to %s", q.Addr())
	}
	worker := WorkerConfig{URL: q.Addr(), CAFile: cert, Name: "w.cpu", Secret: "right"}
	publish(t, q, aJob("a1", "CPU"))
	if j := receive(t, dial(t, worker), "CPU"); j.AttemptID != "a1" {
		t.Errorf("received %+v", j)
	}
	worker.CAFile = ""
	if conn, err := ConnectWorker(t.Context(), worker); err == nil {
		conn.Close()
		t.Error("a certificate of an unknown authority is trusted")
	}
	_, err := nats.Connect(strings.Replace(q.Addr(), "tls://", "nats://", 1), nats.UserInfo("w.cpu", "right"))
	if err == nil {
		t.Error("a worker is let in without TLS")
	}
}

func TestACertificateThatCannotBeUsedIsNamed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "cert.pem")
	q, err := OpenQueue(t.Context(), Config{ListenAddress: "127.0.0.1:0", CertFile: missing, KeyFile: missing})
	if err == nil {
		q.Close()
		t.Fatal("the queue opened without its certificate")
	}
	if !strings.Contains(err.Error(), missing) {
		t.Errorf("error is %v", err)
	}
}
