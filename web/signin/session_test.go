package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/web"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

func TestSessionCookieIsOutOfReachOfScripts(t *testing.T) {
	tests := []struct {
		name   string
		base   string
		secure bool
	}{
		{"plain", "", false},
		{"behind TLS", "https://localhost", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := webtest.Start(t, func(cfg *web.Config) { cfg.BaseURL = tt.base })
			b := s.Browser()
			b.SetCookie(map[bool]string{true: "__Host-"}[tt.secure]+site.VisitorCookie, "a visitor's secret")
			b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			resp := b.Get(s.URL + strings.TrimPrefix(s.SignInLink(), s.Cfg.Settings.BaseURL))
			webtest.WantStatus(t, resp, http.StatusSeeOther)
			for _, cookie := range resp.Cookies() {
				if !strings.HasSuffix(cookie.Name, site.SessionCookie) {
					continue
				}
				if strings.HasPrefix(cookie.Name, "__Host-") != tt.secure || cookie.Path != "/" ||
					cookie.Domain != "" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode ||
					cookie.Secure != tt.secure || cookie.MaxAge <= 0 {
					t.Errorf("session cookie is %s", cookie.Raw)
				}
				return
			}
			t.Error("no session cookie was set")
		})
	}
}

func TestSigningInRotatesTheSession(t *testing.T) {
	s := webtest.Start(t)
	b := s.SignedIn("ada", accounts.RoleUser)
	before := b.Cookie(site.SessionCookie)
	webtest.WantStatus(t, b.Post("/auth/developer", url.Values{"name": {"ada"}, "next": {"/api/v1/me"}}), http.StatusOK)
	if after := b.Cookie(site.SessionCookie); after == before || after == "" {
		t.Errorf("the session stayed %q", after)
	}
	if _, _, err := s.Cfg.Store.Accounts.SessionUser(t.Context(), before); db.KindOf(err) != db.NotFound {
		t.Errorf("the session from before still works: %v", err)
	}
}

func TestPlantedSessionCookieNeverBecomesSignedIn(t *testing.T) {
	s := webtest.Start(t)
	b := s.Browser()
	b.SetCookie(site.SessionCookie, "planted")
	b.Get(s.SignInLink())
	if _, _, err := s.Cfg.Store.Accounts.SessionUser(t.Context(), "planted"); err == nil {
		t.Error("the planted secret is a session now")
	}
	if me(b).Name != "Developer" {
		t.Error("the sign-in itself did not work")
	}
}

func TestSignOutEndsTheSessionOnTheServer(t *testing.T) {
	s := webtest.Start(t)
	b := s.SignedIn("ada", accounts.RoleUser)
	secret := b.Cookie(site.SessionCookie)
	b.Post("/sign-out", nil)
	b.SetCookie(site.SessionCookie, secret) // a copy of the cookie from before the sign-out
	webtest.WantProblem(t, b.Get("/api/v1/me"), http.StatusUnauthorized, "unauthorized")
}

func TestSessionsCanBeRevokedFromAnotherBrowser(t *testing.T) {
	s := webtest.Start(t)
	laptop, phone := s.SignedIn("ada", accounts.RoleUser), s.SignedIn("ada", accounts.RoleUser)
	mallory := s.SignedIn("mallory", accounts.RoleUser)
	sessions, err := s.Cfg.Store.Accounts.Sessions(context.Background(), me(laptop).ID)
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v; want 2", len(sessions), err)
	}
	for _, session := range sessions {
		mallory.Post(fmt.Sprintf("/me/sessions/%d/revoke", session.ID), nil)
	}
	if me(laptop).Name != "ada" {
		t.Error("someone else revoked the session")
	}
	laptop.Post("/me/sessions/others/revoke", nil)
	webtest.WantStatus(t, phone.Get("/api/v1/me"), http.StatusUnauthorized)
	if me(laptop).Name != "ada" {
		t.Error("the session that revoked the others ended too")
	}
}

