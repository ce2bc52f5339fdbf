package webhooks

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// maxHeaderBytes limits the header of a response, in bytes.
const maxHeaderBytes = 16 << 10

// NewClient returns an HTTP client that connects only to addresses that NewGuard(allowed) allows. timeout limits each
// request including its response. roots are the trusted certificates; nil means the system's. The caller must set
// CheckRedirect. Each request has its own connection (DisableKeepAlives), because a reused one would bypass the guard.
func NewClient(timeout time.Duration, allowed []netip.Prefix, roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: NewGuard(allowed).Check}
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		Proxy:       nil, // a proxy would connect to addresses that the guard refuses
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true,
		MaxResponseHeaderBytes: maxHeaderBytes, TLSHandshakeTimeout: timeout,
	}}
}
