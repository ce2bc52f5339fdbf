package signin_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

// TestBehindAProxyAVisitorIsNotTheProxy checks that the visitor's address is used, not the proxy's: for the limit of
// waiting command-line sign-ins, and on the page that asks a person to approve one.
func TestBehindAProxyAVisitorIsNotTheProxy(t *testing.T) {
	s := webtest.Start(t)
	begin := func(address string) (*client.Login, error) {
		through := client.NewWith(s.URL, "", &http.Client{Transport: forwarding(address)})
		return through.BeginLogin(t.Context(), "laptop")
	}
	for i := range 40 {
		if _, err := begin("203.0.113.1"); i < 20 && err != nil || i >= 20 && webtest.Code(err) != "too_many" {
			t.Fatalf("login %d of one visitor: %v", i, err)
		}
	}
	for i := range 40 { // several addresses of one IPv6 network
		if _, err := begin("2001:db8::" + strings.Repeat("f", 1+i%4)); i < 20 && err != nil || i >= 20 &&
			webtest.Code(err) != "too_many" {
			t.Fatalf("login %d of one IPv6 network: %v", i, err)
		}
	}
	if _, err := begin("198.51.100.7"); err != nil {
		t.Fatalf("another visitor: %v", err)
	}
	login, err := begin("198.51.100.8, 192.0.2.9") // the visitor forged the first address
	if err != nil {
		t.Fatal(err)
	}
	ada := s.SignedIn("ada", accounts.RoleUser)
	webtest.WantText(t, ada.Page("/login?code="+login.Code, http.StatusOK), "dl", "192.0.2.9")
}

// forwarding is a transport that sends its value as X-Forwarded-For, like a proxy on this machine.
type forwarding string

func (f forwarding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", string(f))
	return http.DefaultTransport.RoundTrip(r)
}

// TestBehindAProxyASessionHasTheVisitorsAddress checks the address in the account page's list of sessions.
func TestBehindAProxyASessionHasTheVisitorsAddress(t *testing.T) {
	issuer := newTestIssuer(t)
	issuer.set(map[string]any{"sub": "1", "name": "Ada"})
	b := webtest.Start(t, withIssuer(issuer)).Browser()
	b.Transport = forwarding("203.0.113.5")
	b.Get("/auth/oidc?next=/api/v1/me")
	webtest.WantText(t, b.Page("/me", http.StatusOK), "main", "203.0.113.5")
}
