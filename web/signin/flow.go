package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/markbates/goth"

	"warpboard/web/site"
)

const (
	stateCookie = "wb_oauth"
	stateLife   = 10 * time.Minute
)

// oauthState is what the browser keeps between leaving for a provider and coming back. Nobody else can read or
// set the cookie, and a callback counts only with its state; so it needs no place on the server.
type oauthState struct {
	Provider string `json:"p"`
	State    string `json:"s"`
	Verifier string `json:"v"` // PKCE
	Nonce    string `json:"n"`
	Next     string `json:"to"`
	Link     int64  `json:"l,omitempty"` // person whom the account is added to; 0: it signs in
}

func (s *SignIn) popState(c *fiber.Ctx) (oauthState, bool) {
	var f oauthState
	text, err := base64.RawURLEncoding.DecodeString(s.Cookie(c, stateCookie))
	if err != nil || json.Unmarshal(text, &f) != nil {
		return oauthState{}, false
	}
	return f, f.State != ""
}

// begin returns the provider's address to send the browser to.
func (p *provider) begin(ctx context.Context, f oauthState) (string, error) {
	g, err := p.open(ctx)
	if err != nil {
		return "", err
	}
	session, err := g.BeginAuth(f.State)
	if err != nil {
		return "", err
	}
	address, err := session.GetAuthURL()
	if err != nil || !p.oidc {
		return address, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	challenge := sha256.Sum256([]byte(f.Verifier))
	q := u.Query()
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(challenge[:]))
	q.Set("code_challenge_method", "S256")
	q.Set("nonce", f.Nonce)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// complete exchanges the code for who signed in.
func (p *provider) complete(ctx context.Context, f oauthState, code string) (who person, err error) {
	defer func() { // goth takes claims apart without asking whether they are there
		if r := recover(); r != nil {
			err = fmt.Errorf("the provider's answer is malformed: %v", r)
		}
	}()
	g, err := p.open(ctx)
	if err != nil {
		return person{}, err
	}
	session, err := g.BeginAuth(f.State)
	if err != nil {
		return person{}, err
	}
	// Only these pass on: goth would let the callback's own parameters choose redirect_uri and verifier.
	params := url.Values{"code": {code}, "state": {f.State}}
	if p.oidc {
		params.Set("code_verifier", f.Verifier)
	}
	if _, err := session.Authorize(g, params); err != nil {
		return person{}, err
	}
	u, err := g.FetchUser(session)
	if err != nil {
		return person{}, err
	}
	if p.oidc && !nonceMatches(u, f.Nonce) {
		return person{}, errors.New("the id token belongs to another sign-in (nonce)")
	}
	return p.personOf(u)
}

func nonceMatches(u goth.User, want string) bool {
	got, _ := u.RawData["nonce"].(string)
	return site.EqualSecrets(want, got)
}
