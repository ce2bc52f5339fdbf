package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

// AllowOtherSites allows scripts of other sites to read the response, as anonymous visitors: such requests carry no
// cookies, and no token, because the site does not answer the OPTIONS request that a browser sends before one with a
// token.
func (a *API) AllowOtherSites(c *fiber.Ctx) error {
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlExposeHeaders, "ETag, Retry-After, "+client.VersionHeader)
	return c.Next()
}

// Route is the HTTP route of an operation. Package web chooses the middleware of the route by the boolean fields.
type Route struct {
	Method, Path string
	// RequiresSignIn means that only signed-in people may call it. Evaluations check that themselves, because an
	// operator may open them.
	RequiresSignIn   bool
	OpenToOtherSites bool // scripts of other sites may read the answer
	MayWait          bool // the operation accepts ?wait=, which delays the response
	StreamsAnswer    bool // the answer is a stream, so it must not be compressed
	BodyHasKernels   bool // the body has kernels to evaluate
	Handler          fiber.Handler
}

// Routes returns the routes of the operations that have a handler in this package. PublishTask is not among them,
// because it has another limit for the body.
func (a *API) Routes() (list []Route) {
	for _, o := range a.operations() {
		if o.handler == nil {
			continue
		}
		evaluates, kind := strings.HasPrefix(o.tag, evaluationsTag), o.contentType()
		_, waits := o.queryParameters["wait"]
		list = append(list, Route{
			Method: o.method, Path: o.route(), Handler: o.handler, MayWait: waits,
			RequiresSignIn:   o.needsToken && !evaluates,
			OpenToOtherSites: !o.needsToken && !evaluates && o.method == fiber.MethodGet,
			StreamsAnswer:    kind == eventStreamType || kind == client.JSONLines,
			BodyHasKernels:   evaluates && o.method == fiber.MethodPost && o.bodyType != "",
		})
	}
	return list
}

// route returns the path in fiber's syntax: ":id" instead of "{id}".
func (o operation) route() string { return strings.NewReplacer("{", ":", "}", "").Replace(o.path) }

// CheckQuery returns middleware that refuses unknown query parameters and values of the wrong type. A mistyped name
// would otherwise be ignored without a message.
func (a *API) CheckQuery() fiber.Handler {
	described := map[string][]string{}
	for _, o := range a.operations() {
		described[o.method+" "+o.route()] = slices.Sorted(maps.Keys(o.queryParameters))
	}
	return func(c *fiber.Ctx) error {
		method := c.Method()
		if method == fiber.MethodHead {
			method = fiber.MethodGet
		}
		known := described[method+" "+c.Route().Path]
		for name, value := range c.Context().QueryArgs().All() {
			if err := checkParameter(string(name), string(value), known); err != nil {
				return err
			}
		}
		return c.Next()
	}
}

// checkParameter returns an error if name is not in known or value does not have the type of the parameter.
func checkParameter(name, value string, known []string) error {
	switch {
	case slices.Contains(known, name):
		if wanted := valueMistake(name, value); wanted != "" {
			return site.Invalid("invalid_parameter", "The query parameter %q is %s, not %q.", name, wanted, value)
		}
		return nil
	case len(known) == 0:
		return site.Invalid("unknown_parameter", "The query parameter %q is not known; this address takes none.", name)
	}
	return site.Invalid("unknown_parameter", "The query parameter %q is not known; %s", name, suggestKey(name, known))
}

// valueMistake returns the required form of a query parameter if value does not have it, or "".
func valueMistake(name, value string) string {
	switch queryType(name)["type"] {
	case "integer":
		if _, err := strconv.Atoi(value); err != nil {
			return "a whole number"
		}
	case "boolean":
		if _, err := strconv.ParseBool(value); err != nil {
			return "true or false"
		}
	}
	return ""
}
