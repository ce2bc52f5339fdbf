package web

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
)

// developerSignIn tells whether anyone may sign in as anyone: only where no provider is set up and only for
// requests that surely come from this machine. A base URL elsewhere means a proxy, which may leave no mark.
func (s *Server) developerSignIn(c *fiber.Ctx) bool {
	return len(s.providers) == 0 && isLoopback(s.cfg.Addr) && isLoopback(s.base.Host) && fromThisMachine(c)
}

// fromThisMachine tells whether a request surely comes from this machine. A proxy in front would make all of
// the world look local, so its marks count against; a foreign Host would be DNS rebinding.
func fromThisMachine(c *fiber.Ctx) bool {
	ip := c.Context().RemoteIP()
	return isLoopback(string(c.Request().Host())) && !hasProxyMark(c) && (ip.IsLoopback() || ip.IsUnspecified())
}

// proxyMarks are headers that proxies add.
func proxyMarks() []string {
	return []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}
}

// hasProxyMark tells whether a proxy has left its mark on the request.
func hasProxyMark(c *fiber.Ctx) bool {
	return slices.ContainsFunc(proxyMarks(), func(mark string) bool { return c.Get(mark) != "" })
}

// authDeveloper signs in under any name. Whoever sits at this machine could read the database anyway,
// so everyone is an admin here, unless the form says otherwise to try a role out.
func (s *Server) authDeveloper(c *fiber.Ctx) error {
	if !s.developerSignIn(c) {
		return forbidden("developer", "Developer sign-in works only on the machine itself and while no provider is set up.")
	}
	name := models.CleanName(c.FormValue("name"))
	if name == "" {
		return invalid("name", "Give a name to sign in with.")
	}
	ctx := c.UserContext()
	user, err := s.store.SignIn(ctx, models.SignIn{Provider: "developer", Subject: strings.ToLower(name), Name: name})
	if err != nil {
		return err
	}
	role := models.Role(c.FormValue("role", string(models.RoleAdmin)))
	operator := models.User{Name: "developer sign-in", Role: models.RoleAdmin}
	if err := s.store.SetRole(ctx, operator, user.ID, role); err != nil {
		return err
	}
	if err := s.signIn(c, user, "developer"); err != nil {
		return err
	}
	return c.Redirect(safeNext(c.FormValue("next")), fiber.StatusSeeOther)
}
