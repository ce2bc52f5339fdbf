package site

import (
	"bytes"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// pathKey is the key of a request for the host, not for the site.
type pathKey struct{}

// The values of that key.
const (
	outside = iota + 1 // the path is not the site's
	bare               // it is the site's, without the slash that links need
)

// Outside reports whether a request is for something else on the site's host.
func Outside(c *fasthttp.RequestCtx) bool { return c.UserValue(pathKey{}) == outside }

// Bare reports whether a request is for the site's path without a slash at its end.
func Bare(c *fasthttp.RequestCtx) bool { return c.UserValue(pathKey{}) == bare }

// Handler removes the path from each request and adds it to the addresses of redirects. Requests elsewhere pass
// unchanged, marked as Outside, except for the probes: an operator calls them at the root, too.
func (p Path) Handler(next fasthttp.RequestHandler, probes ...string) fasthttp.RequestHandler {
	if p == "" {
		return next
	}
	return func(c *fasthttp.RequestCtx) {
		p.enter(c, probes)
		next(c)
		header := &c.Response.Header
		if to := header.Peek(fasthttp.HeaderLocation); len(to) > 0 && to[0] == '/' && !bytes.HasPrefix(to, []byte("//")) {
			header.Set(fasthttp.HeaderLocation, string(p)+string(to))
		}
	}
}

func (p Path) enter(c *fasthttp.RequestCtx, probes []string) {
	target := string(c.Request.Header.RequestURI())
	rest, found := strings.CutPrefix(target, string(p))
	path, _, _ := strings.Cut(target, "?")
	switch {
	case found && strings.HasPrefix(rest, "/"):
		c.Request.SetRequestURI(rest)
	case found && (rest == "" || rest[0] == '?'):
		c.SetUserValue(pathKey{}, bare)
		c.Request.SetRequestURI("/" + rest)
	case !slices.Contains(probes, path):
		c.SetUserValue(pathKey{}, outside)
	}
}
