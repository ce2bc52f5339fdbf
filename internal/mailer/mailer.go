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
	atOnce    = 20 // mails of one session
	// claimFor is after when a mail is sent again whose sender has died.
	claimFor = 10 * time.Minute
	// A server that is away is asked again after these times.
	leastPause, mostPause = time.Minute, 15 * time.Minute
)

// Config has the parts of a Mailer.
type Config struct {
	Store  *models.Store
	Server Server
	Site   string // its address, for links
	Log    *slog.Logger
	Every  time.Duration    // how often it looks; 0: every two seconds
	Now    func() time.Time // nil: time.Now
}

// Mailer sends mails that are due. Each of a site's processes has one; claims keep them apart.
type Mailer struct {
	Config
	again time.Time     // when the server is asked again that was away
	pause time.Duration // before that
}

// New makes a Mailer; Run starts it.
func New(cfg Config) *Mailer {
	cfg.Every = cmp.Or(cfg.Every, lookEvery)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Mailer{Config: cfg}
}

// Run sends until ctx ends.
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

// look is one pass: a session for all that is due.
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
		return m.away(ctx, due[0], err)
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

// away puts everything off while the server cannot be used. One mail has the reason, for admins to read; it costs no try.
func (m *Mailer) away(ctx context.Context, mail inbox.Mail, why error) error {
	m.pause = min(max(2*m.pause, leastPause), mostPause)
	m.again = m.Now().Add(m.pause)
	return errors.Join(fmt.Errorf("the SMTP server %s cannot be used: %w", m.Server.Host, why), m.Store.Inbox.NoteAway(ctx, mail, why.Error()))
}

// try sends one mail. An error is one of the session or of the database.
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

// write makes the text of a mail, with the link that turns all off.
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
