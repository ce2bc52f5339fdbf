package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/web"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

func withIssuer(i *testIssuer, admins ...string) func(*web.Config) {
	return func(cfg *web.Config) {
		cfg.Providers = []signin.ProviderConfig{{Name: "oidc", ClientID: issuerKey, ClientSecret: issuerSecret,
			Issuer: i.URL}}
		cfg.Admins = admins
	}
}

func me(b *webtest.Browser) client.User {
	b.Site.T.Helper()
	resp := b.Get("/api/v1/me")
	webtest.WantStatus(b.Site.T, resp, http.StatusOK)
	var me client.User
	webtest.DecodeBody(b.Site.T, resp, &me)
	return me
}

func TestSignInThroughAnOpenIDConnectProvider(t *testing.T) {
	issuer := newTestIssuer(t)
	issuer.set(map[string]any{
		"sub": "1001", "preferred_username": "ada", "name": "Ada L.", "email": "ada@example.org",
		"email_verified": true,
	})
	s := webtest.Start(t, withIssuer(issuer))
	b := s.Browser()

	resp := b.Get("/auth/oidc?next=/api/v1/me")
	webtest.WantStatus(t, resp, http.StatusOK)
	if got := resp.Request.URL.Path; got != "/api/v1/me" {
		t.Errorf("the flow ended at %s, want the address in next", got)
	}
	first := me(b)
	if first.Name != "ada" || first.Role != "user" {
		t.Errorf("signed in as %+v, want the user ada", first)
	}

	issuer.set(map[string]any{"sub": "1001", "preferred_username": "ada.new"})
	again := s.Browser()
	again.Get("/auth/oidc?next=/api/v1/me")
	if got := me(again); got.ID != first.ID {
		t.Errorf("the same subject became person %d, want %d", got.ID, first.ID)
	}
	issuer.set(map[string]any{"sub": "2002", "email": "ada@example.org", "email_verified": true})
	other := s.Browser()
	other.Get("/auth/oidc?next=/api/v1/me")
	if got := me(other); got.ID == first.ID {
		t.Error("another subject with the same e-mail address took over the account")
	}
}

func TestAuthorizationRequestCarriesStatePKCEAndNonce(t *testing.T) {
	issuer := newTestIssuer(t)
	s := webtest.Start(t, withIssuer(issuer))
	for range 2 {
		s.Browser().Get("/auth/oidc?next=/api/v1/me")
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		a, b := issuer.asked[0].Get(name), issuer.asked[1].Get(name)
		if len(a) < 32 || a == b {
			t.Errorf("%s is %q, then %q: want fresh random text", name, a, b)
		}
	}
	if want := s.URL + "/auth/oidc/callback"; issuer.asked[0].Get("redirect_uri") != want {
		t.Errorf("redirect_uri is %s, want %s", issuer.asked[0].Get("redirect_uri"), want)
	}
}

func TestAdminsAreNamedByTheOperator(t *testing.T) {
	mail := func(verified any) map[string]any {
		return map[string]any{"sub": "1", "email": "Boss@example.org", "email_verified": verified}
	}
	tests := []struct {
		name   string
		admin  string
		claims map[string]any
		role   string
	}{
		{"verified address", "boss@example.org", mail(true), "admin"},
		{"address not verified", "boss@example.org", mail(false), "user"},
		{"verified is no text", "boss@example.org", mail("true"), "user"},
		{"address at this provider", "oidc:boss@example.org", mail(true), "admin"},
		{"address at another provider", "github:boss@example.org", mail(true), "user"},
		{"login that is an address", "oidc:boss@example.org",
			map[string]any{"sub": "1", "preferred_username": "boss@example.org"}, "user"},
		{"address with a letter that folds", "boss@example.org",
			map[string]any{"sub": "1", "email": "bo\u017fs@example.org", "email_verified": true}, "user"},
		{"login", "oidc:boss", map[string]any{"sub": "1", "preferred_username": "boss"}, "admin"},
		{"nickname is free to choose", "oidc:boss", map[string]any{"sub": "1", "nickname": "boss"}, "user"},
		{"number of the account", "oidc:id:1", map[string]any{"sub": "1"}, "admin"},
		{"login that is a number", "oidc:id:1", map[string]any{"sub": "2", "preferred_username": "1"}, "user"},
		{"login that is a marked number", "oidc:id:1", map[string]any{"sub": "2", "preferred_username": "id:1"},
			"user"},
		{"no one without a login", "oidc:", map[string]any{"sub": "1"}, "user"},
		{"login at another provider", "github:boss", map[string]any{"sub": "1", "preferred_username": "boss"}, "user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			issuer := newTestIssuer(t)
			issuer.set(tt.claims)
			b := webtest.Start(t, withIssuer(issuer, tt.admin)).Browser()
			b.Get("/auth/oidc?next=/api/v1/me")
			if got := me(b).Role; got != tt.role {
				t.Errorf("role is %q, want %q", got, tt.role)
			}
		})
	}
}

