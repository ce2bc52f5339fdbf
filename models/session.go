package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Session is one signed-in browser. The cookie holds a secret, the table only its hash.
type Session struct {
	ID         int64
	UserID     int64
	SecretHash string
	Provider   string
	UserAgent  string
	Address    string
	CreatedAt  time.Time
	SeenAt     time.Time // to the minute
	ExpiresAt  time.Time
}

// NewSession describes the browser that signs in.
type NewSession struct {
	UserID    int64
	Provider  string
	UserAgent string
	Address   string
	Life      time.Duration
}

// StartSession makes a session and returns the secret for its cookie.
func (s *Store) StartSession(ctx context.Context, in NewSession) (secret string, _ Session, _ error) {
	secret = newSecret()
	t := now()
	session := Session{
		UserID: in.UserID, SecretHash: hashSecret(secret), Provider: in.Provider,
		UserAgent: cut(clean(in.UserAgent), 200), Address: clean(in.Address),
		CreatedAt: t, SeenAt: t, ExpiresAt: stored(t.Add(in.Life)),
	}
	err := s.save(ctx).Create(&session).Error
	return secret, session, saving(err, "session")
}

// SessionUser returns the session with this secret and its person. A session that has expired or
// was revoked, or whose person is blocked, is NotFound.
func (s *Store) SessionUser(ctx context.Context, secret string) (Session, User, error) {
	var session Session
	err := s.read(ctx).Where("secret_hash = ? and expires_at > ?", hashSecret(secret), now()).Take(&session).Error
	if err != nil {
		return Session{}, User{}, lookup(err, "such session")
	}
	user, err := s.User(ctx, session.UserID)
	switch {
	case err != nil:
		return Session{}, User{}, err
	case user.BlockedAt != nil:
		return Session{}, User{}, Errorf(NotFound, "This account is blocked.")
	}
	if now().Sub(session.SeenAt) > time.Minute {
		session.SeenAt = now()
		err = s.save(ctx).Model(&session).Update("seen_at", session.SeenAt).Error
	}
	return session, user, saving(err, "session")
}

// Sessions lists a person's live sessions, the last used first.
func (s *Store) Sessions(ctx context.Context, userID int64) ([]Session, error) {
	var sessions []Session
	err := s.read(ctx).Where("user_id = ? and expires_at > ?", userID, now()).Order("seen_at desc, id desc").Find(&sessions).Error
	return sessions, lookup(err, "sessions of person %d", userID)
}

// EndSession revokes one of a person's sessions.
func (s *Store) EndSession(ctx context.Context, userID, id int64) error {
	return endSessions(s.save(ctx), "user_id = ? and id = ?", userID, id)
}

// EndOtherSessions revokes all of a person's sessions but one.
func (s *Store) EndOtherSessions(ctx context.Context, userID, keep int64) error {
	return endOtherSessions(s.save(ctx), userID, keep)
}

func endOtherSessions(db *gorm.DB, userID, keep int64) error {
	return endSessions(db, "user_id = ? and id <> ?", userID, keep)
}

func endSessions(db *gorm.DB, where string, args ...any) error {
	if err := db.Where(where, args...).Delete(&Session{}).Error; err != nil {
		return fmt.Errorf("ending sessions: %w", err)
	}
	return nil
}

// cut shortens text to n bytes at the border of a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return clean(text[:n])
}
