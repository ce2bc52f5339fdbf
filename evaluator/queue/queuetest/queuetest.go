package queuetest

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// Certificate writes a self-signed certificate for 127.0.0.1 and its key, and returns their paths.
func Certificate(t testing.TB) (cert, key string) {
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
