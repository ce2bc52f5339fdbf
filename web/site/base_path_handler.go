package site

import (
	"bytes"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// pathKey is the key of the request value that marks requests whose path is not below the site's path.
type pathKey struct{}

// Values of pathKey.
const (
	pathOutsideSite  = iota + 1 // the path is outside the site's path
	pathWithoutSlash            // the path is the site's path without the trailing slash, which relative links need
)

// IsOutsidePath reports whether a request's path is not below the site's path.
func IsOutsidePath(c *fasthttp.RequestCtx) bool { return c.UserValue(pathKey{}) == pathOutsideSite }

// IsPathWithoutSlash reports whether a request's path is the site's path without the trailing slash.
func IsPathWithoutSlash(c *fasthttp.RequestCtx) bool {
	return c.UserValue(pathKey{}) == pathWithoutSlash
}

// Handler removes the site's path from each request and adds it to redirects. Requests outside the path keep theirs and
// are marked (see IsOutsidePath), except probes, which operators may call at the root.
func (p BasePath) Handler(next fasthttp.RequestHandler, probes ...string) fasthttp.RequestHandler {
	if p == "" {
		return next
	}
	return func(c *fasthttp.RequestCtx) {
		p.enterBasePath(c, probes)
		next(c)
		header := &c.Response.Header
		if to := header.Peek(fasthttp.HeaderLocation); len(to) > 0 && to[0] == '/' && !bytes.HasPrefix(to, []byte("//")) {
			header.Set(fasthttp.HeaderLocation, string(p)+string(to))
		}
	}
}

func (p BasePath) enterBasePath(c *fasthttp.RequestCtx, probes []string) {
	target := string(c.Request.Header.RequestURI())
	rest, found := strings.CutPrefix(target, string(p))
	path, _, _ := strings.Cut(target, "?")
	switch {
	case found && strings.HasPrefix(rest, "/"):
		c.Request.SetRequestURI(rest)
	case found && (rest == "" || rest[0] == '?'):
		c.SetUserValue(pathKey{}, pathWithoutSlash)
		c.Request.SetRequestURI("/" + rest)
	case !slices.Contains(probes, path):
		c.SetUserValue(pathKey{}, pathOutsideSite)
	}
}
