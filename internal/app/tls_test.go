package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
)

// acmeServer starts Pebble, the test server of Let's Encrypt, which validates the site at a port of this machine.
func acmeServer(t *testing.T, sitePort int) (directory, caFile string, roots *x509.CertPool) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	dns := sandboxtest.Addr(t)
	names, err := challtestsrv.New(challtestsrv.Config{DNSAddrs: []string{dns}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	names.SetDefaultDNSIPv4("127.0.0.1")
	names.SetDefaultDNSIPv6("")
	go names.Run()
	t.Cleanup(names.Shutdown)
	store := db.NewMemoryStore()
	authority := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
	front := wfe.New(quiet, store, va.New(quiet, 1, sitePort, false, dns, store), authority, []string{"localhost"},
		false, false, 0, 0)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	caFile = write(t, "acme.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw})))
	roots = x509.NewCertPool()
	roots.AddCert(authority.GetRootCert(0).Cert)
	return server.URL + wfe.DirectoryPath, caFile, roots
}

// startSite runs a site without a worker until the end of the test, or until stop.
func startSite(t *testing.T, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var output bytes.Buffer
	ended := make(chan error, 1)
	env := Environment{Getenv: noEnvironment, Stdout: io.Discard, Stderr: &output}
	go func() { ended <- Run(ctx, env, append([]string{"serve", "--no-worker", "--baselines=false"}, args...)) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v\n%s", err, output.String())
		}
		ended <- nil
	}
	t.Cleanup(stop)
	return stop
}

// healthy requests a site at an address, with name as its host name, until it responds. It returns the site's
// certificate.
func healthy(t *testing.T, name, address string, roots *x509.CertPool) (shown *x509.Certificate) {
	t.Helper()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	client := &http.Client{Timeout: tier.Patience(),
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{RootCAs: roots}}}
	tier.WaitFor(t, "the site", func() error {
		resp, err := client.Get(fmt.Sprintf("https://%s/healthz", name))
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s with %v", resp.Status, resp.Header)
		}
		shown = resp.TLS.PeerCertificates[0]
		return nil
	})
	return shown
}

// TestTheSiteGetsItsOwnCertificate gets a certificate from an ACME server, which the site must keep after a restart.
func TestTheSiteGetsItsOwnCertificate(t *testing.T) {
	address, data, name := sandboxtest.Addr(t), t.TempDir(), "boards.example.com"
	_, port, _ := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port)
	directory, caFile, roots := acmeServer(t, number)
	args := []string{"--addr", address, "--data", data, "--base-url", "https://" + name, "--tls-auto",
		"--acme-directory", directory, "--acme-ca", caFile}
	stop := startSite(t, args...)
	first := healthy(t, name, address, roots)
	if err := first.VerifyHostname(name); err != nil {
		t.Error(err)
	}
	stop()
	if kept, err := filepath.Glob(filepath.Join(data, "certificates", name+"*")); err != nil || len(kept) == 0 {
		t.Errorf("nothing is kept: %v, %v", kept, err)
	}
	startSite(t, args...)
	if again := healthy(t, name, address, roots); again.SerialNumber.Cmp(first.SerialNumber) != 0 {
		t.Error("a restart asked for another certificate")
	}
}

// TestACertificateInFilesIsReadAgainWhenItChanges renews the files of a certificate while the site runs.
func TestACertificateInFilesIsReadAgainWhenItChanges(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler()) // only its certificate is used
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: pair.Certificate[0]})))
	keyFile := write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	files := &certificateFiles{certFile: cert, keyFile: keyFile}
	first, err := files.currentCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(cert, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if again, err := files.currentCertificate(nil); err != nil || again == first {
		t.Errorf("not read again: %v", err)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := files.currentCertificate(nil); err != nil {
		t.Errorf("a certificate that is being written: %v", err)
	}
	if _, err := (&certificateFiles{certFile: "none", keyFile: "none"}).currentCertificate(nil); err == nil {
		t.Error("no certificate is not an error")
	}
}
