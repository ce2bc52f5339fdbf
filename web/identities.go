package web

import (
	"context"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/views/format"
)

// linkURL begins adding a provider's account to the viewer's own. Leaving for the provider is a plain link,
// which the page's policy lets go anywhere, so it carries a token of the session: another site cannot begin it.
func (s *Server) linkURL(c *fiber.Ctx, p *provider) templ.SafeURL {
	return templ.SafeURL("/auth/" + p.name + "?link=" + url.QueryEscape(s.linkToken(c)))
}

func (s *Server) linkToken(c *fiber.Ctx) string {
	return tokenOf("link\x00" + s.cookie(c, sessionCookie))
}

// linkFor is the person whom a sign-in that begins now shall be added to; 0 for a plain sign-in.
func (s *Server) linkFor(c *fiber.Ctx) (int64, error) {
	token := c.Query("link")
	if token == "" {
		return 0, nil
	}
	if sessionID(c) == 0 || !sameText(token, s.linkToken(c)) {
		return 0, forbidden("link", "Another way to sign in is added from your own page; begin there.")
	}
	return viewer(c).ID, nil
}

// link adds the account that has just been proved to the person who began; it signs nobody in.
func (s *Server) link(c *fiber.Ctx, f flow, who person) error {
	if sessionID(c) == 0 || viewer(c).ID != f.Link {
		return forbidden("link", "Somebody else is signed in here now. Sign in as before, and begin again from your page.")
	}
	if err := s.store.Link(c.UserContext(), f.Link, s.signInOf(who)); err != nil {
		return err
	}
	return c.Redirect("/me?done=linked", fiber.StatusSeeOther)
}

func (s *Server) identityRemove(c *fiber.Ctx) error {
	return removeOwn(c, func(ctx context.Context, userID, id int64) error {
		return s.store.Unlink(ctx, userID, id, sessionID(c))
	}, "/me?done=unlinked")
}

// addIdentities fills in how a person can sign in, and which ways could be added.
func (p pages) addIdentities(c *fiber.Ctx, userID int64, page *views.MePage) error {
	identities, err := p.store.Identities(c.UserContext(), userID)
	if err != nil {
		return err
	}
	for _, i := range identities {
		page.Identities = append(page.Identities, p.identityRow(i))
	}
	for _, provider := range p.providers {
		page.Linkable = append(page.Linkable, views.LinkChoice{Name: provider.label, URL: p.linkURL(c, provider)})
	}
	return nil
}

func (p pages) identityRow(i models.Identity) views.IdentityRow {
	return views.IdentityRow{ID: i.ID, Provider: p.providerLabel(i.Provider), Name: i.Name, Email: i.Email, Added: i.CreatedAt, Used: i.UsedAt}
}

// providerLabel is what people call a provider, also one that is not configured any more.
func (s *Server) providerLabel(name string) string {
	for _, provider := range s.providers {
		if provider.name == name {
			return provider.label
		}
	}
	return format.Capital(name)
}
