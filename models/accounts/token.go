package accounts

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

const (
	tokenPrefix            = "wb_" // lets secret scanners find a leaked token
	shownTokenPrefixLength = len(tokenPrefix) + 6

	maxValidTokens  = 50 // limit of a person's valid tokens
	maxTokensPerDay = 100
)

// Token is a personal token for the API. The database stores its hash and its first characters.
type Token struct {
	ID         int64
	UserID     int64
	Name       string
	Prefix     string
	SecretHash string
	CreatedAt  time.Time
	UsedAt     *time.Time // last use, accurate to a minute
	ExpiresAt  *time.Time // nil for never
	RevokedAt  *time.Time
}

// IsValidAt reports whether the token is valid at a time.
func (t Token) IsValidAt(at time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || at.Before(*t.ExpiresAt))
}

// HasSecret reports whether secret is the secret of the token.
func (t Token) HasSecret(secret string) bool {
	return secret != "" && db.HashSecret(secret) == t.SecretHash
}

// CreateToken creates a token and returns its secret, of which only a hash is stored. A life of 0 means that it never
// expires.
func (s *Accounts) CreateToken(
	ctx context.Context, userID int64, name string, life time.Duration,
) (secret string, _ Token, _ error) {
	if name = CleanName(name); name == "" {
		return "", Token{}, db.Errorf(db.Invalid, "Give the token a name that you will recognize later.")
	}
	secret = tokenPrefix + db.NewSecret()
	token := Token{
		UserID: userID, Name: name, Prefix: secret[:shownTokenPrefixLength],
		SecretHash: db.HashSecret(secret), CreatedAt: db.Now(),
	}
	if life > 0 {
		end := db.NormalizeTime(token.CreatedAt.Add(life))
		token.ExpiresAt = &end
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkTokenLimit(tx, userID, token.CreatedAt); err != nil {
			return err
		}
		return db.WriteError(tx.Create(&token).Error, "token")
	})
	return secret, token, err
}

// checkTokenLimit limits the tokens of a person. Revoked tokens count for a day.
func checkTokenLimit(tx *gorm.DB, userID int64, at time.Time) error {
	var have struct{ Live, Today int64 }
	day := db.NormalizeTime(at.Add(-24 * time.Hour))
	err := tx.Model(&Token{}).Where("user_id = ?", userID).Select(`coalesce(sum(case when revoked_at is null and (expires_at is null or expires_at > ?) then 1 else 0 end), 0) as live,
		coalesce(sum(case when created_at > ? then 1 else 0 end), 0) as today`, at, day).Scan(&have).Error
	switch {
	case err != nil:
		return fmt.Errorf("counting tokens of person %d: %w", userID, err)
	case have.Live >= maxValidTokens:
		return db.Errorf(db.Conflict, "You have %d active tokens, the maximum. Revoke one that you no longer need.", have.Live)
	case have.Today >= maxTokensPerDay:
		return db.TooManyf(time.Hour, "You can create at most %d tokens a day. Try again later.", maxTokensPerDay)
	}
	return nil
}

// TokenUser returns the valid token with a secret, and its person. It returns NotFound if there is none.
func (s *Accounts) TokenUser(ctx context.Context, secret string) (Token, User, error) {
	var token Token
	if err := s.db.Read(ctx).Where("secret_hash = ?", db.HashSecret(secret)).Take(&token).Error; err != nil {
		return Token{}, User{}, db.ReadError(err, "such token")
	}
	if !token.IsValidAt(db.Now()) {
		return Token{}, User{}, db.Errorf(db.NotFound, "This token was revoked or has expired.")
	}
	user, err := s.User(ctx, token.UserID)
	switch {
	case err != nil:
		return Token{}, User{}, err
	case user.BlockedAt != nil:
		return Token{}, User{}, db.Errorf(db.NotFound, "This account is blocked.")
	}
	if t := db.Now(); token.UsedAt == nil || t.Sub(*token.UsedAt) > time.Minute {
		token.UsedAt = &t
		err = s.db.WriteStatement(ctx).Model(&token).Update("used_at", t).Error
	}
	return token, user, db.WriteError(err, "token")
}

// Tokens lists a person's tokens including revoked ones, newest first.
func (s *Accounts) Tokens(ctx context.Context, userID int64) ([]Token, error) {
	var tokens []Token
	err := s.db.Read(ctx).Where("user_id = ?", userID).Order("id desc").Find(&tokens).Error
	return tokens, db.ReadError(err, "tokens of person %d", userID)
}

// RevokeToken revokes one of a person's tokens at once.
func (s *Accounts) RevokeToken(ctx context.Context, userID, id int64) error {
	res := s.db.WriteStatement(ctx).Model(&Token{}).Where("user_id = ? and id = ? and revoked_at is null", userID, id).Update("revoked_at", db.Now())
	if res.Error == nil && res.RowsAffected == 0 {
		return db.Errorf(db.NotFound, "There is no such active token.")
	}
	return db.WriteError(res.Error, "token")
}
