package accounts

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Session is one signed-in browser. The browser's cookie has a secret, of which the database stores a hash.
type Session struct {
	ID         int64
	UserID     int64
	SecretHash string
	Provider   string
	UserAgent  string
	Address    string
	CreatedAt  time.Time
	SeenAt     time.Time // last use, accurate to a minute
	ExpiresAt  time.Time
}

// NewSession describes the browser that signs in.
type NewSession struct {
	UserID    int64
	Provider  string
	UserAgent string
	Address   string
	Lifetime  time.Duration
}

// StartSession creates a session and returns the secret for its cookie.
func (s *Accounts) StartSession(ctx context.Context, in NewSession) (secret string, _ Session, _ error) {
	secret = db.NewSecret()
	t := db.Now()
	session := Session{
		UserID: in.UserID, SecretHash: db.HashSecret(secret), Provider: in.Provider,
		UserAgent: db.CutText(db.SanitizeText(in.UserAgent), 200), Address: db.SanitizeText(in.Address),
		CreatedAt: t, SeenAt: t, ExpiresAt: db.NormalizeTime(t.Add(in.Lifetime)),
	}
	err := s.db.WriteStatement(ctx).Create(&session).Error
	return secret, session, db.WriteError(err, "session")
}

// sessionWithUser is a session with its person. One query reads both, because each request of a signed-in person needs
// them.
type sessionWithUser struct {
	Session
	User        User    `gorm:"foreignKey:UserID"`
	JoinedTasks []int64 `gorm:"column:joined;->;serializer:json"`
	UnreadCount int     `gorm:"column:news;->"`
}

// TableName returns the table of sessions.
func (sessionWithUser) TableName() string { return "sessions" }

// SessionUser returns the session with a secret, and its person. It returns NotFound if the session has expired or was
// revoked, or if the person is blocked.
func (s *Accounts) SessionUser(ctx context.Context, secret string) (Session, User, error) {
	var row sessionWithUser
	q := s.db.Read(ctx).Select("sessions.*", joinedTasksSQL(s.db.Read(ctx), "sessions.user_id"), unreadCountSQL("sessions.user_id")).Joins("User")
	err := q.Where("sessions.secret_hash = ? and sessions.expires_at > ?", db.HashSecret(secret), db.Now()).Take(&row).Error
	if err != nil {
		return Session{}, User{}, db.ReadError(err, "such session")
	}
	session, user := row.Session, row.User
	user.JoinedTaskIDs, user.UnreadNotices = row.JoinedTasks, row.UnreadCount
	if user.BlockedAt != nil {
		return Session{}, User{}, db.Errorf(db.NotFound, "This account is blocked.")
	}
	if db.Now().Sub(session.SeenAt) > time.Minute {
		session.SeenAt = db.Now()
		err = s.db.WriteStatement(ctx).Model(&session).Update("seen_at", session.SeenAt).Error
	}
	return session, user, db.WriteError(err, "session")
}

// Sessions lists a person's valid sessions, most recently used first.
func (s *Accounts) Sessions(ctx context.Context, userID int64) ([]Session, error) {
	var sessions []Session
	err := s.db.Read(ctx).Where("user_id = ? and expires_at > ?", userID, db.Now()).Order("seen_at desc, id desc").Find(&sessions).Error
	return sessions, db.ReadError(err, "sessions of person %d", userID)
}

// EndSession revokes one of a person's sessions.
func (s *Accounts) EndSession(ctx context.Context, userID, id int64) error {
	return endSessions(s.db.WriteStatement(ctx), "user_id = ? and id = ?", userID, id)
}

// EndOtherSessions revokes all of a person's sessions except keep.
func (s *Accounts) EndOtherSessions(ctx context.Context, userID, keep int64) error {
	return endOtherSessions(s.db.WriteStatement(ctx), userID, keep)
}

func endOtherSessions(tx *gorm.DB, userID, keep int64) error {
	return endSessions(tx, "user_id = ? and id <> ?", userID, keep)
}

func endSessions(tx *gorm.DB, where string, args ...any) error {
	if err := tx.Where(where, args...).Delete(&Session{}).Error; err != nil {
		return fmt.Errorf("ending sessions: %w", err)
	}
	return nil
}
