package signin

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/web/conns"
	"warpboard/web/site"
)

// Begin redirects the browser to a provider's sign-in page.
func (s *SignIn) Begin(c *fiber.Ctx) error {
	p, err := s.provider(c.Params("provider"))
	if err != nil {
		return err
	}
	if host := string(c.Request().Host()); host != s.site.Base.Host && conns.IsLoopback(host) && conns.IsLoopback(s.site.Base.Host) {
		// Cookies of localhost and 127.0.0.1 are separate; the provider redirects back to the configured host.
		return c.Redirect(s.site.Settings.BaseURL+c.OriginalURL(), fiber.StatusSeeOther)
	}
	link, err := s.identityOwner(c)
	if err != nil {
		return err
	}
	f := oauthState{
		Provider: p.Name, State: site.RandomText(24), Verifier: site.RandomText(32), Nonce: site.RandomText(24),
		NextPath: SafeRedirectPath(c.Query("next")), LinkToPerson: link,
	}
	address, err := p.begin(c.UserContext(), f)
	if err != nil {
		return s.providerError(c, p, err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("keep the sign-in's state: %w", err)
	}
	s.site.SetCookie(c, stateCookie, base64.RawURLEncoding.EncodeToString(text), stateCookieLifetime)
	return c.Redirect(address, fiber.StatusSeeOther)
}

// Callback handles the redirect from a provider back to the site.
func (s *SignIn) Callback(c *fiber.Ctx) error {
	p, err := s.provider(c.Params("provider"))
	if err != nil {
		return err
	}
	f, ok := s.takeOAuthState(c)
	s.site.ClearCookie(c, stateCookie)
	if !ok || f.Provider != p.Name || !site.EqualSecrets(f.State, c.Query("state")) {
		return site.Forbidden("state", "This sign-in was not started in this browser, or took too long. Start it again.")
	}
	if c.Query("error") != "" || c.Query("code") == "" {
		return site.Forbidden("declined", p.Label+" did not confirm the sign-in. Start it again, or choose another way.")
	}
	who, err := p.complete(c.UserContext(), f, c.Query("code"))
	if err != nil {
		return s.providerError(c, p, err)
	}
	if f.LinkToPerson != 0 {
		return s.addIdentity(c, f, who)
	}
	user, err := s.site.Store.Accounts.SignIn(c.UserContext(), s.providerSignIn(who))
	if err != nil {
		return err
	}
	if err := s.startSession(c, user, p.Name); err != nil {
		return err
	}
	return c.Redirect(SafeRedirectPath(f.NextPath), fiber.StatusSeeOther)
}

func (s *SignIn) provider(name string) (*provider, error) {
	for _, p := range s.Providers {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, db.Errorf(db.NotFound, "This site does not sign in with %q.", name)
}

// providerError shows a page without the provider's error message, which may contain tokens.
func (s *SignIn) providerError(c *fiber.Ctx, p *provider, err error) error {
	s.site.Log.Warn("sign-in failed", "provider", p.Name, "id", c.Locals(site.LocalRequestID), "err", err)
	return &site.Failure{
		Status: fiber.StatusBadGateway, Code: "provider",
		Message: p.Label + " could not sign you in just now. Try again, or choose another way.",
	}
}

func (s *SignIn) providerSignIn(who providerPerson) accounts.ProviderSignIn {
	return accounts.ProviderSignIn{
		Provider: who.provider, Subject: who.subject, Name: cmp.Or(who.login, who.name),
		Email: who.email, IsAdmin: s.isAdmin(who),
	}
}

// isAdmin reports whether the operator named this person as an admin.
func (s *SignIn) isAdmin(who providerPerson) bool {
	return slices.ContainsFunc(s.admins, who.matchesAdmin)
}

// matchesAdmin reports whether an entry of Config.Admins names this person. After "provider:" an entry has an account's
// ID ("id:…"), an e-mail address (with "@"), or a login. Each form is compared only with that property, so that no one
// can choose a login that equals an admin's ID or address.
func (who providerPerson) matchesAdmin(entry string) bool {
	name, own := strings.CutPrefix(entry, who.provider+":")
	if number, ok := strings.CutPrefix(name, "id:"); ok && own {
		return number == who.subject
	}
	if strings.Contains(name, "@") {
		return equalASCIIFold(name, who.email)
	}
	return own && equalASCIIFold(name, who.login)
}

// equalASCIIFold compares texts and ignores the case of ASCII letters. The case of other letters matters, because some
// fold to ASCII letters.
func equalASCIIFold(entry, name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) &&
		strings.EqualFold(entry, name)
}
