package publicnet

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// longestHead bounds the head of an answer, in bytes.
const longestHead = 16 << 10

// Client returns a client that reaches what New's guard lets pass, and has a time limit for each whole answer. roots are whose
// certificates are believed; nil: the system's. Its caller says what it follows (CheckRedirect).
// Each request has a connection of its own (DisableKeepAlives): one that was kept would not pass the guard again.
func Client(timeout time.Duration, allowed []netip.Prefix, roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: New(allowed).Check}
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		Proxy:       nil, // a proxy would dial what is refused here
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true,
		MaxResponseHeaderBytes: longestHead, TLSHandshakeTimeout: timeout,
	}}
}
