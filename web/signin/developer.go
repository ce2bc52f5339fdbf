package signin

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/site"
)

// DeveloperSignIn reports whether anyone may sign in as anyone: only where no provider is set up and only for
// requests that surely come from this machine. A base URL elsewhere means a proxy, which may leave no mark.
func (s *SignIn) DeveloperSignIn(c *fiber.Ctx) bool {
	return len(s.Providers) == 0 && s.OnThisMachine(c)
}

// Developer signs in under any name. Whoever sits at this machine could read the database anyway,
// so everyone is an admin here, unless the form says otherwise to try a role out.
func (s *SignIn) Developer(c *fiber.Ctx) error {
	if !s.DeveloperSignIn(c) {
		return site.Forbidden("developer", "Developer sign-in works only on the machine itself and while no provider is set up.")
	}
	name := models.CleanName(c.FormValue("name"))
	if name == "" {
		return site.Invalid("name", "Give a name to sign in with.")
	}
	ctx := c.UserContext()
	user, err := s.Store.SignIn(ctx, models.SignIn{Provider: "developer", Subject: strings.ToLower(name), Name: name})
	if err != nil {
		return err
	}
	role := models.Role(c.FormValue("role", string(models.RoleAdmin)))
	operator := models.User{Name: "developer sign-in", Role: models.RoleAdmin}
	if err := s.Store.SetRole(ctx, operator, user.ID, role); err != nil {
		return err
	}
	if err := s.startSession(c, user, "developer"); err != nil {
		return err
	}
	return c.Redirect(SafeNext(c.FormValue("next")), fiber.StatusSeeOther)
}
