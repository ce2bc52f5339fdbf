package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

// Public lets scripts of other sites read an answer. Their requests have no cookies, and no token either: a browser would
// first need an answer to OPTIONS, which the site does not give.
func (a *API) Public(c *fiber.Ctx) error {
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlExposeHeaders, "ETag, Retry-After, "+client.VersionHeader)
	return c.Next()
}

// KnownQuery refuses a query parameter that the description of an address does not have: anyone who mistyped one would otherwise
// get something else than they asked for.
func (a *API) KnownQuery() fiber.Handler {
	described := map[string][]string{}
	for _, o := range operations() {
		path := strings.NewReplacer("{", ":", "}", "").Replace(o.path)
		described[o.method+" "+path] = slices.Sorted(maps.Keys(o.query))
	}
	return func(c *fiber.Ctx) error {
		method := c.Method()
		if method == fiber.MethodHead {
			method = fiber.MethodGet
		}
		known, unknown := described[method+" "+c.Route().Path], ""
		for name := range c.Context().QueryArgs().All() {
			if !slices.Contains(known, string(name)) {
				unknown = string(name)
				break
			}
		}
		switch {
		case unknown == "":
			return c.Next()
		case len(known) == 0:
			return site.Invalid("unknown_parameter", "The query parameter %q is not known; this address takes none.", unknown)
		}
		return site.Invalid("unknown_parameter", "The query parameter %q is not known; %s", unknown, didYouMean(unknown, known))
	}
}
