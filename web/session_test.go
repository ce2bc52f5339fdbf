package web

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
	"warpboard/web/signin"
	"warpboard/web/site"
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
			s := startSite(t, func(cfg *Config) { cfg.BaseURL = tt.base })
			b := s.browser()
			b.setCookie(map[bool]string{true: "__Host-"}[tt.secure]+site.VisitorCookie, "a visitor's secret")
			b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			resp := b.get(s.url + strings.TrimPrefix(s.SignInLink(), s.site.Settings.BaseURL))
			wantStatus(t, resp, http.StatusSeeOther)
			for _, cookie := range resp.Cookies() {
				if !strings.HasSuffix(cookie.Name, site.SessionCookie) {
					continue
				}
				if strings.HasPrefix(cookie.Name, "__Host-") != tt.secure || cookie.Path != "/" || cookie.Domain != "" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure != tt.secure || cookie.MaxAge <= 0 {
					t.Errorf("session cookie is %s", cookie.Raw)
				}
				return
			}
			t.Error("no session cookie was set")
		})
	}
}

func TestSigningInRotatesTheSession(t *testing.T) {
	s := startSite(t)
	b := s.signedIn("ada", accounts.RoleUser)
	before := b.cookie(site.SessionCookie)
	wantStatus(t, b.post("/auth/developer", url.Values{"name": {"ada"}, "next": {"/api/v1/me"}}), http.StatusOK)
	if after := b.cookie(site.SessionCookie); after == before || after == "" {
		t.Errorf("the session stayed %q", after)
	}
	if _, _, err := s.site.Store.Accounts.SessionUser(t.Context(), before); db.KindOf(err) != db.NotFound {
		t.Errorf("the session from before still works: %v", err)
	}
}

func TestPlantedSessionCookieNeverBecomesSignedIn(t *testing.T) {
	s := startSite(t)
	b := s.browser()
	b.setCookie(site.SessionCookie, "planted")
	b.get(s.SignInLink())
	if _, _, err := s.site.Store.Accounts.SessionUser(t.Context(), "planted"); err == nil {
		t.Error("the planted secret is a session now")
	}
	if b.me().Name != "Developer" {
		t.Error("the sign-in itself did not work")
	}
}

func TestSignOutEndsTheSessionOnTheServer(t *testing.T) {
	s := startSite(t)
	b := s.signedIn("ada", accounts.RoleUser)
	secret := b.cookie(site.SessionCookie)
	b.post("/sign-out", nil)
	b.setCookie(site.SessionCookie, secret) // someone kept it
	wantProblem(t, b.get("/api/v1/me"), http.StatusUnauthorized, "unauthorized")
}

func TestSessionsCanBeRevokedFromAnotherBrowser(t *testing.T) {
	s := startSite(t)
	laptop, phone := s.signedIn("ada", accounts.RoleUser), s.signedIn("ada", accounts.RoleUser)
	mallory := s.signedIn("mallory", accounts.RoleUser)
	sessions, err := s.site.Store.Accounts.Sessions(context.Background(), laptop.me().ID)
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v; want 2", len(sessions), err)
	}
	for _, session := range sessions {
		mallory.post(fmt.Sprintf("/me/sessions/%d/revoke", session.ID), nil)
	}
	if laptop.me().Name != "ada" {
		t.Error("someone else revoked the session")
	}
	laptop.post("/me/sessions/others/revoke", nil)
	wantStatus(t, phone.get("/api/v1/me"), http.StatusUnauthorized)
	if laptop.me().Name != "ada" {
		t.Error("the session that revoked the others ended too")
	}
}

func TestBlockedPersonIsSignedOutAtOnce(t *testing.T) {
	s := startSite(t)
	b := s.signedIn("ada", accounts.RoleUser)
	admin := accounts.User{ID: -1, Name: "boss", Role: accounts.RoleAdmin}
	if err := s.site.Store.Accounts.SetBlocked(t.Context(), admin, b.me().ID, true); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, b.get("/api/v1/me"), http.StatusUnauthorized)
}

func TestDeveloperSignInIsOnlyForThisMachine(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*Config)
		headers []string
	}{
		{"through a proxy", nil, []string{"X-Forwarded-For", "203.0.113.9"}},
		{"through a proxy that says Forwarded", nil, []string{"Forwarded", "for=203.0.113.9"}},
		{"foreign host name (DNS rebinding)", nil, []string{"Host", "evil.example:3000"}},
		{"through a proxy that says nothing", func(cfg *Config) { cfg.BaseURL = "https://boards.example.org" }, nil},
		{"listening for everyone", func(cfg *Config) { cfg.Addr = "0.0.0.0:3000" }, nil},
		{"a provider is set up", func(cfg *Config) {
			cfg.Providers = []signin.ProviderConfig{{Name: "github", Key: "k", Secret: "s"}}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*Config) {}
			}
			s := startSite(t, change)
			link, ok := s.SignInLink(), s.signedIn("ada", accounts.RoleAdmin)
			if link == "" {
				link = "/auth/developer?code=guess"
			}
			secret := ok.cookie(site.SessionCookie)
			headers := append(tt.headers, "Accept", "application/json",
				"Cookie", site.SessionCookie+"="+secret+"; __Host-"+site.SessionCookie+"="+secret, site.CSRFHeader, site.DeriveToken(secret))
			wantProblem(t, s.browser().post("/auth/developer", url.Values{"name": {"ada"}}, headers...), http.StatusForbidden, "developer")
			if resp := s.browser().get(s.url+"/auth/developer?"+link[strings.Index(link, "?")+1:], headers...); resp.StatusCode/100 != 4 {
				t.Errorf("the link is answered with %s", resp.Status)
			}
		})
	}
}

