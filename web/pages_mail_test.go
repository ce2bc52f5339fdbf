package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// mailedScene returns a site that sends e-mail, with Ada, who has a verified address.
func mailedScene(t *testing.T) (s *webtest.Scene) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), SendMails: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s = &webtest.Scene{Site: webtest.StartAt(t, "127.0.0.1:0", store),
		Admin: modelstest.Person(t, store, "Root", accounts.RoleAdmin)}
	s.Ada, err = store.Accounts.SignIn(t.Context(),
		accounts.ProviderSignIn{Provider: "test", Subject: "Ada", Name: "Ada", Email: "ada@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dueMails returns the e-mails that wait to be sent.
func dueMails(s *webtest.Scene) []inbox.Mail {
	s.T.Helper()
	list, err := s.Cfg.Store.Inbox.DueMails(s.T.Context(), time.Now().Add(time.Second), 100)
	if err != nil {
		s.T.Fatal(err)
	}
	return list
}

func TestAnAddressIsConfirmedByItsPersonWithAClick(t *testing.T) {
	s := mailedScene(t)
	ada, root := s.BrowserOf(s.Ada), s.BrowserOf(s.Admin)
	doc := ada.Page("/inbox", http.StatusOK)
	if at := doc.Find("#address").AttrOr("value", ""); at != "ada@example.org" {
		t.Errorf("notices go to %q", at)
	}
	form := url.Values{"on": {"comment.added"}, "mail": {"comment.added", "place.lost"},
		"address": {"ada@home.example"}}
	doc = webtest.Document(t, ada.Post("/inbox/choices", form), http.StatusOK)
	webtest.WantText(t, doc, "[role=status]", "Open the link that was sent")
	webtest.WantText(t, doc, "main", "Open the confirmation link that was sent to ada@home.example.")
	if on := doc.Find("input[name=mail][checked]"); on.Length() != 1 {
		t.Errorf("%d kinds come by e-mail; one that is off in the inbox does not", on.Length())
	}
	webtest.WantText(t, webtest.Document(t, ada.Post("/inbox/choices", url.Values{"address": {"a@b\r\nBcc: c@d"}}),
		http.StatusUnprocessableEntity), "[role=alert]", "is not an e-mail address")
	code := regexp.MustCompile(`/inbox/confirm/\S+`).FindString(dueMails(s)[0].Body)
	if to := s.Browser().Get(code).Request.URL.Path; to != "/sign-in" {
		t.Errorf("a visitor is led to %s", to)
	}
	webtest.WantStatus(t, root.Post(code, nil), http.StatusNotFound)
	ada.Page(code, http.StatusOK) // opening the page does not confirm the address
	if at := ada.Page("/inbox", http.StatusOK).Find("#address").AttrOr("value", ""); at != "ada@example.org" {
		t.Errorf("opening the link has notices go to %q", at)
	}
	webtest.WantStatus(t, ada.Post(code, nil), http.StatusOK)
	if at := ada.Page("/inbox", http.StatusOK).Find("#address").AttrOr("value", ""); at != "ada@home.example" {
		t.Errorf("after the click notices go to %q", at)
	}
}

func TestEMailIsTurnedOffWithoutASignIn(t *testing.T) {
	s := mailedScene(t)
	store := s.Cfg.Store
	off := func() string {
		token, err := store.Inbox.UnsubscribeToken(t.Context(), s.Ada.ID, "ada@example.org")
		if err == nil {
			err = store.Inbox.SetChoices(t.Context(), s.Ada, inbox.AllNoticeKinds(), inbox.AllNoticeKinds())
		}
		if err != nil {
			t.Fatal(err)
		}
		return "/inbox/off/" + token
	}
	wants := func() bool {
		c, err := store.Inbox.Choices(t.Context(), s.Ada.ID)
		if err != nil {
			t.Fatal(err)
		}
		return len(c.MailKinds) > 0
	}
	path, b := off(), s.Browser()
	doc := b.Page(path, http.StatusOK)
	if !wants() {
		t.Error("opening the link turns e-mail off")
	}
	if b.Page("/inbox/off/1.guess", http.StatusOK).Find("main").Text() != strings.ReplaceAll(doc.Find("main").Text(),
		path, "/inbox/off/1.guess") {
		t.Error("the page tells a good link from a bad one")
	}
	webtest.WantStatus(t, b.Post("/inbox/off/1.guess", nil), http.StatusNotFound)
	webtest.WantText(t, webtest.Document(t, b.Post(path, nil), http.StatusOK), "h1", "E-mails are off")
	if wants() {
		t.Error("the button does nothing")
	}
	path = off() // a mail program sends this request without a session
	resp, err := http.Post(s.URL+path, "application/x-www-form-urlencoded",
		strings.NewReader("List-Unsubscribe=One-Click"))
	if err != nil || resp.StatusCode != http.StatusOK || wants() {
		t.Errorf("one click: %v, %v", resp.Status, err)
	}
	resp.Body.Close()
}

func TestAdminsSeeWhyEMailFails(t *testing.T) {
	s := mailedScene(t)
	if _, err := s.Cfg.Store.Inbox.SetAddress(t.Context(), s.Ada, "ada@home.example"); err != nil {
		t.Fatal(err)
	}
	mail := dueMails(s)[0]
	if err := s.Cfg.Store.Inbox.RecordMailResult(t.Context(), mail, time.Now(), "550 no such person <b>",
		true); err != nil {
		t.Fatal(err)
	}
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/operate/mail", http.StatusOK), "[data-mail]",
		"ada@home.example 550 no such person <b>")
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Get("/operate/mail"), http.StatusForbidden)
}

func TestEMailPagesLookRight(t *testing.T) {
	tier.Needs(t, tier.Browser)
	s := mailedScene(t)
	if _, err := s.Cfg.Store.Inbox.SetAddress(t.Context(), s.Ada, "ada@home.example"); err != nil {
		t.Fatal(err)
	}
	if err := s.Cfg.Store.Inbox.RecordMailResult(t.Context(), dueMails(s)[0], time.Now(),
		"451 4.7.1 Greylisting in action, please come back later", false); err != nil {
		t.Fatal(err)
	}
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/inbox")
	w.LooksRight("inbox-mail")
	w.Visit("/inbox/off/1.x")
	w.LooksRight("mail-off")
	w = w.As(s.BrowserOf(s.Admin))
	w.Visit("/operate/mail")
	w.LooksRight("operate-mail")
}
