package outbox_test

import (
	"fmt"
	"mime"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/internal/outbox"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

func TestANoticeIsMailedToThoseWhoWantIt(t *testing.T) {
	eachOffice(t, func(o *office) {
		bob := o.person("Bob ☃", "bob@example.org") // Bob wants no mails
		o.comment(bob)
		o.comment(o.admin)
		o.run(nil)
		got := o.mails(1)
		m, body := o.read(got[0])
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if o.check(err); subject != "Bob ☃ commented on Sort." || got[0].to != "TO:<ann@example.org>" ||
			!got[0].secure || !got[0].signedIn {
			o.t.Errorf("%q, %+v", subject, got[0])
		}
		off := regexp.MustCompile(site + `/inbox/off/\S+`).FindString(body)
		if m.Header.Get("List-Unsubscribe") != "<"+off+">" ||
			!strings.Contains(body, site+"/tasks/sort/comments?after=1#comment-2") || strings.Contains(body, "hello") {
			o.t.Errorf("%v\n%s", m.Header, body)
		}
		tier.Until(o.t, "the end", func() bool { return o.postbox().Sent == 1 })
		token := off[strings.LastIndex(off, "/")+1:]
		for _, wrong := range []string{"", "1", token[:len(token)-1], token + "x",
			strings.Replace(token, fmt.Sprint(o.ann.ID), fmt.Sprint(bob.ID), 1), "999.x", "x.y"} {
			if err := o.Inbox.Unsubscribe(o.t.Context(), wrong); db.KindOf(err) != db.NotFound {
				o.t.Errorf("%q turns it off: %v", wrong, err)
			}
		}
		o.check(o.Inbox.Unsubscribe(o.t.Context(), token))
		o.check(o.Inbox.MarkAllRead(o.t.Context(), o.ann, time.Now()))
		o.comment(bob)
		if p := o.postbox(); p.Waiting+p.Failed != 0 || p.Sent != 1 {
			o.t.Errorf("after turning it off: %+v", p)
		}
	})
}

func TestNoNameBecomesAHeaderOrARecipient(t *testing.T) {
	eachOffice(t, func(o *office) {
		_, err := o.SQL().ExecContext(o.t.Context(),
			fmt.Sprintf("update tasks set title = '%s'", "Sort\r\nBcc: eve@example.org\r\n\r\n.\r\nMAIL FROM:<x>"))
		o.check(err)
		o.comment(o.admin)
		for _, address := range []string{"a@b\r\nRCPT TO:<eve@example.org>", "a@b, c@d", "Eve <eve@example.org>",
			"<a@b>", "a b@c", "\"a\"@b", "ä@b", "@", "a@", strings.Repeat("a", 250) + "@example.org", "a@b\x00"} {
			if err := o.ask(o.ann, address); db.KindOf(err) != db.Invalid {
				o.t.Errorf("%q is an address: %v", address, err)
			}
		}
		o.run(nil)
		got := o.mails(1)
		m, _ := o.read(got[0])
		if m.Header.Get("Bcc") != "" || got[0].to != "TO:<ann@example.org>" || len(m.Header) != 11 {
			o.t.Errorf("%+v", m.Header)
		}
	})
}

func TestAMailIsTriedAgainUntilItIsRefusedForGood(t *testing.T) {
	eachOffice(t, func(o *office) {
		o.comment(o.admin)
		o.post.change(func() { o.post.answer = func(string) string { return "451 later" } })
		o.run(nil)
		o.failing("later", 1)
		o.post.change(func() { o.post.answer = func(string) string { return "550 no such person" } })
		o.ahead.Store(int64(2 * time.Minute))
		if p := o.failing("no such person", 0); p.Failed != 1 || p.FailingMails[0].Tries != 2 {
			o.t.Errorf("%+v", p)
		}
	})
}

func TestAServerThatIsAwayOrUnsafeGetsNothing(t *testing.T) {
	eachOffice(t, func(o *office) {
		o.comment(o.admin)
		for says, change := range map[string]func(*outbox.SMTPServer){
			"sign in":     func(s *outbox.SMTPServer) { s.Password = "wrong" },
			"certificate": func(s *outbox.SMTPServer) { s.RootCAs = nil },
			"no TLS": func(s *outbox.SMTPServer) { // 0.0.0.0 connects to this machine, but does not count as local
				o.post.change(func() { o.post.plain = true })
				s.Host, s.User = "0.0.0.0", ""
			},
			"closed": func(*outbox.SMTPServer) { o.post.change(func() { o.post.shut = true }) },
		} {
			stop := o.run(change)
			p := o.failing(says, 1)
			stop()
			if p.FailingMails[0].Tries != 0 {
				o.t.Errorf("%s cost a try: %+v", says, p)
			}
			o.post.change(func() { o.post.shut, o.post.plain = false, false })
		}
		o.run(nil)
		o.mails(1)
		for _, m := range o.post.got() {
			if !m.secure {
				o.t.Error("a mail came without TLS")
			}
		}
	})
}

func TestAnAddressGetsNoMailBeforeItIsConfirmedAndFewQuestions(t *testing.T) {
	eachOffice(t, func(o *office) {
		eve := o.reader("Visit evil.example", "")
		o.comment(eve)
		o.check(o.ask(eve, "victim@example.org"))
		o.comment(o.admin)
		o.run(nil)
		code, question := o.question("victim@example.org")
		// The question, and the notice for Ann.
		if got := o.mails(2); len(got) != 2 || strings.Contains(question, "evil") {
			o.t.Fatalf("%d mails, and %q", len(got), question)
		}
		if err := o.Inbox.ConfirmAddress(o.t.Context(), o.ann, code); db.KindOf(err) != db.NotFound {
			o.t.Errorf("another person confirms it: %v", err)
		}
		for _, who := range []accounts.User{eve, eve, eve, o.ann} { // the third and fourth exceed the limit
			_ = o.ask(who, "victim@example.org")
		}
		if err := o.ask(o.person("Mallory", ""), "VICTIM@example.org"); db.KindOf(err) != db.TooMany {
			o.t.Errorf("a fourth question goes to one address: %v", err)
		}
		_ = o.ask(eve, "Victim2@example.org")
		if err := o.ask(eve, "victim3@example.org"); db.KindOf(err) != db.TooMany {
			o.t.Errorf("one person asks four addresses: %v", err)
		}
		bea := o.reader("Bea", "bea@example.org")
		o.check(o.ask(bea, "bea@home.example"))
		code, _ = o.question("bea@home.example")
		o.check(o.Inbox.ConfirmAddress(o.t.Context(), bea, code))
		if err := o.Inbox.ConfirmAddress(o.t.Context(), bea, code); db.KindOf(err) != db.NotFound {
			o.t.Errorf("a link works twice: %v", err)
		}
		if c, err := o.Inbox.Choices(o.t.Context(), bea.ID); err != nil ||
			c.MailAddress(bea.Email) != "bea@home.example" {
			o.t.Errorf("Bea's mails go to %+v, %v", c, err)
		}
	})
}

func TestOnePersonGetsSoManyMailsADay(t *testing.T) {
	eachOffice(t, func(o *office) {
		for range 25 {
			o.comment(o.admin)
			o.check(o.Inbox.MarkAllRead(o.t.Context(), o.ann, time.Now()))
		}
		// Comments get half of a day's mails: the rest is for other notices.
		if p := o.postbox(); p.Waiting != 10 {
			o.t.Errorf("%d mails wait", p.Waiting)
		}
	})
}
