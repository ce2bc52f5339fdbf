package mailer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"warpboard/models"
	"warpboard/models/inbox"
)

const (
	lookEvery = 2 * time.Second
	atOnce    = 20 // mails per session
	// claimFor is the time after which a mail is sent again if its sender has died.
	claimFor = 10 * time.Minute
	// First and longest pause before asking an unavailable server again.
	leastPause, mostPause = time.Minute, 15 * time.Minute
)

// Config configures a Mailer.
type Config struct {
	Store  *models.Store
	Server Server
	Site   string // address of the site, for links
	Log    *slog.Logger
	Every  time.Duration    // interval of checking for due mails; 0 for two seconds
	Now    func() time.Time // nil for time.Now
}

// Mailer sends due mails. Each of a site's processes has one; claims keep them from sending a mail twice.
type Mailer struct {
	Config
	again time.Time     // next try after the server was unavailable
	pause time.Duration // pause before that try
}

// New returns a Mailer; call Run.
func New(cfg Config) *Mailer {
	cfg.Every = cmp.Or(cfg.Every, lookEvery)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Mailer{Config: cfg}
}

// Run sends mails until ctx ends.
func (m *Mailer) Run(ctx context.Context) error {
	tick := time.NewTicker(m.Every)
	defer tick.Stop()
	for {
		if err := m.look(ctx); err != nil && ctx.Err() == nil {
			m.Log.Error("sending e-mail", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look makes one pass: a session for all due mails.
func (m *Mailer) look(ctx context.Context) error {
	if m.Now().Before(m.again) {
		return nil
	}
	due, err := m.Store.Inbox.DueMails(ctx, m.Now(), atOnce)
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
		claimed, err := m.Store.Inbox.ClaimMail(ctx, mail, m.Now().Add(claimFor))
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
	m.again = m.Now().Add(m.pause)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerIn)
	defer cancel()
	return errors.Join(m.Store.Inbox.EndMail(ctx, mail, m.Now(), problem, forGood), err)
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
	return message(mail, m.Server.From, host, off, m.Now())
}
