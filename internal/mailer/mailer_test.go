package mailer_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/internal/mailer"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
)

const site = "https://boards.example.org"

// office is a site whose people get mail.
type office struct {
	*models.Store
	t     *testing.T
	post  *postOffice
	admin accounts.User
	ann   accounts.User // with a verified address, who wants all mails
	task  comments.Thread
	ahead atomic.Int64 // of the mailer's clock
}

func each(t *testing.T, fn func(o *office)) {
	modelstest.EachConfig(t, models.Config{Site: site, Mails: true}, func(t *testing.T, s *models.Store) {
		o := &office{Store: s, t: t, post: newPostOffice(t), admin: modelstest.Person(t, s, "Root", accounts.RoleAdmin)}
		o.task.Task = modelstest.Task(t, s, o.admin, "sort", "CPU")
		o.ann = o.person("Ann", "ann@example.org")
		o.check(s.Inbox.Choose(t.Context(), o.ann, inbox.Kinds(), inbox.Kinds()))
		o.comment(o.ann)
		fn(o)
	})
}

func (o *office) check(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) person(name, email string) accounts.User {
	o.t.Helper()
	u, err := o.Accounts.SignIn(o.t.Context(), accounts.SignIn{Provider: "test", Subject: name, Name: name, Email: email})
	o.check(err)
	return u
}

// comment has someone comment on the task, and the others be told.
func (o *office) comment(who accounts.User) {
	o.t.Helper()
	_, err := o.Comments.Add(o.t.Context(), who, o.task, fmt.Sprint("hello ", time.Now().UnixNano()))
	o.check(err)
	for {
		n, err := o.Webhooks.SpreadEvents(o.t.Context())
		if o.check(err); n == 0 {
			return
		}
	}
}

func (o *office) now() time.Time { return time.Now().Add(time.Duration(o.ahead.Load())) }

// run sends mails until the end of the test.
func (o *office) run(change func(*mailer.Server)) (stop func()) {
	o.t.Helper()
	address := o.post.Addr().(*net.TCPAddr)
	server := mailer.Server{Host: "127.0.0.1", Port: address.Port, User: "post", Password: "secret", From: mail.Address{Name: "Warp, board", Address: "boards@example.org"}, Roots: o.post.Roots}
	if change != nil {
		change(&server)
	}
	ctx, cancel := context.WithCancel(o.t.Context())
	m := mailer.New(mailer.Config{Store: o.Store, Server: server, Site: site, Log: slog.New(slog.DiscardHandler), Every: 5 * time.Millisecond, Now: o.now})
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	stop = func() { cancel(); <-ended; ended <- nil }
	o.t.Cleanup(stop)
	return stop
}

func (o *office) await(what string, so func() bool) {
	o.t.Helper()
	deadline, tick := time.After(60*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-deadline:
			o.t.Fatalf("%s did not come in time", what)
		}
	}
}

func (o *office) mails(n int) []received {
	o.t.Helper()
	o.await(fmt.Sprint(n, " mails"), func() bool { return len(o.post.got()) >= n })
	return o.post.got()
}

func (o *office) postbox() inbox.Postbox {
	o.t.Helper()
	p, err := o.Inbox.Postbox(o.t.Context(), o.admin)
	o.check(err)
	return p
}

// read takes a mail apart as a mail program does.
func (o *office) read(m received) (*mail.Message, string) {
	o.t.Helper()
	parsed, err := mail.ReadMessage(strings.NewReader(m.text))
	o.check(err)
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	o.check(err)
	return parsed, string(body)
}

func TestANoticeComesByMailToWhoWantsIt(t *testing.T) {
	each(t, func(o *office) {
		bob := o.person("Bob ☃", "bob@example.org") // wants none
		o.comment(bob)
		o.comment(o.admin)
		o.run(nil)
		got := o.mails(1)
		m, body := o.read(got[0])
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if o.check(err); subject != "Bob ☃ commented on Sort." || got[0].to != "TO:<ann@example.org>" || !got[0].secure || !got[0].signedIn {
			o.t.Errorf("%q, %+v", subject, got[0])
		}
		off := regexp.MustCompile(site + `/inbox/off/\S+`).FindString(body)
		if m.Header.Get("List-Unsubscribe") != "<"+off+">" || !strings.Contains(body, site+"/tasks/sort/comments?after=1#comment-2") || strings.Contains(body, "hello") {
			o.t.Errorf("%v\n%s", m.Header, body)
		}
		o.await("the end", func() bool { return o.postbox().Sent == 1 })
		token := off[strings.LastIndex(off, "/")+1:]
		for _, wrong := range []string{"", "1", token[:len(token)-1], token + "x", strings.Replace(token, fmt.Sprint(o.ann.ID), fmt.Sprint(bob.ID), 1), "999.x", "x.y"} {
			if err := o.Inbox.MailOff(o.t.Context(), wrong); db.KindOf(err) != db.NotFound {
				o.t.Errorf("%q turns it off: %v", wrong, err)
			}
		}
		o.check(o.Inbox.MailOff(o.t.Context(), token))
		o.check(o.Inbox.MarkAllRead(o.t.Context(), o.ann, time.Now()))
		o.comment(bob)
		if p := o.postbox(); p.Waiting+p.Failed != 0 || p.Sent != 1 {
			o.t.Errorf("after turning it off: %+v", p)
		}
	})
}

