package outbox_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/internal/outbox"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
)

const site = "https://boards.example.org"

// office is a site with an SMTP server, whose people receive mail.
type office struct {
	*models.Store
	t     *testing.T
	post  *postOffice
	admin accounts.User
	ann   accounts.User // has a verified address, and wants all mails
	task  comments.Thread
	ahead atomic.Int64 // nanoseconds by which the mailer's clock is ahead
}

func eachOffice(t *testing.T, fn func(o *office)) {
	modelstest.EachConfig(t, models.Config{SiteURL: site, SendMails: true}, func(t *testing.T, s *models.Store) {
		o := &office{Store: s, t: t, post: newPostOffice(t), admin: modelstest.Person(t, s, "Root", accounts.RoleAdmin)}
		o.task.Task = modelstest.Task(t, s, o.admin, "sort", "CPU")
		o.ann = o.reader("Ann", "ann@example.org")
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
	u, err := o.Accounts.SignIn(o.t.Context(),
		accounts.ProviderSignIn{Provider: "test", Subject: name, Name: name, Email: email})
	o.check(err)
	return u
}

// reader creates a person who wants a mail for every kind of notice.
func (o *office) reader(name, email string) accounts.User {
	o.t.Helper()
	u := o.person(name, email)
	o.check(o.Inbox.SetChoices(o.t.Context(), u, inbox.AllNoticeKinds(), inbox.AllNoticeKinds()))
	return u
}

// comment adds a comment to the task as a person, so that the other people get a notice.
func (o *office) comment(who accounts.User) {
	o.t.Helper()
	_, err := o.Comments.Add(o.t.Context(), who, o.task, fmt.Sprint("hello ", time.Now().UnixNano()))
	o.check(err)
	for {
		n, err := o.Webhooks.CreateDeliveries(o.t.Context())
		if o.check(err); n == 0 {
			return
		}
	}
}

func (o *office) now() time.Time { return time.Now().Add(time.Duration(o.ahead.Load())) }

// run runs a mailer until stop is called or the test ends.
func (o *office) run(change func(*outbox.SMTPServer)) (stop func()) {
	o.t.Helper()
	address := o.post.Addr().(*net.TCPAddr)
	server := outbox.SMTPServer{Host: "127.0.0.1", Port: address.Port, User: "post", Password: "secret",
		SenderAddress: mail.Address{Name: "Warp, board", Address: "boards@example.org"}, RootCAs: o.post.Roots}
	if change != nil {
		change(&server)
	}
	ctx, cancel := context.WithCancel(o.t.Context())
	m := outbox.NewMailer(outbox.MailConfig{Server: server, SiteAddress: site,
		LoopConfig: outbox.LoopConfig{
			Store:    o.Store,
			Log:      slog.New(slog.DiscardHandler),
			Interval: 5 * time.Millisecond,
			Now:      o.now,
		}})
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	stop = func() { cancel(); <-ended; ended <- nil }
	o.t.Cleanup(stop)
	return stop
}

func (o *office) mails(n int) []receivedMail {
	o.t.Helper()
	tier.Until(o.t, fmt.Sprint(n, " mails"), func() bool { return len(o.post.got()) >= n })
	return o.post.got()
}

func (o *office) postbox() inbox.MailQueueStatus {
	o.t.Helper()
	p, err := o.Inbox.MailQueue(o.t.Context(), o.admin)
	o.check(err)
	return p
}

// failing waits until one mail has failed with an error that contains says, while the given number of mails wait.
func (o *office) failing(says string, waiting int64) (p inbox.MailQueueStatus) {
	o.t.Helper()
	tier.Until(o.t, "a failure: "+says, func() bool {
		p = o.postbox()
		return len(p.FailingMails) == 1 && strings.Contains(p.FailingMails[0].Error, says) && p.Waiting == waiting
	})
	return p
}

// read parses a mail, and returns it with its decoded body.
func (o *office) read(m receivedMail) (*mail.Message, string) {
	o.t.Helper()
	parsed, err := mail.ReadMessage(strings.NewReader(m.text))
	o.check(err)
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	o.check(err)
	return parsed, string(body)
}

// ask sets a new address for a person; a mail to it then asks for a confirmation.
func (o *office) ask(who accounts.User, address string) error {
	_, err := o.Inbox.SetAddress(o.t.Context(), who, address)
	return err
}

// question waits for the mail that asks to confirm an address, and returns the code and the text of the mail.
func (o *office) question(address string) (code, text string) {
	o.t.Helper()
	tier.Until(o.t, "the question to "+address, func() bool {
		for _, m := range o.post.got() {
			if m.to == "TO:<"+address+">" {
				_, text = o.read(m)
			}
		}
		return text != ""
	})
	found := regexp.MustCompile(`/inbox/confirm/(\S+)`).FindStringSubmatch(text)
	if found == nil {
		o.t.Fatalf("no code in %q", text)
	}
	return found[1], text
}
