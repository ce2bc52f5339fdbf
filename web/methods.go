package web

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

// noSuchCall answers what no route of the API took: 405 with the methods that the address has, or 404.
func noSuchCall(c *fiber.Ctx) error {
	if err := otherMethod(c); err != nil {
		return err
	}
	return site.NotFound(c)
}

// onlyItsMethods refuses methods that an address lacks, before it looks at the sender.
func onlyItsMethods(c *fiber.Ctx) error {
	if err := otherMethod(c); err != nil {
		return err
	}
	return c.Next()
}

// otherMethod is the error for an address that has routes, but not for this method.
func otherMethod(c *fiber.Ctx) error {
	var allowed []string
	for _, r := range c.App().GetRoutes(true) {
		if fits(r.Path, c.Path()) && !slices.Contains(allowed, r.Method) {
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

// fits reports whether a path is one of a route's, part by part. Routes that take any rest fit nothing.
func fits(route, path string) bool {
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
