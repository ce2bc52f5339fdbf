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
	loginLifetime = 10 * time.Minute
	tokenLifetime = 365 * 24 * time.Hour // lifetime of a token from a login
	// limit of waiting logins; a further one replaces one of the network with the most
	maxLogins = 2000
	// limit for one address, with IPv6 for one /64, twice as many for a /56, four times for a /48
	maxLoginsPerAddress = 20
	loginCodeLetters    = "BCDFGHJKLMNPQRSTVWXZ" // no vowels, to avoid words, and no two similar letters
	loginCodeLength     = 8
)

// Login is a command line's request to sign in. It waits until a person approves or denies it in a browser.
type Login struct {
	ID         int64
	SecretHash string
	Code       string // "BCDFGHJK"
	Host       string // machine's name from the command; not trustworthy
	Address    string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	UserID     *int64 // person who approved
	IsRefused  bool   `gorm:"column:refused"`
}

// FormattedCode returns the code in the form that people compare: "BCDF-GHJK".
func (l Login) FormattedCode() string {
	return l.Code[:loginCodeLength/2] + "-" + l.Code[loginCodeLength/2:]
}

// BeginLogin stores a command line's request to sign in, and returns the secret with which it gets its token.
func (s *Accounts) BeginLogin(ctx context.Context, host, address string) (secret string, login Login, err error) {
	secret = db.NewSecret()
	login = Login{
		SecretHash: db.HashSecret(secret),
		Code:       newLoginCode(),
		Host:       CleanName(host),
		Address:    db.Sanitize(address),
		CreatedAt:  db.Now(),
	}
	login.ExpiresAt = db.Time(login.CreatedAt.Add(loginLifetime))
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", login.CreatedAt).Delete(&Login{}).Error; err != nil {
			return db.WriteError(err, "login")
		}
		var waiting []Login
		if err := tx.Select("id", "address").Order("id").Find(&waiting).Error; err != nil {
			return db.ReadError(err, "logins")
		}
		if tooManyLogins(login.Address, waiting) {
			return db.Errorf(db.TooMany, "Too many command lines are waiting for a sign-in. Try again in a few minutes.")
		}
		if len(waiting) >= maxLogins {
			if err := tx.Delete(&Login{}, oldestLoginToReplace(waiting)).Error; err != nil {
				return db.WriteError(err, "login")
			}
		}
		return db.WriteError(tx.Create(&login).Error, "login")
	})
	return secret, login, err
}

// tooManyLogins reports whether an address, or with IPv6 a network of one customer, has reached its limit of waiting
// logins.
func tooManyLogins(address string, waiting []Login) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	widths := []int{a.BitLen()}
	if a.Is6() {
		widths = []int{64, 56, 48} // as limits of requests count them
	}
	for i, bits := range widths {
		network, _ := a.WithZone("").Prefix(bits)
		own := 0
		for _, other := range waiting {
			if b, err := netip.ParseAddr(other.Address); err == nil && network.Contains(b.WithZone("")) {
				own++
			}
		}
		if own >= maxLoginsPerAddress<<i {
			return true
		}
	}
	return false
}

// oldestLoginToReplace returns the oldest login of the network with the most of them. It is replaced when there are too
// many logins: a network with thousands of addresses locks no one out, not even its other users.
func oldestLoginToReplace(waiting []Login) int64 {
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

// newLoginCode draws a code. The remainder of 256 by 20 makes some letters likelier by a tenth, which does not help
// guessing.
func newLoginCode() string {
	var b [loginCodeLength]byte
	rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = loginCodeLetters[int(b[i])%len(loginCodeLetters)]
	}
	return string(b[:])
}

// WaitingLogin returns the unanswered login with a code, as typed by a person.
func (s *Accounts) WaitingLogin(ctx context.Context, code string) (login Login, err error) {
	code = strings.NewReplacer("-", "", " ", "").Replace(strings.ToUpper(code))
	err = s.db.Read(ctx).Where("code = ? and expires_at > ? and user_id is null and not refused", code, db.Now()).Take(&login).Error
	return login, db.ReadError(err, "command line waiting with this code: it may be mistyped, already used, or older than ten minutes")
}

// AnswerLogin approves a login as a person, or denies it.
func (s *Accounts) AnswerLogin(ctx context.Context, user User, code string, yes bool) error {
	login, err := s.WaitingLogin(ctx, code)
	if err != nil {
		return err
	}
	answer := map[string]any{"refused": true}
	if yes {
		answer = map[string]any{"user_id": user.ID}
	}
	res := s.db.Writer(ctx).Model(&Login{}).Where("id = ? and user_id is null and not refused", login.ID).Updates(answer)
	if res.Error == nil && res.RowsAffected == 0 {
		return db.Errorf(db.Conflict, "This code was answered already.")
	}
	return db.WriteError(res.Error, "login")
}

// EndLogin makes the token of an approved login, once. An empty secret means that no one has answered yet.
func (s *Accounts) EndLogin(ctx context.Context, secret string) (tokenSecret string, user User, err error) {
	var login Login
	if err := s.db.Read(ctx).Where("secret_hash = ? and expires_at > ?", db.HashSecret(secret), db.Now()).Take(&login).Error; err != nil {
		return "", user, db.ReadError(err, "login that waits: it has expired or was used")
	}
	switch {
	case login.IsRefused:
		return "", user, db.Errorf(db.Forbidden, "The login was refused in the browser.")
	case login.UserID == nil:
		return "", user, nil
	}
	res := s.db.Writer(ctx).Where("id = ?", login.ID).Delete(&Login{})
	if res.Error != nil || res.RowsAffected == 0 { // of two simultaneous requests, one gets it
		return "", user, db.WriteError(res.Error, "login")
	}
	if user, err = s.User(ctx, *login.UserID); err != nil {
		return "", user, err
	}
	tokenSecret, _, err = s.CreateToken(ctx, user.ID, "warpboard login "+login.Host, tokenLifetime)
	return tokenSecret, user, err
}
