package signin

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	stateCookie         = "wb_oauth"
	stateCookieLifetime = 10 * time.Minute
)

// oauthState is stored in the browser between the redirect to a provider and the callback. Its cookie cannot be read or
// set by others, and a callback must contain the same state, so the server stores nothing.
type oauthState struct {
	Provider     string `json:"p"`
	State        string `json:"s"`
	Verifier     string `json:"v"` // PKCE
	Nonce        string `json:"n"`
	NextPath     string `json:"to"`
	LinkToPerson int64  `json:"l,omitempty"` // person to whom the identity is added; 0 to sign in
}

func (s *SignIn) takeOAuthState(c *fiber.Ctx) (oauthState, bool) {
	var f oauthState
	text, err := base64.RawURLEncoding.DecodeString(s.site.Cookie(c, stateCookie))
	if err != nil || json.Unmarshal(text, &f) != nil {
		return oauthState{}, false
	}
	return f, f.State != ""
}