// TestTheDeveloperLinkSignsInOnce: every account of the machine reaches the site, and only the link opens the developer sign-in.
func TestTheDeveloperLinkSignsInOnce(t *testing.T) {
	s := startSite(t)
	other := s.browser()
	wantProblem(t, other.post("/auth/developer", url.Values{"name": {"eve"}}, "Accept", "application/json"), http.StatusForbidden, "developer")
	for _, code := range []string{"", "?code=", "?code=guess"} {
		wantProblem(t, other.get("/auth/developer"+code, "Accept", "application/json"), http.StatusForbidden, "developer")
	}
	doc := other.page("/sign-in", http.StatusOK)
	wantText(t, doc, "[data-link]", "Open the link that the server printed")
	if doc.Find("#developer").Length() > 0 {
		t.Error("a stranger is offered the developer sign-in")
	}
	link := s.SignInLink()
	wantStatus(t, other.send(http.MethodHead, link, nil), http.StatusForbidden) // and does not use it up
	mine := s.browser()
	wantStatus(t, mine.get(link), http.StatusOK)
	if me := mine.me(); me.Role != "admin" || me.Name != "Developer" {
		t.Errorf("the link signs in %+v", me)
	}
	wantProblem(t, other.get(link, "Accept", "application/json"), http.StatusForbidden, "developer")
	if again := s.SignInLink(); again != "" {
		t.Errorf("a link that was used is still shown: %s", again)
	}
	wantText(t, mine.page("/sign-in", http.StatusOK), "[aria-labelledby=developer]", "under any name and role")
	wantStatus(t, mine.post("/auth/developer", url.Values{"name": {"ann"}, "role": {"user"}}), http.StatusOK)
	if me := mine.me(); me.Role != "user" || me.Name != "ann" {
		t.Errorf("trying a role out gave %+v", me)
	}
	signedIn := s.browser() // by anything else than the link
	user, err := s.site.Store.Accounts.User(t.Context(), mine.me().ID)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.site.Store.Accounts.StartSession(t.Context(), accounts.NewSession{UserID: user.ID, Provider: "github", Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	signedIn.setCookie(site.SessionCookie, secret)
	wantProblem(t, signedIn.post("/auth/developer", url.Values{"name": {"eve"}}, "Accept", "application/json"), http.StatusForbidden, "developer")
	if fresh := startSite(t).SignInLink(); fresh == "" || strings.HasSuffix(link, fresh[len(fresh)-20:]) {
		t.Errorf("after a restart the link is %q", fresh)
	}
}

func TestDeveloperMayTryEachRole(t *testing.T) {
	s := startSite(t)
	b := s.signedIn("ada", accounts.RoleAdmin)
	for _, role := range []accounts.Role{accounts.RoleUser, accounts.RoleCreator, accounts.RoleAdmin} {
		b.post("/auth/developer", url.Values{"name": {"ada " + string(role)}, "role": {string(role)}})
		if me := b.me(); me.Role != string(role) || me.Name != "ada "+string(role) {
			t.Errorf("as %s: %+v", role, me)
		}
	}
	resp := s.signedIn("ada", accounts.RoleAdmin).post("/auth/developer", url.Values{"name": {"ada"}, "role": {"emperor"}}, "Accept", "application/json")
	wantProblem(t, resp, http.StatusUnprocessableEntity, "invalid")
}

func TestTokenIsShownOnceAndCanBeRevoked(t *testing.T) {
	s := startSite(t)
	b := s.signedIn("ada", accounts.RoleUser)
	page := body(t, b.post("/me/tokens", url.Values{"name": {"laptop"}, "days": {"30"}}))
	at := strings.Index(page, "wb_")
	if at < 0 {
		t.Fatalf("no token in %s", page)
	}
	secret := page[at : at+46]
	asked := s.browser()
	wantStatus(t, asked.get("/api/v1/me", "Authorization", "Bearer "+secret), http.StatusOK)
	tokens, err := s.site.Store.Accounts.Tokens(t.Context(), b.me().ID)
	if err != nil || len(tokens) != 1 {
		t.Fatalf("tokens: %v, %v", tokens, err)
	}
	b.post(fmt.Sprintf("/me/tokens/%d/revoke", tokens[0].ID), nil)
	wantProblem(t, asked.get("/api/v1/me", "Authorization", "Bearer "+secret), http.StatusUnauthorized, "unauthorized")
}

func TestTokenThatLeakedMakesNoOthersAndNoAdmins(t *testing.T) {
	s := startSite(t)
	boss, eve := s.signedIn("boss", accounts.RoleAdmin), s.signedIn("eve", accounts.RoleUser)
	secret, _, err := s.site.Store.Accounts.CreateToken(t.Context(), boss.me().ID, "in a public log", 0)
	if err != nil {
		t.Fatal(err)
	}
	for path, form := range map[string]url.Values{
		"/me/tokens":                 {"name": {"another"}},
		"/workers":                   {"name": {"rogue"}, "devices": {"CPU"}},
		"/me/sessions/others/revoke": nil,
		fmt.Sprintf("/users/%d/role", eve.me().ID): {"role": {"admin"}},
	} {
		resp := s.browser().post(path, form, "Authorization", "Bearer "+secret, "Accept", "application/json")
		wantProblem(t, resp, http.StatusForbidden, "token")
	}
	if got := eve.me().Role; got != "user" {
		t.Errorf("eve is %s now", got)
	}
}
