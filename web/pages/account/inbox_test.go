package account_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	client "warpboard/clients/go"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// news makes Ben take Ada's 1st place and comment on the task. Both are news for Ada, who has commented on the task,
// too.
func news(s *webtest.Scene) accounts.User {
	s.T.Helper()
	s.Happens()
	ben := modelstest.Person(s.T, s.Cfg.Store, "Ben & <b>Co</b>", accounts.RoleUser)
	for _, who := range []accounts.User{s.Ada, ben} {
		if _, err := s.Cfg.Store.Comments.Add(s.T.Context(), who, comments.Thread{Task: s.Task},
			"From "+who.Name); err != nil {
			s.T.Fatal(err)
		}
	}
	s.Finish(s.Submit(ben, "H200", webtest.GoodKernel), 11.5e3)
	s.Happens()
	return ben
}

func TestTheInboxTellsWhatHappenedAndIsReadByLooking(t *testing.T) {
	s := webtest.NewScene(t)
	news(s)
	ada, visitor := s.BrowserOf(s.Ada), s.Browser()
	if visitor.Page("/", http.StatusOK).Find("a[href='/inbox']").Length() != 0 {
		t.Error("a visitor has an inbox")
	}
	if to := visitor.Get("/inbox").Request.URL.Path; to != "/sign-in" {
		t.Errorf("a visitor is led to %s", to)
	}
	unread := func() string {
		return ada.Page("/docs", http.StatusOK).Find("a[href='/inbox']").AttrOr("aria-label", "")
	}
	before := unread()
	if !strings.HasPrefix(before, "Inbox, ") {
		t.Fatalf("the head says %q", before)
	}
	ada.Get("/inbox", "Sec-Purpose", "prefetch;prerender")
	ada.Get("/inbox", "Sec-Fetch-Dest", "image")
	if unread() != before {
		t.Error("a page that no one looked at is read")
	}
	doc := ada.Page("/inbox", http.StatusOK)
	webtest.WantText(t, doc, "[data-notice='comment.added']",
		"Ben & <b>Co</b> commented on Matrix multiply (CUDA C++).")
	webtest.WantText(t, doc, "[data-notice='place.lost']",
		"Ben & <b>Co</b> passed you: Matrix multiply (CUDA C++) on H200.")
	if label := doc.Find("a[href='/inbox']").AttrOr("aria-label", ""); label != "Inbox" || unread() != "Inbox" {
		t.Errorf("after looking the head says %q, then %q", label, unread())
	}
	to := doc.Find("[data-notice='comment.added'] a").AttrOr("href", "")
	webtest.WantText(t, ada.Page(to, http.StatusOK), "ol li:first-child .prose", "From Ben & Co")

	saved := webtest.Document(t, ada.Post("/inbox/choices", url.Values{"on": {"run.ended"}}), http.StatusOK)
	if on := saved.Find("input[name=on][checked]"); on.Length() != 1 || on.AttrOr("value", "") != "run.ended" {
		t.Errorf("%d kinds are on", on.Length())
	}
}

func TestProgramsReadTheInboxOfTheirTokenAlone(t *testing.T) {
	s := webtest.NewScene(t)
	ben := news(s)
	tokens := map[string]string{}
	for _, who := range []accounts.User{s.Ada, ben} {
		secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), who.ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		tokens[who.Name] = secret
	}
	site := func(who accounts.User) *client.Client {
		return client.New(s.URL, tokens[who.Name])
	}
	page, err := site(s.Ada).Inbox(t.Context(), 0)
	if err != nil || page.Unread == 0 || len(page.Notices) < 2 || !page.Notices[0].Unread ||
		!strings.HasPrefix(page.Notices[0].URL, s.Cfg.Settings.BaseURL+"/tasks/") {
		t.Fatalf("Ada's inbox is %+v, %v", page, err)
	}
	other, err := site(ben).Inbox(t.Context(), 0)
	for _, n := range other.Notices {
		if n.Kind == "place.lost" && strings.Contains(n.Text, "Ben") {
			t.Errorf("Ben reads %q", n.Text)
		}
	}
	if err != nil {
		t.Error(err)
	}
	if err := site(s.Ada).MarkInboxRead(t.Context(), page.Notices[1].ID); err != nil {
		t.Fatal(err)
	}
	if page, err = site(s.Ada).Inbox(t.Context(), 0); err != nil || page.Unread != 1 || page.Notices[1].Unread {
		t.Errorf("after reading one: %+v, %v", page, err)
	}
	if resp := s.Browser().Get("/api/v1/inbox"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a visitor gets %s", resp.Status)
	}
	a := webtest.Connect(t, &sdk.StreamableClientTransport{Endpoint: s.URL + "/mcp",
		HTTPClient: &http.Client{Transport: webtest.Bearer(tokens[s.Ada.Name])}, DisableStandaloneSSE: true})
	answer, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "warpboard://inbox"})
	if err != nil || !strings.Contains(webtest.JSONText(answer), "commented on Matrix multiply") {
		t.Errorf("an agent reads %s, %v", webtest.JSONText(answer), err)
	}
}

func TestTheInboxLooksRight(t *testing.T) {
	tier.Needs(t, tier.Browser)
	s := webtest.NewScene(t)
	news(s)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/")
	w.Until(`document.querySelector("a[href='/inbox'] .tag") !== null`)
	w.LooksRight("home-unread")
	w.Visit("/inbox")
	w.LooksRight("inbox")
}
