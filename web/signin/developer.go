package signin

import (
	"crypto/rand"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/web/conns"
	"warpboard/web/site"
)

const (
	developerProvider   = "developer" // provider name of developer sign-ins
	developerPersonName = "Developer" // name of the person who opens the link
)

// oneTimeCode is a secret that can be used once. Each process generates one and keeps it in memory.
type oneTimeCode struct {
	mu   sync.Mutex
	text string // empty after use
}

// redeem reports whether code is the secret. If so, the secret becomes invalid.
func (o *oneTimeCode) redeem(code string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	right := site.EqualSecrets(o.text, code)
	if right {
		o.text = ""
	}
	return right
}

// hasDeveloperSignIn reports whether developer sign-in is available: no provider is configured, and only this machine
// can reach the site.
func (s *SignIn) hasDeveloperSignIn() bool {
	return len(s.Providers) == 0 && conns.IsLoopback(s.site.Settings.Addr) && conns.IsLoopback(s.site.Base.Host)
}

// DeveloperLink returns a one-time URL that signs in as an admin, or "". Only the log of the operator contains it,
// because other users of this machine can reach the site too.
func (s *SignIn) DeveloperLink() string {
	s.developerCode.mu.Lock()
	defer s.developerCode.mu.Unlock()
	if !s.hasDeveloperSignIn() || s.developerCode.text == "" {
		return ""
	}
	return s.site.Settings.BaseURL + "/auth/developer?code=" + s.developerCode.text
}

// NewDeveloperLink returns a developer link with a new code, for another browser. Earlier links become invalid.
func (s *SignIn) NewDeveloperLink() string {
	s.developerCode.mu.Lock()
	s.developerCode.text = rand.Text()
	s.developerCode.mu.Unlock()
	return s.DeveloperLink()
}

// AllowsDeveloperLink reports whether a request comes from this machine to a site with developer sign-in, so that its
// sender can sign in with a developer link.
func (s *SignIn) AllowsDeveloperLink(c *fiber.Ctx) bool {
	return s.hasDeveloperSignIn() && s.site.IsOnlyOnThisMachine(c)
}

// IsDeveloper reports whether the viewer signed in with a developer link (see DeveloperLink).
func (s *SignIn) IsDeveloper(c *fiber.Ctx) bool {
	return s.AllowsDeveloperLink(c) && site.Viewer(c) != nil && site.SessionProvider(c) == developerProvider
}

// OpenDeveloperLink signs in the browser that opens a developer link. A HEAD request does not invalidate the link.
func (s *SignIn) OpenDeveloperLink(c *fiber.Ctx) error {
	if !s.AllowsDeveloperLink(c) || c.Method() != fiber.MethodGet || !s.developerCode.redeem(c.Query("code")) {
		return site.Forbidden(developerProvider, "This link is not valid. It works once, on the machine of the server, while no sign-in provider is set up. Restart the server to get a new link in its log.")
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return s.signInDeveloper(c, developerPersonName, accounts.RoleAdmin)
}

// DeveloperSignIn signs a browser that used a developer link in under another name and role, for trying them out.
func (s *SignIn) DeveloperSignIn(c *fiber.Ctx) error {
	if !s.IsDeveloper(c) {
		return site.Forbidden(developerProvider, "Developer sign-in is for the browser that opened the link in the server's log, on the machine itself and while no provider is set up.")
	}
	name := accounts.CleanName(c.FormValue("name"))
	if name == "" {
		return site.Invalid("name", "Give a name to sign in with.")
	}
	return s.signInDeveloper(c, name, accounts.Role(c.FormValue("role", string(accounts.RoleAdmin))))
}

func (s *SignIn) signInDeveloper(c *fiber.Ctx, name string, role accounts.Role) error {
	ctx := c.UserContext()
	user, err := s.site.Store.Accounts.SignIn(ctx, accounts.ProviderSignIn{
		Provider: developerProvider,
		Subject:  strings.ToLower(name),
		Name:     name,
	})
	if err != nil {
		return err
	}
	operator := accounts.User{Name: "developer sign-in", Role: accounts.RoleAdmin}
	if err := s.site.Store.Accounts.SetRole(ctx, operator, user.ID, role); err != nil {
		return err
	}
	if err := s.startSession(c, user, developerProvider); err != nil {
		return err
	}
	return c.Redirect(SafeRedirectPath(c.FormValue("next")), fiber.StatusSeeOther)
}

func newOneTimeCode() *oneTimeCode { return &oneTimeCode{text: rand.Text()} }