func TestNoNameBecomesAHeaderOrARecipient(t *testing.T) {
	each(t, func(o *office) {
		_, err := o.SQL().ExecContext(o.t.Context(), fmt.Sprintf("update tasks set title = '%s'", "Sort\r\nBcc: eve@example.org\r\n\r\n.\r\nMAIL FROM:<x>"))
		o.check(err)
		o.comment(o.admin)
		for _, address := range []string{"a@b\r\nRCPT TO:<eve@example.org>", "a@b, c@d", "Eve <eve@example.org>", "<a@b>", "a b@c", "\"a\"@b", "ä@b", "@", "a@", strings.Repeat("a", 250) + "@example.org", "a@b\x00"} {
			if _, err := o.Inbox.SetAddress(o.t.Context(), o.ann, address); db.KindOf(err) != db.Invalid {
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
	each(t, func(o *office) {
		o.comment(o.admin)
		o.post.change(func() { o.post.answer = func(string) string { return "451 later" } })
		o.run(nil)
		failing := func(says string, waiting int64) func() bool {
			return func() bool {
				p := o.postbox()
				return len(p.Failing) == 1 && strings.Contains(p.Failing[0].Error, says) && p.Waiting == waiting
			}
		}
		o.await("a failure", failing("later", 1))
		o.post.change(func() { o.post.answer = func(string) string { return "550 no such person" } })
		o.ahead.Store(int64(2 * time.Minute))
		o.await("a refusal", failing("no such person", 0))
		if p := o.postbox(); p.Failed != 1 || p.Failing[0].Tries != 2 {
			o.t.Errorf("%+v", p)
		}
	})
}

func TestAServerThatIsAwayOrUnsafeGetsNothing(t *testing.T) {
	each(t, func(o *office) {
		o.comment(o.admin)
		for says, change := range map[string]func(*mailer.Server){
			"sign in":     func(s *mailer.Server) { s.Password = "wrong" },
			"certificate": func(s *mailer.Server) { s.Roots = nil },
			"no TLS": func(s *mailer.Server) { // 0.0.0.0 leads here, and is no address of this machine
				o.post.change(func() { o.post.plain = true })
				s.Host, s.User = "0.0.0.0", ""
			},
			"closed": func(*mailer.Server) { o.post.change(func() { o.post.shut = true }) },
		} {
			stop := o.run(change)
			o.await(says, func() bool {
				p := o.postbox()
				return len(p.Failing) == 1 && strings.Contains(p.Failing[0].Error, says)
			})
			stop()
			if p := o.postbox(); p.Failing[0].Tries != 0 || p.Waiting != 1 {
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
	each(t, func(o *office) {
		eve := o.person("Visit evil.example", "")
		o.check(o.Inbox.Choose(o.t.Context(), eve, inbox.Kinds(), inbox.Kinds()))
		o.comment(eve)
		ask := func(who accounts.User, address string) error {
			_, err := o.Inbox.SetAddress(o.t.Context(), who, address)
			return err
		}
		o.check(ask(eve, "victim@example.org"))
		o.comment(o.admin)
		o.run(nil)
		got := o.mails(2) // the question, and Ann's
		question, others := "", 0
		for _, m := range got {
			if m.to == "TO:<victim@example.org>" {
				_, question = o.read(m)
			} else {
				others++
			}
		}
		code := regexp.MustCompile(`/inbox/confirm/(\S+)`).FindStringSubmatch(question)
		if code == nil || others != 1 || strings.Contains(question, "evil") {
			o.t.Fatalf("%d other mails, and %q", others, question)
		}
		if err := o.Inbox.ConfirmAddress(o.t.Context(), o.ann, code[1]); db.KindOf(err) != db.NotFound {
			o.t.Errorf("another person confirms it: %v", err)
		}
		for _, who := range []accounts.User{eve, eve, eve, o.ann} { // the third and fourth are too many
			_ = ask(who, "victim@example.org")
		}
		if err := ask(o.person("Mallory", ""), "VICTIM@example.org"); db.KindOf(err) != db.TooMany {
			o.t.Errorf("a fourth question goes to one address: %v", err)
		}
		_ = ask(eve, "Victim2@example.org")
		if err := ask(eve, "victim3@example.org"); db.KindOf(err) != db.TooMany {
			o.t.Errorf("one person asks four addresses: %v", err)
		}
		bea := o.person("Bea", "bea@example.org")
		o.check(o.Inbox.Choose(o.t.Context(), bea, inbox.Kinds(), inbox.Kinds()))
		o.check(ask(bea, "bea@home.example"))
		o.await("Bea's question", func() bool {
			for _, m := range o.post.got() {
				if m.to == "TO:<bea@home.example>" {
					_, question = o.read(m)
					return true
				}
			}
			return false
		})
		code = regexp.MustCompile(`/inbox/confirm/(\S+)`).FindStringSubmatch(question)
		o.check(o.Inbox.ConfirmAddress(o.t.Context(), bea, code[1]))
		if err := o.Inbox.ConfirmAddress(o.t.Context(), bea, code[1]); db.KindOf(err) != db.NotFound {
			o.t.Errorf("a link works twice: %v", err)
		}
		if c, err := o.Inbox.Choices(o.t.Context(), bea.ID); err != nil || c.AddressOf(bea.Email) != "bea@home.example" {
			o.t.Errorf("Bea's mails go to %+v, %v", c, err)
		}
	})
}

func TestOnePersonGetsSoManyMailsADay(t *testing.T) {
	each(t, func(o *office) {
		for range 25 {
			o.comment(o.admin)
			o.check(o.Inbox.MarkAllRead(o.t.Context(), o.ann, time.Now()))
		}
		// Comments have half of a day's mails: the rest is for what else a person is told.
		if p := o.postbox(); p.Waiting != 10 {
			o.t.Errorf("%d mails wait", p.Waiting)
		}
	})
}
