package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// TLSSettings configures TLS for a site without a proxy.
type TLSSettings struct {
	UsesACME                                bool
	CertFile, KeyFile                       string
	ACMEDirectoryURL, ACMECAFile, ACMEEmail string
}

func (s TLSSettings) check(wrong *settingProblems, base *url.URL) {
	wrong.requireThat((s.CertFile == "") == (s.KeyFile == ""), "--tls-cert and --tls-key belong together: one is missing")
	wrong.requireThat(!s.UsesACME || s.CertFile == "", "--tls-auto and --tls-cert cannot be used together")
	wrong.requireThat(s.UsesACME || s.ACMEDirectoryURL == "" && s.ACMECAFile == "" && s.ACMEEmail == "", "--acme-directory, --acme-ca and --acme-email are for --tls-auto, which is missing")
	if s.UsesACME || s.CertFile != "" {
		wrong.requireThat(base != nil && base.Scheme == "https", "--tls-auto and --tls-cert need the site's name: give --base-url https://HOST")
	}
}

// config returns the TLS configuration, or nil if TLS is off. Certificates from an ACME server are stored in folder.
func (s TLSSettings) config(baseURL, folder string) (*tls.Config, error) {
	switch {
	case s.UsesACME:
		return s.acmeConfig(baseURL, folder)
	case s.CertFile != "":
		pair := &certificateFiles{certFile: s.CertFile, keyFile: s.KeyFile}
		_, err := pair.currentCertificate(nil)
		return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.currentCertificate}, err
	}
	return nil, nil
}

// acmeConfig obtains certificates with TLS-ALPN-01 on the port of the site, so port 80 is not needed.
func (s TLSSettings) acmeConfig(baseURL, folder string) (*tls.Config, error) {
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("--base-url: %w", err)
	}
	// Only the host of --base-url gets a certificate. Other names in a handshake are refused without a request to the
	// ACME server, because untrusted clients could exhaust its limits.
	manager := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(folder),
		HostPolicy: autocert.HostWhitelist(base.Hostname()),
		Email:      s.ACMEEmail,
	}
	if s.ACMEDirectoryURL != "" {
		manager.Client = &acme.Client{DirectoryURL: s.ACMEDirectoryURL}
		if manager.Client.HTTPClient, err = clientTrustingCA(s.ACMECAFile); err != nil {
			return nil, err
		}
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: manager.GetCertificate,
		NextProtos:     []string{"http/1.1", acme.ALPNProto},
	}, nil
}

// clientTrustingCA returns a client that trusts the certificate authority in file, or nil if file is "".
func clientTrustingCA(file string) (*http.Client, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--acme-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--acme-ca %s: there is no certificate in it", file)
	}
	return &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
	}, nil
}

// certificateFiles is a certificate with its key in files that another program renews.
type certificateFiles struct {
	certFile, keyFile string

	mu          sync.Mutex
	fileModTime time.Time // modification time of the file that was read
	certificate *tls.Certificate
}

// currentCertificate reads the files if the certificate has changed. If they cannot be read, it returns the previous
// certificate.
func (k *certificateFiles) currentCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// This happens once per handshake. The key file is not checked: programs write it before the certificate, or both
	// together. If a pair does not match, the previous one is used until a later handshake.
	info, err := os.Stat(k.certFile)
	if err == nil && (k.certificate == nil || !info.ModTime().Equal(k.fileModTime)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(k.certFile, k.keyFile); err == nil {
			k.certificate, k.fileModTime = &pair, info.ModTime()
		}
	}
	if k.certificate == nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	return k.certificate, nil
}
