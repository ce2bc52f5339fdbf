package web

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/modelstest"
)

// happens turns what happened into notices.
func (s *testSite) happens() {
	s.t.Helper()
	for {
		n, err := s.site.Store.Webhooks.SpreadEvents(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// news lets Ben take Ada's place and comment on the task, on which she commented before.
func (s *scene) news() accounts.User {
	s.t.Helper()
	s.happens()
	ben := modelstest.Person(s.t, s.site.Store, "Ben & <b>Co</b>", accounts.RoleUser)
	for _, who := range []accounts.User{s.ada, ben} {
		if _, err := s.site.Store.Comments.Add(s.t.Context(), who, comments.Thread{Task: s.task}, "From "+who.Name); err != nil {
			s.t.Fatal(err)
		}
	}
	s.finish(s.submit(ben, "H200", goodKernel), 11.5e3)
	s.happens()
	return ben
}

func TestTheInboxTellsWhatHappenedAndIsReadByLooking(t *testing.T) {
	s := newScene(t)
	s.news()
	ada, visitor := s.browserOf(s.ada), s.browser()
	if visitor.page("/", http.StatusOK).Find("a[href='/inbox']").Length() != 0 {
		t.Error("a visitor has an inbox")
	}
	if to := visitor.get("/inbox").Request.URL.Path; to != "/sign-in" {
		t.Errorf("a visitor is led to %s", to)
	}
	unread := func() string {
		return ada.page("/docs", http.StatusOK).Find("a[href='/inbox']").AttrOr("aria-label", "")
	}
	before := unread()
	if !strings.HasPrefix(before, "Inbox, ") {
		t.Fatalf("the head says %q", before)
	}
	ada.get("/inbox", "Sec-Purpose", "prefetch;prerender")
	if unread() != before {
		t.Error("a page that no one looked at is read")
	}
	doc := ada.page("/inbox", http.StatusOK)
	wantText(t, doc, "[data-notice='comment.added']", "Ben & <b>Co</b> commented on Matrix multiply (CUDA C++).")
	wantText(t, doc, "[data-notice='place.lost']", "Ben & <b>Co</b> passed you: Matrix multiply (CUDA C++) on H200.")
	if label := doc.Find("a[href='/inbox']").AttrOr("aria-label", ""); label != "Inbox" || unread() != "Inbox" {
		t.Errorf("after looking the head says %q, then %q", label, unread())
	}
	to := doc.Find("[data-notice='comment.added'] a").AttrOr("href", "")
	wantText(t, ada.page(to, http.StatusOK), "ol li:first-child .prose", "From Ben & Co")

	saved := document(t, ada.post("/inbox/choices", url.Values{"on": {"run.ended"}}), http.StatusOK)
	if on := saved.Find("input[name=on][checked]"); on.Length() != 1 || on.AttrOr("value", "") != "run.ended" {
		t.Errorf("%d kinds are on", on.Length())
	}
}

func TestProgramsReadTheInboxOfTheirTokenAlone(t *testing.T) {
	s := newScene(t)
	ben := s.news()
	tokens := map[string]string{}
	for _, who := range []accounts.User{s.ada, ben} {
		secret, _, err := s.site.Store.Accounts.CreateToken(t.Context(), who.ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		tokens[who.Name] = secret
	}
	site := func(who accounts.User) *client.Client {
		return client.New(s.url, tokens[who.Name])
	}
	page, err := site(s.ada).Inbox(t.Context(), 0)
	if err != nil || page.Unread == 0 || len(page.Notices) < 2 || !page.Notices[0].Unread || !strings.HasPrefix(page.Notices[0].URL, s.site.Settings.BaseURL+"/tasks/") {
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
	if err := site(s.ada).ReadInbox(t.Context(), page.Notices[1].ID); err != nil {
		t.Fatal(err)
	}
	if page, err = site(s.ada).Inbox(t.Context(), 0); err != nil || page.Unread != 1 || page.Notices[1].Unread {
		t.Errorf("after reading one: %+v, %v", page, err)
	}
	if resp := s.browser().get("/api/v1/inbox"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a visitor gets %s", resp.Status)
	}
	a := connect(t, &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(tokens[s.ada.Name])}, DisableStandaloneSSE: true})
	answer, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "warpboard://inbox"})
	if err != nil || !strings.Contains(jsonText(answer), "commented on Matrix multiply") {
		t.Errorf("an agent reads %s, %v", jsonText(answer), err)
	}
}

func TestTheInboxLooksRight(t *testing.T) {
	if os.Getenv("WARPBOARD_SHOTS") == "" && testing.Short() {
		t.Skip("needs a browser")
	}
	s := newScene(t)
	s.news()
	w := s.window().as(s.browserOf(s.ada))
	w.open("/")
	w.Until(`document.querySelector("a[href='/inbox'] .tag") !== null`)
	w.looksRight("home-unread")
	w.open("/inbox")
	w.looksRight("inbox")
}
