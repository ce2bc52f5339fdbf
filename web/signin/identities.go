package signin

import (
	"context"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
	"warpboard/web/site"
)

// LinkURL returns the URL that begins adding an identity to the viewer's own. Leaving for the provider is a plain link,
// which the page's policy allows anywhere, so it has a token of the session: another site cannot begin it.
func (s *SignIn) LinkURL(c *fiber.Ctx, p *provider) templ.SafeURL {
	return templ.SafeURL("/auth/" + p.Name + "?link=" + url.QueryEscape(s.linkToken(c)))
}

func (s *SignIn) linkToken(c *fiber.Ctx) string {
	return site.DeriveToken("link\x00" + s.site.Cookie(c, site.SessionCookie))
}

// linkFor returns the person to whom the identity of a sign-in that begins now will be added; 0 for a plain sign-in.
func (s *SignIn) linkFor(c *fiber.Ctx) (int64, error) {
	token := c.Query("link")
	if token == "" {
		return 0, nil
	}
	if site.SessionID(c) == 0 || !site.EqualSecrets(token, s.linkToken(c)) {
		return 0, site.Forbidden("link", "Add another way to sign in on your own page: start there.")
	}
	return site.Viewer(c).ID, nil
}

// link adds the identity that has just been proven to the person who began; it signs no one in.
func (s *SignIn) link(c *fiber.Ctx, f oauthState, who person) error {
	if site.SessionID(c) == 0 || site.Viewer(c).ID != f.Link {
		return site.Forbidden("link", "Another person is signed in here now. Sign in as before, and start again from your page.")
	}
	if err := s.site.Store.Accounts.Link(c.UserContext(), f.Link, s.signInOf(who)); err != nil {
		return err
	}
	return c.Redirect("/me?done=linked", fiber.StatusSeeOther)
}

// IdentityRemove removes one of the viewer's identities.
func (s *SignIn) IdentityRemove(c *fiber.Ctx) error {
	return site.RemoveOwn(c, func(ctx context.Context, userID, id int64) error {
		return s.site.Store.Accounts.Unlink(ctx, userID, id, site.SessionID(c))
	}, "/me?done=unlinked")
}

// ProviderLabel returns a provider's display name, also of one that is no longer configured.
func (s *SignIn) ProviderLabel(name string) string {
	for _, provider := range s.Providers {
		if provider.Name == name {
			return provider.Label
		}
	}
	return format.Capital(name)
}
