package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
)

// mailedScene is a site that sends e-mail, with Ada, who has a verified address.
func mailedScene(t *testing.T) (s *scene) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), Mails: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s = &scene{testSite: startSiteAt(t, "127.0.0.1:0", store), admin: modelstest.Person(t, store, "Root", accounts.RoleAdmin)}
	s.ada, err = store.Accounts.SignIn(t.Context(), accounts.SignIn{Provider: "test", Subject: "Ada", Name: "Ada", Email: "ada@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dueMails are those that wait to be sent.
func (s *scene) dueMails() []inbox.Mail {
	s.t.Helper()
	list, err := s.site.Store.Inbox.DueMails(s.t.Context(), time.Now().Add(time.Second), 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func TestAnAddressIsConfirmedByItsPersonWithAClick(t *testing.T) {
	s := mailedScene(t)
	ada, root := s.browserOf(s.ada), s.browserOf(s.admin)
	doc := ada.page("/inbox", http.StatusOK)
	if at := doc.Find("#address").AttrOr("value", ""); at != "ada@example.org" {
		t.Errorf("notices go to %q", at)
	}
	form := url.Values{"on": {"comment.added"}, "mail": {"comment.added", "place.lost"}, "address": {"ada@home.example"}}
	doc = document(t, ada.post("/inbox/choices", form), http.StatusOK)
	wantText(t, doc, "[role=status]", "Open the link that was sent")
	wantText(t, doc, "main", "Waiting for you to open the link that was sent to ada@home.example.")
	if on := doc.Find("input[name=mail][checked]"); on.Length() != 1 {
		t.Errorf("%d kinds come by e-mail; one that is off in the inbox does not", on.Length())
	}
	wantText(t, document(t, ada.post("/inbox/choices", url.Values{"address": {"a@b\r\nBcc: c@d"}}), http.StatusUnprocessableEntity), "[role=alert]", "is not an e-mail address")
	code := regexp.MustCompile(`/inbox/confirm/\S+`).FindString(s.dueMails()[0].Body)
	if to := s.browser().get(code).Request.URL.Path; to != "/sign-in" {
		t.Errorf("a visitor is led to %s", to)
	}
	wantStatus(t, root.post(code, nil), http.StatusNotFound)
	ada.page(code, http.StatusOK) // which confirms nothing
	if at := ada.page("/inbox", http.StatusOK).Find("#address").AttrOr("value", ""); at != "ada@example.org" {
		t.Errorf("opening the link has notices go to %q", at)
	}
	wantStatus(t, ada.post(code, nil), http.StatusOK)
	if at := ada.page("/inbox", http.StatusOK).Find("#address").AttrOr("value", ""); at != "ada@home.example" {
		t.Errorf("after the click notices go to %q", at)
	}
}

func TestEMailIsTurnedOffWithoutASignIn(t *testing.T) {
	s := mailedScene(t)
	store := s.site.Store
	off := func() string {
		token, err := store.Inbox.OffToken(t.Context(), s.ada.ID, "ada@example.org")
		if err == nil {
			err = store.Inbox.Choose(t.Context(), s.ada, inbox.Kinds(), inbox.Kinds())
		}
		if err != nil {
			t.Fatal(err)
		}
		return "/inbox/off/" + token
	}
	wants := func() bool {
		c, err := store.Inbox.Choices(t.Context(), s.ada.ID)
		if err != nil {
			t.Fatal(err)
		}
		return len(c.MailKinds) > 0
	}
	path, b := off(), s.browser()
	doc := b.page(path, http.StatusOK)
	if !wants() {
		t.Error("opening the link turns e-mail off")
	}
	if b.page("/inbox/off/1.guess", http.StatusOK).Find("main").Text() != strings.ReplaceAll(doc.Find("main").Text(), path, "/inbox/off/1.guess") {
		t.Error("the page tells a good link from a bad one")
	}
	wantStatus(t, b.post("/inbox/off/1.guess", nil), http.StatusNotFound)
	wantText(t, document(t, b.post(path, nil), http.StatusOK), "h1", "E-mails are off")
	if wants() {
		t.Error("the button does nothing")
	}
	path = off() // a mail program sends this without a page, from anywhere
	resp, err := http.Post(s.url+path, "application/x-www-form-urlencoded", strings.NewReader("List-Unsubscribe=One-Click"))
	if err != nil || resp.StatusCode != http.StatusOK || wants() {
		t.Errorf("one click: %v, %v", resp.Status, err)
	}
	resp.Body.Close()
}

func TestAdminsSeeWhyEMailFails(t *testing.T) {
	s := mailedScene(t)
	if _, err := s.site.Store.Inbox.SetAddress(t.Context(), s.ada, "ada@home.example"); err != nil {
		t.Fatal(err)
	}
	mail := s.dueMails()[0]
	if err := s.site.Store.Inbox.EndMail(t.Context(), mail, time.Now(), "550 no such person <b>", true); err != nil {
		t.Fatal(err)
	}
	wantText(t, s.browserOf(s.admin).page("/operate/mail", http.StatusOK), "[data-mail]", "ada@home.example 550 no such person <b>")
	wantStatus(t, s.browserOf(s.ada).get("/operate/mail"), http.StatusForbidden)
}

func TestEMailPagesLookRight(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	s := mailedScene(t)
	if _, err := s.site.Store.Inbox.SetAddress(t.Context(), s.ada, "ada@home.example"); err != nil {
		t.Fatal(err)
	}
	if err := s.site.Store.Inbox.EndMail(t.Context(), s.dueMails()[0], time.Now(), "451 4.7.1 Greylisting in action, please come back later", false); err != nil {
		t.Fatal(err)
	}
	w := s.window().as(s.browserOf(s.ada))
	w.open("/inbox")
	w.looksRight("inbox-mail")
	w.open("/inbox/off/1.x")
	w.looksRight("mail-off")
	w = w.as(s.browserOf(s.admin))
	w.open("/operate/mail")
	w.looksRight("operate-mail")
}
