package queue

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// certificate writes one for 127.0.0.1 that is its own authority, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	secret, err := x509.MarshalPKCS8PrivateKey(web.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", web.Certificate().Raw), write("key.pem", "PRIVATE KEY", secret)
}

func TestRemoteWorkersSpeakTLSWhereThereIsACertificate(t *testing.T) {
	cert, key := certificate(t)
	tw := &twoWorkers{}
	q := openQueue(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cert: cert, Key: key, Authorize: tw.authorize})
	if !strings.HasPrefix(q.Addr(), "tls://") {
		t.Errorf("workers connect to %s", q.Addr())
	}
	worker := WorkerConfig{URL: q.Addr(), CA: cert, Name: "w.cpu", Secret: "right"}
	publish(t, q, aJob("a1", "CPU"))
	if d := receive(t, dial(t, worker), "CPU"); d.Job.AttemptID != "a1" {
		t.Errorf("received %+v", d.Job)
	}
	worker.CA = ""
	if conn, err := Dial(t.Context(), worker); err == nil {
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
	q, err := Open(t.Context(), Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cert: missing, Key: missing})
	if err == nil {
		q.Close()
		t.Fatal("the queue opened without its certificate")
	}
	if !strings.Contains(err.Error(), missing) {
		t.Errorf("error is %v", err)
	}
}