// begun starts a sign-in and follows redirects up to the provider's callback, whose URL it returns without opening it.
func begun(t *testing.T, b *webtest.Browser) *url.URL {
	t.Helper()
	var callback *url.URL
	b.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(req.URL.Path, "/callback") {
			callback = req.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	defer func() { b.CheckRedirect = nil }()
	b.Get("/auth/oidc?next=/api/v1/me")
	if callback == nil {
		t.Fatal("the provider did not send the browser back")
	}
	return callback
}

func TestForgedCallbacksAreRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(q url.Values, b *webtest.Browser)
		status int
	}{
		{"another state", func(q url.Values, _ *webtest.Browser) { q.Set("state", site.RandomText(24)) },
			http.StatusForbidden},
		{"empty state", func(q url.Values, _ *webtest.Browser) { q.Set("state", "") }, http.StatusForbidden},
		{"no state", func(q url.Values, _ *webtest.Browser) { q.Del("state") }, http.StatusForbidden},
		{"no state on either side", func(q url.Values, b *webtest.Browser) {
			q.Del("state")
			b.SetCookie("wb_oauth", encode([]byte(`{"p":"oidc","s":"","v":"","n":""}`)))
		}, http.StatusForbidden},
		{"another browser", func(_ url.Values, b *webtest.Browser) { b.SetCookie("wb_oauth", "") },
			http.StatusForbidden},
		{"state of another provider", func(q url.Values, b *webtest.Browser) {
			b.SetCookie("wb_oauth", encode([]byte(`{"p":"github","s":"`+q.Get("state")+`"}`)))
		}, http.StatusForbidden},
		{"declined", func(q url.Values, _ *webtest.Browser) { q.Del("code"); q.Set("error", "access_denied") },
			http.StatusForbidden},
		{"made-up code", func(q url.Values, _ *webtest.Browser) { q.Set("code", "made-up") }, http.StatusBadGateway},
		{"own verifier in the address", func(q url.Values, b *webtest.Browser) {
			q.Set("code_verifier", "attacker")
			b.SetCookie("wb_oauth", encode([]byte(`{"p":"oidc","s":"`+q.Get("state")+`","v":"wrong","n":""}`)))
		}, http.StatusBadGateway},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := webtest.Start(t, withIssuer(newTestIssuer(t))).Browser()
			callback := begun(t, b)
			q := callback.Query()
			tt.change(q, b)
			callback.RawQuery = q.Encode()
			webtest.WantStatus(t, b.Get(callback.String()), tt.status)
			if b.Cookie(site.SessionCookie) != "" {
				t.Error("a refused callback left a session")
			}
		})
	}
}

func TestCallbackWorksOnce(t *testing.T) {
	b := webtest.Start(t, withIssuer(newTestIssuer(t))).Browser()
	callback := begun(t, b).String()
	webtest.WantStatus(t, b.Get(callback), http.StatusOK)
	webtest.WantStatus(t, b.Get(callback), http.StatusForbidden)
}

func TestIDTokensThatDoNotBelongAreRefused(t *testing.T) {
	tests := map[string]func(*testIssuer){
		"another signature":   func(i *testIssuer) { i.Forged = true },
		"another nonce":       func(i *testIssuer) { i.Nonce = "replayed" },
		"another audience":    func(i *testIssuer) { i.Claims["aud"] = "another site" },
		"another issuer":      func(i *testIssuer) { i.Claims["iss"] = "https://evil.example" },
		"expired":             func(i *testIssuer) { i.Claims["exp"] = 1000 },
		"expiry is no number": func(i *testIssuer) { i.Claims["exp"] = "soon" },
		"no subject":          func(i *testIssuer) { delete(i.Claims, "sub") },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			issuer := newTestIssuer(t)
			spoil(issuer)
			b := webtest.Start(t, withIssuer(issuer)).Browser()
			resp := b.Get("/auth/oidc")
			webtest.WantStatus(t, resp, http.StatusBadGateway)
			if b.Cookie(site.SessionCookie) != "" {
				t.Error("it left a session")
			}
		})
	}
}

func TestSiteStartsWhileTheIssuerIsDown(t *testing.T) {

	down := signin.ProviderConfig{Name: "oidc", ClientID: issuerKey, ClientSecret: issuerSecret,
		Issuer: "http://127.0.0.1:1"}
	b := webtest.Start(t, func(cfg *web.Config) { cfg.Providers = []signin.ProviderConfig{down} }).Browser()
	webtest.WantStatus(t, b.Get("/auth/oidc"), http.StatusBadGateway)
	webtest.WantStatus(t, b.Get("/healthz"), http.StatusOK)
}
