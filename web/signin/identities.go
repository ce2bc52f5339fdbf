package signin

import (
	"context"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
	"warpboard/web/site"
)

// AddIdentityURL returns the URL that starts adding an identity to the viewer's account. A link needs no form, but
// contains a token of the session, so that other sites cannot start it.
func (s *SignIn) AddIdentityURL(c *fiber.Ctx, p *provider) templ.SafeURL {
	return templ.SafeURL("/auth/" + p.Name + "?link=" + url.QueryEscape(s.linkToken(c)))
}

func (s *SignIn) linkToken(c *fiber.Ctx) string {
	return site.DeriveToken("link\x00" + s.site.Cookie(c, site.SessionCookie))
}

// identityOwner returns the ID of the account to which the new identity will be added, or 0 for an ordinary sign-in.
func (s *SignIn) identityOwner(c *fiber.Ctx) (int64, error) {
	token := c.Query("link")
	if token == "" {
		return 0, nil
	}
	if site.SessionID(c) == 0 || !site.EqualSecrets(token, s.linkToken(c)) {
		return 0, site.Forbidden("link", "Add another way to sign in on your own page: start there.")
	}
	return site.Viewer(c).ID, nil
}

// addIdentity adds a verified identity to the account of the person who started the sign-in. It does not start a
// session.
func (s *SignIn) addIdentity(c *fiber.Ctx, f oauthState, who providerPerson) error {
	if site.SessionID(c) == 0 || site.Viewer(c).ID != f.LinkToPerson {
		return site.Forbidden("link", "Another person is signed in here now. Sign in as before, and start again from your page.")
	}
	if err := s.site.Store.Accounts.LinkIdentity(c.UserContext(), f.LinkToPerson, s.providerSignIn(who)); err != nil {
		return err
	}
	return c.Redirect("/me?done=linked", fiber.StatusSeeOther)
}

// IdentityRemove removes one of the viewer's identities.
func (s *SignIn) IdentityRemove(c *fiber.Ctx) error {
	return site.RemoveOwnObject(c, func(ctx context.Context, userID, id int64) error {
		return s.site.Store.Accounts.UnlinkIdentity(ctx, userID, id, site.SessionID(c))
	}, "/me?done=unlinked")
}

// ProviderLabel returns the display name of a provider, even if the provider is no longer configured.
func (s *SignIn) ProviderLabel(name string) string {
	for _, provider := range s.Providers {
		if provider.Name == name {
			return provider.Label
		}
	}
	return format.UpperFirst(name)
}