func TestBlockedPersonIsSignedOutAtOnce(t *testing.T) {
	s := webtest.Start(t)
	b := s.SignedIn("ada", accounts.RoleUser)
	admin := accounts.User{ID: -1, Name: "boss", Role: accounts.RoleAdmin}
	if err := s.Cfg.Store.Accounts.SetBlocked(t.Context(), admin, me(b).ID, true); err != nil {
		t.Fatal(err)
	}
	webtest.WantStatus(t, b.Get("/api/v1/me"), http.StatusUnauthorized)
}

func TestDeveloperSignInIsOnlyForThisMachine(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*web.Config)
		headers []string
	}{
		{"through a proxy", nil, []string{"X-Forwarded-For", "203.0.113.9"}},
		{"through a proxy that says Forwarded", nil, []string{"Forwarded", "for=203.0.113.9"}},
		{"foreign host name (DNS rebinding)", nil, []string{"Host", "evil.example:3000"}},
		{"through a proxy that says nothing", func(cfg *web.Config) { cfg.BaseURL = "https://boards.example.org" },
			nil},
		{"listening for everyone", func(cfg *web.Config) { cfg.Addr = "0.0.0.0:3000" }, nil},
		{"a provider is set up", func(cfg *web.Config) {
			cfg.Providers = []signin.ProviderConfig{{Name: "github", ClientID: "k", ClientSecret: "s"}}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*web.Config) {}
			}
			s := webtest.Start(t, change)
			link, ok := s.SignInLink(), s.SignedIn("ada", accounts.RoleAdmin)
			if link == "" {
				link = "/auth/developer?code=guess"
			}
			secret := ok.Cookie(site.SessionCookie)
			headers := append(tt.headers, "Accept", "application/json",
				"Cookie", site.SessionCookie+"="+secret+"; __Host-"+site.SessionCookie+"="+secret, site.CSRFHeader,
				site.DeriveToken(secret))
			webtest.WantProblem(t, s.Browser().Post("/auth/developer", url.Values{"name": {"ada"}}, headers...),
				http.StatusForbidden, "developer")
			if resp := s.Browser().Get(s.URL+"/auth/developer?"+link[strings.Index(link, "?")+1:],
				headers...); resp.StatusCode/100 != 4 {
				t.Errorf("the link is answered with %s", resp.Status)
			}
		})
	}
}

