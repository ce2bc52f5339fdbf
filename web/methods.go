package web

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

// unknownRoute responds to an API request that has no route: 405 with the allowed methods if the path has other
// methods, otherwise 404.
func unknownRoute(c *fiber.Ctx) error {
	if err := otherMethodError(c); err != nil {
		return err
	}
	return site.NotFound(c)
}

// refuseOtherMethods refuses methods that have no route for the path. It runs before the sender is identified.
func refuseOtherMethods(c *fiber.Ctx) error {
	if err := otherMethodError(c); err != nil {
		return err
	}
	return c.Next()
}

// otherMethodError returns the error for a path that has routes, but not for this method.
func otherMethodError(c *fiber.Ctx) error {
	var allowed []string
	for _, r := range c.App().GetRoutes(true) {
		if matchesRoute(r.Path, c.Path()) && !slices.Contains(allowed, r.Method) {
			allowed = append(allowed, r.Method)
		}
	}
	if len(allowed) == 0 || slices.Contains(allowed, c.Method()) {
		return nil
	}
	slices.Sort(allowed)
	c.Set(fiber.HeaderAllow, strings.Join(allowed, ", "))
	return fiber.ErrMethodNotAllowed
}

// matchesRoute reports whether a path matches a route without wildcards. Parts of the route that begin with ":" match
// any text.
func matchesRoute(route, path string) bool {
	want, got := strings.Split(strings.TrimSuffix(route, "/"), "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(got) {
		return false
	}
	for i, part := range want {
		if part != got[i] && (!strings.HasPrefix(part, ":") || got[i] == "") {
			return false
		}
	}
	return true
}
