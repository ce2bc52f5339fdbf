package accounts

import (
	"context"
	"crypto/rand"
	"net/netip"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

const (
	loginRequestLifetime = 10 * time.Minute
	loginTokenLifetime   = 365 * 24 * time.Hour // lifetime of a token from a login
	// maxWaitingLogins limits the waiting logins. Beyond it, a new login replaces one from the network with the most
	// waiting logins.
	maxWaitingLogins = 2000
	// maxWaitingLoginsPerAddress limits the waiting logins of one address (of one /64 with IPv6). A /56 may have twice
	// as many, a /48 four times.
	maxWaitingLoginsPerAddress = 20
	loginCodeLetters           = "BCDFGHJKLMNPQRSTVWXZ" // no vowels, to avoid words, and no two similar letters
	loginCodeLength            = 8
)

// LoginRequest is the sign-in request of a command line. It waits until a person approves or denies it in a browser.
type LoginRequest struct {
	ID         int64
	SecretHash string
	Code       string // such as "BCDFGHJK"
	ClientHost string `gorm:"column:host"` // machine name that the command sent; not trustworthy
	Address    string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	UserID     *int64 // person who approved the request
	IsRefused  bool   `gorm:"column:refused"`
}

// TableName returns the table of sign-in requests.
func (LoginRequest) TableName() string { return "logins" }

// FormattedCode returns the code in the form in which people compare it, such as "BCDF-GHJK".
func (l LoginRequest) FormattedCode() string {
	return l.Code[:loginCodeLength/2] + "-" + l.Code[loginCodeLength/2:]
}

// BeginLogin stores the sign-in request of a command line. It returns the secret with which the command line later
// fetches its token.
func (s *Accounts) BeginLogin(ctx context.Context, host, address string) (secret string, login LoginRequest, err error) {
	secret = db.NewSecret()
	login = LoginRequest{
		SecretHash: db.HashSecret(secret),
		Code:       newLoginCode(),
		ClientHost: CleanName(host),
		Address:    db.SanitizeText(address),
		CreatedAt:  db.Now(),
	}
	login.ExpiresAt = db.NormalizeTime(login.CreatedAt.Add(loginRequestLifetime))
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", login.CreatedAt).Delete(&LoginRequest{}).Error; err != nil {
			return db.WriteError(err, "login")
		}
		var waiting []LoginRequest
		if err := tx.Select("id", "address").Order("id").Find(&waiting).Error; err != nil {
			return db.ReadError(err, "logins")
		}
		if tooManyLogins(login.Address, waiting) {
			return db.Errorf(db.TooMany, "Too many command lines are waiting for a sign-in. Try again in a few minutes.")
		}
		if len(waiting) >= maxWaitingLogins {
			if err := tx.Delete(&LoginRequest{}, oldestLoginToReplace(waiting)).Error; err != nil {
				return db.WriteError(err, "login")
			}
		}
		return db.WriteError(tx.Create(&login).Error, "login")
	})
	return secret, login, err
}

// tooManyLogins reports whether an address, or one of the networks that contain it, has reached its limit of waiting
// logins.
func tooManyLogins(address string, waiting []LoginRequest) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	widths := []int{a.BitLen()}
	if a.Is6() {
		widths = []int{64, 56, 48} // the IPv6 networks that also limit requests
	}
	for i, bits := range widths {
		network, _ := a.WithZone("").Prefix(bits)
		own := 0
		for _, other := range waiting {
			if b, err := netip.ParseAddr(other.Address); err == nil && network.Contains(b.WithZone("")) {
				own++
			}
		}
		if own >= maxWaitingLoginsPerAddress<<i {
			return true
		}
	}
	return false
}

// oldestLoginToReplace returns the ID of the oldest login from the network with the most waiting logins. So a network
// with thousands of addresses cannot lock out others.
func oldestLoginToReplace(waiting []LoginRequest) int64 {
	of := map[netip.Prefix][]int64{}
	var most netip.Prefix
	for _, login := range waiting {
		a, _ := netip.ParseAddr(login.Address)
		bits := 24
		if a.Is6() {
			bits = 48
		}
		network, _ := a.WithZone("").Prefix(bits) // the zero value for an invalid address
		if of[network] = append(of[network], login.ID); len(of[network]) > len(of[most]) {
			most = network
		}
	}
	return of[most][0]
}

// newLoginCode returns a random code. Some letters are more likely than others by a tenth (256 modulo 20), which does
// not help guessing.
func newLoginCode() string {
	var b [loginCodeLength]byte
	rand.Read(b[:]) // rand.Read never fails
	for i := range b {
		b[i] = loginCodeLetters[int(b[i])%len(loginCodeLetters)]
	}
	return string(b[:])
}

// UnansweredLogin returns the unanswered login with a code that a person typed.
func (s *Accounts) UnansweredLogin(ctx context.Context, code string) (login LoginRequest, err error) {
	code = strings.NewReplacer("-", "", " ", "").Replace(strings.ToUpper(code))
	err = s.db.Read(ctx).Where("code = ? and expires_at > ? and user_id is null and not refused", code, db.Now()).Take(&login).Error
	return login, db.ReadError(err, "command line waiting with this code: it may be mistyped, already used, or older than ten minutes")
}

// AnswerLogin approves a login, so that its command line acts as user, or denies it.
func (s *Accounts) AnswerLogin(ctx context.Context, user User, code string, yes bool) error {
	login, err := s.UnansweredLogin(ctx, code)
	if err != nil {
		return err
	}
	answer := map[string]any{"refused": true}
	if yes {
		answer = map[string]any{"user_id": user.ID}
	}
	res := s.db.WriteStatement(ctx).Model(&LoginRequest{}).Where("id = ? and user_id is null and not refused", login.ID).Updates(answer)
	if res.Error == nil && res.RowsAffected == 0 {
		return db.Errorf(db.Conflict, "This code was answered already.")
	}
	return db.WriteError(res.Error, "login")
}

// RedeemLogin creates the token of an approved login and deletes the login. It returns an empty secret if no one has
// answered the login yet.
func (s *Accounts) RedeemLogin(ctx context.Context, secret string) (tokenSecret string, user User, err error) {
	var login LoginRequest
	if err := s.db.Read(ctx).Where("secret_hash = ? and expires_at > ?", db.HashSecret(secret), db.Now()).Take(&login).Error; err != nil {
		return "", user, db.ReadError(err, "login that waits: it has expired or was used")
	}
	switch {
	case login.IsRefused:
		return "", user, db.Errorf(db.Forbidden, "The login was refused in the browser.")
	case login.UserID == nil:
		return "", user, nil
	}
	res := s.db.WriteStatement(ctx).Where("id = ?", login.ID).Delete(&LoginRequest{})
	if res.Error != nil || res.RowsAffected == 0 { // only one of two simultaneous requests gets the token
		return "", user, db.WriteError(res.Error, "login")
	}
	if user, err = s.User(ctx, *login.UserID); err != nil {
		return "", user, err
	}
	tokenSecret, _, err = s.CreateToken(ctx, user.ID, "warpboard login "+login.ClientHost, loginTokenLifetime)
	return tokenSecret, user, err
}
