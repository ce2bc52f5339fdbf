package account_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/web"
	"warpboard/web/signin"
	"warpboard/web/webtest"
)

func TestTokenPageShowsASecretOnce(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	doc := webtest.Document(t, b.Post("/me/tokens", url.Values{"name": {"laptop"}, "days": {"90"}}), http.StatusOK)
	webtest.CheckSound(t, doc)
	secret := webtest.Words(doc.Find("#new-token"))
	if !strings.HasPrefix(secret, "wb_") {
		t.Fatalf("the secret is %q", secret)
	}
	if got, want := doc.Find("#popcorn-lines").Text(),
		fmt.Sprintf("export POPCORN_API_URL=%s/popcorn\necho 'cli_id: %s' > ~/.popcorn.yaml", s.URL,
			secret); got != want {
		t.Errorf("the lines for popcorn-cli are %q, want %q", got, want)
	}
	doc = b.Page("/me", http.StatusOK)
	if strings.Contains(doc.Text(), secret) {
		t.Error("the secret is shown again")
	}
	webtest.WantText(t, doc, "[data-token]", "laptop")
	action := doc.Find("[data-token] form").AttrOr("action", "")
	doc = webtest.Document(t, b.Post(action, nil), http.StatusOK)
	webtest.WantText(t, doc, "[data-token]", "revoked")
}

func TestOtherBrowsersCanBeSignedOut(t *testing.T) {
	s := webtest.NewScene(t)
	here, there := s.BrowserOf(s.Ada), s.BrowserOf(s.Ada)
	there.Page("/me", http.StatusOK)
	doc := here.Page("/me", http.StatusOK)
	if n := doc.Find("[data-session]").Length(); n != 2 {
		t.Errorf("%d sessions are listed, want 2", n)
	}
	webtest.WantText(t, doc, "[data-session]", "this one")
	webtest.WantText(t, webtest.Document(t, here.Post("/me/sessions/others/revoke", nil), http.StatusOK), "h1",
		"Your account")
	if resp := there.Get("/me"); resp.Request.URL.Path != "/sign-in" {
		t.Errorf("the other browser still sees %s", resp.Request.URL)
	}
}

func TestSignInComesBackToWhereItBegan(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.Browser()
	resp := b.Get("/me")
	doc := webtest.Document(t, resp, http.StatusOK)
	if got := resp.Request.URL.String(); !strings.HasSuffix(got, "/sign-in?next=%2Fme") {
		t.Errorf("a visitor of /me is sent to %s", got)
	}
	webtest.WantText(t, doc, "[data-link]", "signs you in as an admin")
	doc = s.SignedIn("Dev", accounts.RoleAdmin).Page("/sign-in?next=%2Fme", http.StatusOK)
	if got := doc.Find("input[name=next]").AttrOr("value", ""); got != "/me" {
		t.Errorf("the form comes back to %q", got)
	}
	doc = s.SignedIn("Dev", accounts.RoleAdmin).Page("/sign-in?next=https://example.org/", http.StatusOK)
	if got := doc.Find("input[name=next]").AttrOr("value", ""); got != "/" {
		t.Errorf("the form would leave the site to %q", got)
	}
}

func TestProvidersHaveTheirButtons(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) {
		c.Providers = []signin.ProviderConfig{{Name: "github", ClientID: "k", ClientSecret: "s"},
			{Name: "gitlab", ClientID: "k", ClientSecret: "s", Label: "Our GitLab"}}
	})
	doc := s.Browser().Page("/sign-in?next=/me", http.StatusOK)
	webtest.WantText(t, doc, "[data-provider=github]", "Continue with GitHub")
	webtest.WantText(t, doc, "[data-provider=gitlab]", "Our GitLab")
	if doc.Find("#developer").Length() > 0 {
		t.Error("the developer sign-in is offered beside real ones")
	}
}

