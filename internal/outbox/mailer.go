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
	mailInterval    = 2 * time.Second
	mailsPerSession = 20 // maximum number of mails in one SMTP session
	// mailClaimTimeout is the time after which a claimed mail is sent again, because its process has ended.
	mailClaimTimeout = 10 * time.Minute
	// First and longest pause before the next connection to an unavailable mail server.
	minRetryDelay, maxRetryDelay = time.Minute, 15 * time.Minute
)

// MailConfig configures a Mailer.
type MailConfig struct {
	LoopConfig
	Server      SMTPServer
	SiteAddress string // address of the site, for links
}

// Mailer sends due mails. Each process of a site has one; claims keep two processes from sending the same mail.
type Mailer struct {
	MailConfig
	nextTryAt  time.Time     // next try after the server was unavailable
	retryDelay time.Duration // pause before that try
}

// NewMailer returns a Mailer; call Run.
func NewMailer(cfg MailConfig) *Mailer { return &Mailer{MailConfig: cfg} }

// Run sends mails until ctx ends.
func (m *Mailer) Run(ctx context.Context) error {
	return m.runRepeatedly(ctx, mailInterval, "sending e-mail", func() error { return m.runPass(ctx) })
}

// runPass sends all due mails in one session.
func (m *Mailer) runPass(ctx context.Context) error {
	if m.currentTime().Before(m.nextTryAt) {
		return nil
	}
	due, err := m.Store.Inbox.DueMails(ctx, m.currentTime(), mailsPerSession)
	if err != nil || len(due) == 0 {
		return err
	}
	session, err := m.Server.dial(ctx)
	if err != nil {
		return m.postponeAll(ctx, due[0], err)
	}
	defer session.Close()
	m.retryDelay = 0
	for _, mail := range due {
		claimed, err := m.Store.Inbox.ClaimMail(ctx, mail, m.currentTime().Add(mailClaimTimeout))
		if err != nil {
			return err
		}
		if !claimed {
			continue
		}
		if err := m.tryMail(ctx, session, mail); err != nil {
			return err
		}
	}
	return session.Quit()
}

// postponeAll postpones all mails while the server is unavailable. One of them stores the reason for admins; the try
// does not count.
func (m *Mailer) postponeAll(ctx context.Context, mail inbox.Mail, why error) error {
	m.retryDelay = min(max(2*m.retryDelay, minRetryDelay), maxRetryDelay)
	m.nextTryAt = m.currentTime().Add(m.retryDelay)
	return errors.Join(fmt.Errorf("the SMTP server %s cannot be used: %w", m.Server.Host, why), m.Store.Inbox.RecordOutage(ctx, mail, why.Error()))
}

// tryMail sends one mail. It returns an error only if the session or the database failed.
func (m *Mailer) tryMail(ctx context.Context, to *smtpSession, mail inbox.Mail) error {
	text, err := m.formatMail(ctx, mail)
	if err == nil {
		err = m.Server.send(to, mail, text)
	}
	var refused smtpRefusal
	problem, forGood := "", false
	switch {
	case errors.As(err, &refused):
		problem, forGood = refused.Error(), refused.isPermanent
		err = to.Reset()
	case err != nil:
		problem = err.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailTimeout)
	defer cancel()
	return errors.Join(m.Store.Inbox.RecordMailResult(ctx, mail, m.currentTime(), problem, forGood), err)
}

// formatMail returns the text of a mail, with a link for unsubscribing.
func (m *Mailer) formatMail(ctx context.Context, mail inbox.Mail) ([]byte, error) {
	off := ""
	if mail.Kind != inbox.ConfirmAddressMail {
		token, err := m.Store.Inbox.UnsubscribeToken(ctx, mail.UserID, mail.Address)
		if err != nil {
			return nil, err
		}
		off = m.SiteAddress + "/inbox/off/" + token
	}
	_, host, _ := strings.Cut(m.Server.SenderAddress.Address, "@")
	return mailMessage(mail, m.Server.SenderAddress, host, off, m.currentTime())
}
