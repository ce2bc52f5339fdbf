package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/web/signin"
)

func TestTokenPageShowsASecretOnce(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	doc := document(t, b.post("/me/tokens", url.Values{"name": {"laptop"}, "days": {"90"}}), http.StatusOK)
	checkSound(t, doc)
	secret := words(doc.Find("#new-token"))
	if !strings.HasPrefix(secret, "wb_") {
		t.Fatalf("the secret is %q", secret)
	}
	if got, want := doc.Find("#popcorn-lines").Text(), fmt.Sprintf("export POPCORN_API_URL=%s/popcorn\necho 'cli_id: %s' > ~/.popcorn.yaml", s.url, secret); got != want {
		t.Errorf("the lines for popcorn-cli are %q, want %q", got, want)
	}
	doc = b.page("/me", http.StatusOK)
	if strings.Contains(doc.Text(), secret) {
		t.Error("the secret is shown again")
	}
	wantText(t, doc, "[data-token]", "laptop")
	action := doc.Find("[data-token] form").AttrOr("action", "")
	doc = document(t, b.post(action, nil), http.StatusOK)
	wantText(t, doc, "[data-token]", "revoked")
}

func TestOtherBrowsersCanBeSignedOut(t *testing.T) {
	s := newScene(t)
	here, there := s.browserOf(s.ada), s.browserOf(s.ada)
	there.page("/me", http.StatusOK)
	doc := here.page("/me", http.StatusOK)
	if n := doc.Find("[data-session]").Length(); n != 2 {
		t.Errorf("%d sessions are listed, want 2", n)
	}
	wantText(t, doc, "[data-session]", "this one")
	wantText(t, document(t, here.post("/me/sessions/others/revoke", nil), http.StatusOK), "h1", "Ada Lovelace")
	if resp := there.get("/me"); resp.Request.URL.Path != "/sign-in" {
		t.Errorf("the other browser still sees %s", resp.Request.URL)
	}
}

func TestSignInComesBackToWhereItBegan(t *testing.T) {
	s := newScene(t)
	b := s.browser()
	resp := b.get("/me")
	doc := document(t, resp, http.StatusOK)
	if got := resp.Request.URL.String(); !strings.HasSuffix(got, "/sign-in?next=%2Fme") {
		t.Errorf("a visitor of /me is sent to %s", got)
	}
	wantText(t, doc, "[data-link]", "nothing to type")
	doc = s.signedIn("Dev", accounts.RoleAdmin).page("/sign-in?next=%2Fme", http.StatusOK)
	if got := doc.Find("input[name=next]").AttrOr("value", ""); got != "/me" {
		t.Errorf("the form comes back to %q", got)
	}
	doc = s.signedIn("Dev", accounts.RoleAdmin).page("/sign-in?next=https://example.org/", http.StatusOK)
	if got := doc.Find("input[name=next]").AttrOr("value", ""); got != "/" {
		t.Errorf("the form would leave the site to %q", got)
	}
}

func TestProvidersHaveTheirButtons(t *testing.T) {
	s := startSite(t, func(c *Config) {
		c.Providers = []signin.ProviderConfig{{Name: "github", Key: "k", Secret: "s"}, {Name: "gitlab", Key: "k", Secret: "s", Label: "Our GitLab"}}
	})
	doc := s.browser().page("/sign-in?next=/me", http.StatusOK)
	wantText(t, doc, "[data-provider=github]", "Continue with GitHub")
	wantText(t, doc, "[data-provider=gitlab]", "Our GitLab")
	if doc.Find("#developer").Length() > 0 {
		t.Error("the developer sign-in is offered beside real ones")
	}
}

