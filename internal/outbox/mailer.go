package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"warpboard/models/inbox"
)

const (
	mailsEvery  = 2 * time.Second
	mailsAtOnce = 20 // mails per session
	// mailClaim is the time after which a mail is sent again if its sender has died.
	mailClaim = 10 * time.Minute
	// First and longest pause before asking an unavailable server again.
	leastPause, mostPause = time.Minute, 15 * time.Minute
)

// MailConfig configures a Mailer.
type MailConfig struct {
	Loop
	Server Server
	Site   string // address of the site, for links
}

// Mailer sends due mails. Each of a site's processes has one; claims keep them from sending a mail twice.
type Mailer struct {
	MailConfig
	again time.Time     // next try after the server was unavailable
	pause time.Duration // pause before that try
}

// NewMailer returns a Mailer; call Run.
func NewMailer(cfg MailConfig) *Mailer { return &Mailer{MailConfig: cfg} }

// Run sends mails until ctx ends.
func (m *Mailer) Run(ctx context.Context) error {
	return m.repeat(ctx, mailsEvery, "sending e-mail", func() error { return m.look(ctx) })
}

// look makes one pass: a session for all due mails.
func (m *Mailer) look(ctx context.Context) error {
	if m.at().Before(m.again) {
		return nil
	}
	due, err := m.Store.Inbox.DueMails(ctx, m.at(), mailsAtOnce)
	if err != nil || len(due) == 0 {
		return err
	}
	session, err := m.Server.dial(ctx)
	if err != nil {
		return m.postponeAll(ctx, due[0], err)
	}
	defer session.Close()
	m.pause = 0
	for _, mail := range due {
		claimed, err := m.Store.Inbox.ClaimMail(ctx, mail, m.at().Add(mailClaim))
		if err != nil {
			return err
		}
		if !claimed {
			continue
		}
		if err := m.try(ctx, session, mail); err != nil {
			return err
		}
	}
	return session.Quit()
}

// postponeAll postpones everything while the server is unavailable. One mail records the reason for admins; it does not
// count as a try.
func (m *Mailer) postponeAll(ctx context.Context, mail inbox.Mail, why error) error {
	m.pause = min(max(2*m.pause, leastPause), mostPause)
	m.again = m.at().Add(m.pause)
	return errors.Join(fmt.Errorf("the SMTP server %s cannot be used: %w", m.Server.Host, why), m.Store.Inbox.RecordOutage(ctx, mail, why.Error()))
}

// try sends one mail. An error is about the session or the database.
func (m *Mailer) try(ctx context.Context, to *session, mail inbox.Mail) error {
	text, err := m.write(ctx, mail)
	if err == nil {
		err = m.Server.send(to, mail, text)
	}
	var refused refusal
	problem, forGood := "", false
	switch {
	case errors.As(err, &refused):
		problem, forGood = refused.Error(), refused.forGood
		err = to.Reset()
	case err != nil:
		problem = err.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailAnswerIn)
	defer cancel()
	return errors.Join(m.Store.Inbox.EndMail(ctx, mail, m.at(), problem, forGood), err)
}

// write returns the text of a mail, with the unsubscribe link.
func (m *Mailer) write(ctx context.Context, mail inbox.Mail) ([]byte, error) {
	off := ""
	if mail.Kind != inbox.Confirm {
		token, err := m.Store.Inbox.OffToken(ctx, mail.UserID, mail.Address)
		if err != nil {
			return nil, err
		}
		off = m.Site + "/inbox/off/" + token
	}
	_, host, _ := strings.Cut(m.Server.From.Address, "@")
	return message(mail, m.Server.From, host, off, m.at())
}
