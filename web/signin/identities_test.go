package signin_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

// cameAs signs a new browser in with the provider's account subject.
func cameAs(s *webtest.Site, issuer *testIssuer, subject string) *webtest.Browser {
	s.T.Helper()
	issuer.set(map[string]any{"sub": subject, "preferred_username": "user" + subject})
	b := s.Browser()
	webtest.WantStatus(s.T, b.Get("/auth/oidc?next=/api/v1/me"), http.StatusOK)
	return b
}

// linkOn returns the link of the account page that adds a provider's account.
func linkOn(b *webtest.Browser) string {
	b.Site.T.Helper()
	link := b.Page("/me", http.StatusOK).Find("[aria-labelledby=identities] a").First().AttrOr("href", "")
	if !strings.HasPrefix(link, "/auth/oidc?link=") {
		b.Site.T.Fatalf("the page adds an account at %q", link)
	}
	return link
}

func TestASecondProviderOpensTheSameAccount(t *testing.T) {
	issuer := newTestIssuer(t)
	s := webtest.Start(t, withIssuer(issuer))
	ada := cameAs(s, issuer, "1")
	id := me(ada).ID
	if ada.Page("/me", http.StatusOK).Find("[data-identity] button").Length() != 0 {
		t.Error("the only way in can be removed")
	}
	issuer.set(map[string]any{"sub": "2", "preferred_username": "user2"})
	doc := webtest.Document(t, ada.Get(linkOn(ada)), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "main [role=status]", "Added.")
	webtest.WantText(t, doc, "[data-identity]", "user1")
	webtest.WantText(t, doc, "[data-identity]", "user2")
	if got := me(cameAs(s, issuer, "2")).ID; got != id {
		t.Errorf("the added account opens person %d, want %d", got, id)
	}
	first := doc.Find("[data-identity]").First().Find("form").AttrOr("action", "")
	doc = webtest.Document(t, ada.Post(first, nil), http.StatusOK)
	if n := doc.Find("[data-identity]").Length(); n != 1 {
		t.Errorf("%d ways are left, want 1", n)
	}
	if got := me(cameAs(s, issuer, "1")).ID; got == id {
		t.Error("the removed account still opens the person")
	}
	last := strings.Replace(first, "/1/", "/2/", 1)
	webtest.WantStatus(t, ada.Post(last, nil), http.StatusConflict)
	webtest.WantStatus(t, cameAs(s, issuer, "3").Post(last, nil), http.StatusNotFound)
}

func TestRemovingAWayToSignInSignsOutEverywhereElse(t *testing.T) {
	issuer := newTestIssuer(t)
	s := webtest.Start(t, withIssuer(issuer))
	ada, elsewhere, eve := cameAs(s, issuer, "1"), cameAs(s, issuer, "1"), cameAs(s, issuer, "3")
	const warning = "signs you out everywhere but here"
	if strings.Contains(ada.Page("/me", http.StatusOK).Text(), warning) {
		t.Error("the page speaks of removing the only way in")
	}
	issuer.set(map[string]any{"sub": "2", "preferred_username": "user2"})
	doc := webtest.Document(t, ada.Get(linkOn(ada)), http.StatusOK)
	webtest.WantText(t, doc, "[aria-labelledby=identities]", warning)
	second := doc.Find("[data-identity]").Last().Find("form").AttrOr("action", "")
	elsewhere.Page("/me", http.StatusOK)

	doc = webtest.Document(t, ada.Post(second, nil), http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "main [role=status]", "you are signed out everywhere else")
	if resp := elsewhere.Get("/me"); resp.Request.URL.Path != "/sign-in" {
		t.Errorf("the other browser still sees %s", resp.Request.URL)
	}
	eve.Page("/me", http.StatusOK)
}

func TestAccountsAreAddedOnlyByTheirPersonFromTheirPage(t *testing.T) {
	issuer := newTestIssuer(t)
	s := webtest.Start(t, withIssuer(issuer))
	ada, eve := cameAs(s, issuer, "1"), cameAs(s, issuer, "2")
	token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), me(ada).ID, "leaked", 0)
	if err != nil {
		t.Fatal(err)
	}
	issuer.set(map[string]any{"sub": "9"})
	link := linkOn(ada)
	webtest.WantStatus(t, ada.Get("/auth/oidc?link=guessed"), http.StatusForbidden)
	webtest.WantStatus(t, eve.Get(link), http.StatusForbidden)
	webtest.WantStatus(t, s.Browser().Get(link), http.StatusForbidden)
	webtest.WantStatus(t, ada.Get(link, "Authorization", "Bearer "+token), http.StatusForbidden)

	changed := begunAt(t, ada, link)
	ada.Post("/sign-out", nil)
	webtest.WantStatus(t, ada.Get(changed), http.StatusForbidden)

	ada = cameAs(s, issuer, "1")
	issuer.set(map[string]any{"sub": "2"}) // this account belongs to another person, eve
	doc := webtest.Document(t, ada.Get(linkOn(ada)), http.StatusConflict)
	webtest.WantText(t, doc, "main", "belongs to another person")
	wantIdentities(t, s, me(ada).ID, 1)
}

// begunAt opens a URL and follows redirects up to the provider's callback, whose URL it returns without opening it.
func begunAt(t *testing.T, b *webtest.Browser, from string) string {
	t.Helper()
	var callback string
	b.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(req.URL.Path, "/callback") {
			callback = req.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	defer func() { b.CheckRedirect = nil }()
	b.Get(from)
	if callback == "" {
		t.Fatal("the provider did not send the browser back")
	}
	return callback
}

func wantIdentities(t *testing.T, s *webtest.Site, userID int64, want int) {
	t.Helper()
	ids, err := s.Cfg.Store.Accounts.Identities(t.Context(), userID)
	if err != nil || len(ids) != want {
		t.Errorf("person %d has %d ways to sign in (%v), want %d", userID, len(ids), err, want)
	}
}

func TestDeveloperSignInIsShownAsAWayIn(t *testing.T) {
	b := webtest.Start(t).SignedIn("ann", accounts.RoleUser)
	if got := webtest.Words(b.Page("/me", http.StatusOK).Find("[data-identity]")); !strings.HasPrefix(got,
		"Developer ann") {
		t.Errorf("the ways in are %q", got)
	}
}