// TestTheDeveloperLinkSignsInOnce checks that only the link opens the developer sign-in, because every user of the
// machine can reach the site.
func TestTheDeveloperLinkSignsInOnce(t *testing.T) {
	s := webtest.Start(t)
	other := s.Browser()
	webtest.WantProblem(t, other.Post("/auth/developer", url.Values{"name": {"eve"}}, "Accept", "application/json"),
		http.StatusForbidden, "developer")
	for _, code := range []string{"", "?code=", "?code=guess"} {
		webtest.WantProblem(t, other.Get("/auth/developer"+code, "Accept", "application/json"), http.StatusForbidden,
			"developer")
	}
	doc := other.Page("/sign-in", http.StatusOK)
	webtest.WantText(t, doc, "[data-link]", "only the operator of this site can sign in")
	if doc.Find("#developer").Length() > 0 {
		t.Error("a stranger is offered the developer sign-in")
	}
	link := s.SignInLink()
	// a HEAD request does not use up the link
	webtest.WantStatus(t, other.Send(http.MethodHead, link, nil), http.StatusForbidden)
	mine := s.Browser()
	webtest.WantStatus(t, mine.Get(link), http.StatusOK)
	if me := me(mine); me.Role != "admin" || me.Name != "Developer" {
		t.Errorf("the link signs in %+v", me)
	}
	webtest.WantProblem(t, other.Get(link, "Accept", "application/json"), http.StatusForbidden, "developer")
	if again := s.SignInLink(); again != "" {
		t.Errorf("a link that was used is still shown: %s", again)
	}
	page := mine.Page("/sign-in", http.StatusOK)
	webtest.WantText(t, page, "[aria-labelledby=developer]", "under any name and role")
	second := s.Browser() // it signs in with a new link, while the first browser stays signed in
	webtest.WantStatus(t, second.Get(page.Find("[data-other-link]").Text()), http.StatusOK)
	if me(second).Name != "Developer" || me(mine).Name != "Developer" {
		t.Error("two browsers are not signed in side by side")
	}
	webtest.WantStatus(t, mine.Post("/auth/developer", url.Values{"name": {"ann"}, "role": {"user"}}), http.StatusOK)
	if me := me(mine); me.Role != "user" || me.Name != "ann" {
		t.Errorf("trying a role out gave %+v", me)
	}
	signedIn := s.Browser() // signed in by a provider, not by the link
	user, err := s.Cfg.Store.Accounts.User(t.Context(), me(mine).ID)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.Cfg.Store.Accounts.StartSession(t.Context(),
		accounts.NewSession{UserID: user.ID, Provider: "github", Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	signedIn.SetCookie(site.SessionCookie, secret)
	webtest.WantProblem(t, signedIn.Post("/auth/developer", url.Values{"name": {"eve"}}, "Accept", "application/json"),
		http.StatusForbidden, "developer")
	if fresh := webtest.Start(t).SignInLink(); fresh == "" || strings.HasSuffix(link, fresh[len(fresh)-20:]) {
		t.Errorf("after a restart the link is %q", fresh)
	}
}

func TestDeveloperMayTryEachRole(t *testing.T) {
	s := webtest.Start(t)
	b := s.SignedIn("ada", accounts.RoleAdmin)
	for _, role := range []accounts.Role{accounts.RoleUser, accounts.RoleCreator, accounts.RoleAdmin} {
		b.Post("/auth/developer", url.Values{"name": {"ada " + string(role)}, "role": {string(role)}})
		if me := me(b); me.Role != string(role) || me.Name != "ada "+string(role) {
			t.Errorf("as %s: %+v", role, me)
		}
	}
	resp := s.SignedIn("ada", accounts.RoleAdmin).Post("/auth/developer",
		url.Values{"name": {"ada"}, "role": {"emperor"}}, "Accept", "application/json")
	webtest.WantProblem(t, resp, http.StatusUnprocessableEntity, "invalid")
}

func TestTokenIsShownOnceAndCanBeRevoked(t *testing.T) {
	s := webtest.Start(t)
	b := s.SignedIn("ada", accounts.RoleUser)
	page := webtest.Body(t, b.Post("/me/tokens", url.Values{"name": {"laptop"}, "days": {"30"}}))
	at := strings.Index(page, "wb_")
	if at < 0 {
		t.Fatalf("no token in %s", page)
	}
	secret := page[at : at+46]
	asked := s.Browser()
	webtest.WantStatus(t, asked.Get("/api/v1/me", "Authorization", "Bearer "+secret), http.StatusOK)
	tokens, err := s.Cfg.Store.Accounts.Tokens(t.Context(), me(b).ID)
	if err != nil || len(tokens) != 1 {
		t.Fatalf("tokens: %v, %v", tokens, err)
	}
	b.Post(fmt.Sprintf("/me/tokens/%d/revoke", tokens[0].ID), nil)
	webtest.WantProblem(t, asked.Get("/api/v1/me", "Authorization", "Bearer "+secret), http.StatusUnauthorized,
		"unauthorized")
}

func TestTokenThatLeakedMakesNoOthersAndNoAdmins(t *testing.T) {
	s := webtest.Start(t)
	boss, eve := s.SignedIn("boss", accounts.RoleAdmin), s.SignedIn("eve", accounts.RoleUser)
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), me(boss).ID, "in a public log", 0)
	if err != nil {
		t.Fatal(err)
	}
	for path, form := range map[string]url.Values{
		"/me/tokens":                 {"name": {"another"}},
		"/workers":                   {"name": {"rogue"}, "devices": {"CPU"}},
		"/me/sessions/others/revoke": nil,
		fmt.Sprintf("/users/%d/role", me(eve).ID): {"role": {"admin"}},
	} {
		resp := s.Browser().Post(path, form, "Authorization", "Bearer "+secret, "Accept", "application/json")
		webtest.WantProblem(t, resp, http.StatusForbidden, "token")
	}
	if got := me(eve).Role; got != "user" {
		t.Errorf("eve is %s now", got)
	}
}
