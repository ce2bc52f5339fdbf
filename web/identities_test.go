package web

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
)

// cameAs signs a new browser in as the provider's account with this number.
func cameAs(s *testSite, issuer *testIssuer, subject string) *browser {
	s.t.Helper()
	issuer.set(map[string]any{"sub": subject, "preferred_username": "user" + subject})
	b := s.browser()
	wantStatus(s.t, b.get("/auth/oidc?next=/api/v1/me"), http.StatusOK)
	return b
}

// linkOn is the address that the account page offers to add a provider's account.
func linkOn(b *browser) string {
	b.site.t.Helper()
	link := b.page("/me", http.StatusOK).Find("[aria-labelledby=identities] a").First().AttrOr("href", "")
	if !strings.HasPrefix(link, "/auth/oidc?link=") {
		b.site.t.Fatalf("the page adds an account at %q", link)
	}
	return link
}

func TestASecondProviderOpensTheSameAccount(t *testing.T) {
	issuer := newTestIssuer(t)
	s := startSite(t, withIssuer(issuer))
	ada := cameAs(s, issuer, "1")
	id := ada.me().ID
	if ada.page("/me", http.StatusOK).Find("[data-identity] button").Length() != 0 {
		t.Error("the only way in can be removed")
	}
	issuer.set(map[string]any{"sub": "2", "preferred_username": "user2"})
	doc := document(t, ada.get(linkOn(ada)), http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "main [role=status]", "Added.")
	wantText(t, doc, "[data-identity]", "user1")
	wantText(t, doc, "[data-identity]", "user2")
	if got := cameAs(s, issuer, "2").me().ID; got != id {
		t.Errorf("the added account opens person %d, want %d", got, id)
	}
	first := doc.Find("[data-identity]").First().Find("form").AttrOr("action", "")
	doc = document(t, ada.post(first, nil), http.StatusOK)
	if n := doc.Find("[data-identity]").Length(); n != 1 {
		t.Errorf("%d ways are left, want 1", n)
	}
	if got := cameAs(s, issuer, "1").me().ID; got == id {
		t.Error("the removed account still opens the person")
	}
	last := strings.Replace(first, "/1/", "/2/", 1)
	wantStatus(t, ada.post(last, nil), http.StatusConflict)
	wantStatus(t, cameAs(s, issuer, "3").post(last, nil), http.StatusNotFound)
}

func TestRemovingAWayToSignInSignsOutEverywhereElse(t *testing.T) {
	issuer := newTestIssuer(t)
	s := startSite(t, withIssuer(issuer))
	ada, elsewhere, eve := cameAs(s, issuer, "1"), cameAs(s, issuer, "1"), cameAs(s, issuer, "3")
	const warning = "signs you out everywhere but here"
	if strings.Contains(ada.page("/me", http.StatusOK).Text(), warning) {
		t.Error("the page speaks of removing the only way in")
	}
	issuer.set(map[string]any{"sub": "2", "preferred_username": "user2"})
	doc := document(t, ada.get(linkOn(ada)), http.StatusOK)
	wantText(t, doc, "[aria-labelledby=identities]", warning)
	second := doc.Find("[data-identity]").Last().Find("form").AttrOr("action", "")
	elsewhere.page("/me", http.StatusOK)

	doc = document(t, ada.post(second, nil), http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "main [role=status]", "you are signed out everywhere but here")
	if resp := elsewhere.get("/me"); resp.Request.URL.Path != "/sign-in" {
		t.Errorf("the other browser still sees %s", resp.Request.URL)
	}
	eve.page("/me", http.StatusOK)
}

func TestAccountsAreAddedOnlyByTheirPersonFromTheirPage(t *testing.T) {
	issuer := newTestIssuer(t)
	s := startSite(t, withIssuer(issuer))
	ada, eve := cameAs(s, issuer, "1"), cameAs(s, issuer, "2")
	token, _, err := s.site.Store.Accounts.CreateToken(t.Context(), ada.me().ID, "leaked", 0)
	if err != nil {
		t.Fatal(err)
	}
	issuer.set(map[string]any{"sub": "9"})
	link := linkOn(ada)
	wantStatus(t, ada.get("/auth/oidc?link=guessed"), http.StatusForbidden)
	wantStatus(t, eve.get(link), http.StatusForbidden)
	wantStatus(t, s.browser().get(link), http.StatusForbidden)
	wantStatus(t, ada.get(link, "Authorization", "Bearer "+token), http.StatusForbidden)

	changed := begunAt(t, ada, link)
	ada.post("/sign-out", nil)
	wantStatus(t, ada.get(changed), http.StatusForbidden)

	ada = cameAs(s, issuer, "1")
	issuer.set(map[string]any{"sub": "2"}) // eve's
	doc := document(t, ada.get(linkOn(ada)), http.StatusConflict)
	wantText(t, doc, "main", "belongs to another person")
	wantIdentities(t, s, ada.me().ID, 1)
}

// begunAt starts at an address and stops at the callback's, which it returns.
func begunAt(t *testing.T, b *browser, from string) string {
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
	b.get(from)
	if callback == "" {
		t.Fatal("the provider did not send the browser back")
	}
	return callback
}

func wantIdentities(t *testing.T, s *testSite, userID int64, want int) {
	t.Helper()
	ids, err := s.site.Store.Accounts.Identities(t.Context(), userID)
	if err != nil || len(ids) != want {
		t.Errorf("person %d has %d ways to sign in (%v), want %d", userID, len(ids), err, want)
	}
}

func TestDeveloperSignInIsShownAsAWayIn(t *testing.T) {
	b := startSite(t).signedIn("ann", accounts.RoleUser)
	if got := words(b.page("/me", http.StatusOK).Find("[data-identity]")); !strings.HasPrefix(got, "Developer ann") {
		t.Errorf("the ways in are %q", got)
	}
}