func TestAdminChangesRolesAndBlocks(t *testing.T) {
	s := webtest.NewScene(t)
	page := fmt.Sprintf("/users/%d", s.Ada.ID)
	if s.BrowserOf(s.Ada).Page(page, http.StatusOK).Find("[aria-labelledby=manage]").Length() > 0 {
		t.Error("people manage themselves")
	}
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post(page+"/role", url.Values{"role": {"admin"}}), http.StatusForbidden)
	admin := s.BrowserOf(s.Admin)
	doc := webtest.Document(t, admin.Post(page+"/role", url.Values{"role": {"creator"}}), http.StatusOK)
	webtest.WantText(t, doc, "main .tag", "creator")
	s.BrowserOf(s.Ada).Page("/tasks/new", http.StatusOK)
	doc = webtest.Document(t, admin.Post(page+"/block", url.Values{"blocked": {"1"}}), http.StatusOK)
	webtest.WantText(t, doc, "main .tag-fail", "blocked")
}

func TestPublicPageShowsPlacesAndSubmissions(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK)
	webtest.WantText(t, doc, "[aria-labelledby=places]", "5 of 61 Matrix multiply (CUDA C++) H200 † 11.91 µs")
	webtest.WantText(t, doc, fmt.Sprintf("[data-submission='%d']", s.Done.SubmissionID), "Passed")
}

func TestDevicesPageShowsWorkersSelfTestAndQueue(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/devices", http.StatusOK)
	webtest.WantText(t, doc, "[data-worker=rack-7]", "NVIDIA H200 5f1c09d2ab34 141 GiB 570.86.15")
	webtest.WantText(t, doc, "[data-worker=rack-7]", "Out of service: an uncorrectable memory error.")
	webtest.WantText(t, doc, "[data-worker=rack-7] details", "killed at 512 MiB")
	webtest.WantText(t, doc, fmt.Sprintf("[data-device=H200] [data-run='%d']", s.Queued.ID), "1 Ranked #")
	webtest.WantText(t, doc, fmt.Sprintf("[data-device=H200] [data-run='%d']", s.Working.ID), "Benchmarking")
	if doc.Find("#credentials").Length() > 0 {
		t.Error("a visitor sees the workers' credentials")
	}
}

func TestAdminMakesAndRevokesWorkerCredentials(t *testing.T) {
	s := webtest.NewScene(t)
	admin := s.BrowserOf(s.Admin)
	form := func() url.Values { return url.Values{"name": {"rack-9"}, "devices": {"H200, A100"}} }
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post("/workers", form()), http.StatusForbidden)
	doc := webtest.Document(t, admin.Post("/workers", form()), http.StatusOK)
	webtest.CheckSound(t, doc)
	secret := webtest.Words(doc.Find("#new-secret"))
	devices, ok, err := s.Cfg.Store.Fleet.AuthorizeWorker(t.Context(), "rack-9", secret)
	if err != nil || !ok || len(devices) != 2 {
		t.Errorf("the shown secret gives %v, %v, %v", devices, ok, err)
	}
	webtest.WantText(t, webtest.Document(t, admin.Post("/workers", form()), http.StatusConflict), "[role=alert]",
		"that name already")
	doc = admin.Page("/operate", http.StatusOK)
	if strings.Contains(doc.Text(), secret) {
		t.Error("the secret is shown again")
	}
	action := doc.Find("[data-credential=rack-9] form").AttrOr("action", "")
	webtest.WantText(t, webtest.Document(t, admin.Post(action, nil), http.StatusOK), "[data-credential=rack-9]",
		"revoked")
	if _, ok, _ := s.Cfg.Store.Fleet.AuthorizeWorker(t.Context(), "rack-9", secret); ok {
		t.Error("the revoked credential still opens")
	}
}

func TestEveryPageShowsThatTheSandboxIsOff(t *testing.T) {
	s := webtest.NewScene(t, func(c *web.Config) { c.SandboxOff = true })
	b := s.BrowserOf(s.Admin)
	for _, path := range s.All() {
		resp := b.Get(path)
		webtest.WantText(t, webtest.Document(t, resp, resp.StatusCode), "[role=alert]", "The sandbox is off.")
	}
}