func TestAdminChangesRolesAndBlocks(t *testing.T) {
	s := newScene(t)
	page := fmt.Sprintf("/users/%d", s.ada.ID)
	if s.browserOf(s.ada).page(page, http.StatusOK).Find("[aria-labelledby=manage]").Length() > 0 {
		t.Error("people manage themselves")
	}
	wantStatus(t, s.browserOf(s.ada).post(page+"/role", url.Values{"role": {"admin"}}), http.StatusForbidden)
	admin := s.browserOf(s.admin)
	doc := document(t, admin.post(page+"/role", url.Values{"role": {"creator"}}), http.StatusOK)
	wantText(t, doc, "main .tag", "creator")
	s.browserOf(s.ada).page("/tasks/new", http.StatusOK)
	doc = document(t, admin.post(page+"/block", url.Values{"blocked": {"1"}}), http.StatusOK)
	wantText(t, doc, "main .tag-fail", "blocked")
}

func TestPublicPageShowsPlacesAndSubmissions(t *testing.T) {
	s := newScene(t)
	doc := s.browser().page(fmt.Sprintf("/users/%d", s.ada.ID), http.StatusOK)
	wantText(t, doc, "[aria-labelledby=places]", "5 of 61 Matrix multiply (CUDA C++) H200 † 11.91 µs")
	wantText(t, doc, fmt.Sprintf("[data-submission='%d']", s.failed.SubmissionID), "Failed")
}

func TestDevicesPageShowsWorkersSelfTestAndQueue(t *testing.T) {
	s := newScene(t)
	doc := s.browser().page("/devices", http.StatusOK)
	wantText(t, doc, "[data-worker=rack-7]", "NVIDIA H200 5f1c09d2ab34 141 GiB 570.86.15")
	wantText(t, doc, "[data-worker=rack-7]", "Out of service: an uncorrectable memory error.")
	wantText(t, doc, "[data-worker=rack-7] details", "killed at 512 MiB")
	wantText(t, doc, fmt.Sprintf("[data-device=H200] [data-run='%d']", s.queued.ID), "1 #")
	wantText(t, doc, fmt.Sprintf("[data-device=H200] [data-run='%d']", s.working.ID), "Benchmarking")
	if doc.Find("#credentials").Length() > 0 {
		t.Error("a visitor sees the workers' credentials")
	}
}

func TestAdminMakesAndRevokesWorkerCredentials(t *testing.T) {
	s := newScene(t)
	admin := s.browserOf(s.admin)
	form := func() url.Values { return url.Values{"name": {"rack-9"}, "devices": {"H200, A100"}} }
	wantStatus(t, s.browserOf(s.ada).post("/workers", form()), http.StatusForbidden)
	doc := document(t, admin.post("/workers", form()), http.StatusOK)
	checkSound(t, doc)
	secret := words(doc.Find("#new-secret"))
	devices, ok, err := s.site.Store.Fleet.AuthorizeWorker(t.Context(), "rack-9", secret)
	if err != nil || !ok || len(devices) != 2 {
		t.Errorf("the shown secret gives %v, %v, %v", devices, ok, err)
	}
	wantText(t, document(t, admin.post("/workers", form()), http.StatusConflict), "#credentials [role=alert]", "that name already")
	doc = admin.page("/devices", http.StatusOK)
	if strings.Contains(doc.Text(), secret) {
		t.Error("the secret is shown again")
	}
	action := doc.Find("[data-credential=rack-9] form").AttrOr("action", "")
	wantText(t, document(t, admin.post(action, nil), http.StatusOK), "[data-credential=rack-9]", "revoked")
	if _, ok, _ := s.site.Store.Fleet.AuthorizeWorker(t.Context(), "rack-9", secret); ok {
		t.Error("the revoked credential still opens")
	}
}

func TestSandboxOffIsSaidOnEveryPage(t *testing.T) {
	s := newScene(t, func(c *Config) { c.SandboxOff = true })
	b := s.browserOf(s.admin)
	for _, path := range s.all() {
		resp := b.get(path)
		wantText(t, document(t, resp, resp.StatusCode), "[role=alert]", "The sandbox is off.")
	}
}
