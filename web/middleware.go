package web

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/valyala/fasthttp"

	"warpboard/web/conns"
	"warpboard/web/site"
)

// localQuiet marks requests that come every few seconds; the log omits them while they succeed.
const localQuiet = "quiet"

func quiet(c *fiber.Ctx) error {
	c.Locals(localQuiet, true)
	return c.Next()
}

// fasthttp calls hideLength when it has the head of a request. It would wait for the first 8 KiB of a body of known
// length, and request a held-back body, before the sender is known. So the length is hidden from it until received, and
// "Expect: 100-continue" until ReadBody.
func hideLength(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if h.ContentLength() > 0 {
		h.SetContentLength(-1)
	}
	h.Del(fiber.HeaderExpect)
	return fasthttp.RequestConfig{}
}

// identifyRequest gives a request an ID for the log and error pages (fiber's own middleware would accept one that the
// sender chose), and restores its length before anything reads from it. It closes the connection of a request that was
// not fully read: the rest would be taken for the next request.
func identifyRequest(c *fiber.Ctx) error {
	id := site.RandomText(9)
	c.Locals(site.LocalRequestID, id)
	c.Set(fiber.HeaderXRequestID, id)
	if c.Request().IsBodyStream() {
		if length, err := strconv.Atoi(site.RawHeader(c, fiber.HeaderContentLength)); err == nil {
			c.Request().Header.Del(fiber.HeaderTransferEncoding)
			c.Request().Header.SetContentLength(length)
		}
	}
	err := c.Next()
	if c.Request().IsBodyStream() {
		endConnection(c)
	}
	return err
}

// endConnection closes the connection of a request after its answer has arrived.
func endConnection(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	conns.LingerAtClose(c.Context().Conn())
}

// accessLog writes one line per request, after errors have become answers.
func (s *Server) accessLog(c *fiber.Ctx) error {
	began := time.Now()
	if err := c.Next(); err != nil {
		if err := s.site.HandleError(c, err); err != nil {
			return err
		}
	}
	level := slog.LevelInfo
	if c.Locals(localQuiet) != nil && c.Response().StatusCode() == fiber.StatusOK {
		level = slog.LevelDebug
	}
	s.site.Log.Log(c.UserContext(), level, "request", "id", c.Locals(site.LocalRequestID), "method", c.Method(), "path", site.LoggedPath(c),
		"status", c.Response().StatusCode(), "took", time.Since(began), "ip", s.site.VisitorIP(c))
	return nil
}

// packing compresses answers for clients that accept gzip, as all browsers do. Brotli made pages 7 % smaller on average
// and took four times as long, a quarter of the time of a board's page.
func packing() fiber.Handler {
	pack := fasthttp.CompressHandler(func(*fasthttp.RequestCtx) {})
	return func(c *fiber.Ctx) error {
		if err := c.Next(); err != nil {
			return err
		}
		pack(c.Context())
		return nil
	}
}

// answerErrors turns an error into an answer where it can still be compressed; earlier errors reach accessLog.
func (s *Server) answerErrors(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return s.site.HandleError(c, err)
	}
	return nil
}

// recoverPanics turns a panic into an error, so that one bad request ends only itself.
func (s *Server) recoverPanics() fiber.Handler {
	return recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: func(c *fiber.Ctx, reason any) {
		s.site.Log.Error("panic", "id", c.Locals(site.LocalRequestID), "err", fmt.Sprint(reason), "stack", string(debug.Stack()))
	}})
}

// requestContext gives handlers a context that ends at the deadline, or when the server has stopped.
func (s *Server) requestContext(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(s.site.Requests, site.RequestTimeout)
	defer cancel()
	c.SetUserContext(ctx)
	return c.Next()
}

// securityHeaders allows a page only this site's scripts, and forbids frames. fiber's helmet does not support a nonce,
// and adds headers that would need tests with all pages.
func (s *Server) securityHeaders(c *fiber.Ctx) error {
	nonce := site.RandomText(18)
	c.Locals(site.LocalNonce, nonce)
	c.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; style-src 'self' 'nonce-"+nonce+
		"'; style-src-attr 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'")
	c.Set("X-Content-Type-Options", "nosniff")
	c.Set("X-Frame-Options", "DENY")
	c.Set("Referrer-Policy", "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	if s.site.Secure() && s.site.Mount == "" { // it applies to the whole host
		c.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
	err := c.Next()
	if c.Response().StatusCode() == fiber.StatusNotModified {
		// The browser shows its cached page, which has the nonce that it was sent with.
		c.Response().Header.Del("Content-Security-Policy")
	}
	return err
}

// probePaths are also answered at the root of the host.
var probePaths = []string{"/healthz", "/readyz", "/metrics"}

// refuseOutsidePath refuses requests for other paths of the site's host, and redirects those without the slash after
// the site's path.
func (s *Server) refuseOutsidePath(c *fiber.Ctx) error {
	switch {
	case site.Outside(c.Context()):
		return &site.Failure{Status: fiber.StatusNotFound, Code: "outside", Message: fmt.Sprintf(
			"There is nothing at this address. The site is at %s/; a proxy in front of it must leave %s in the path.", s.site.Settings.BaseURL, s.site.Mount)}
	case site.Bare(c.Context()) && (c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead):
		return c.Redirect(c.OriginalURL(), fiber.StatusPermanentRedirect)
	}
	return c.Next()
}

// admit counts concurrent requests, and refuses those above the limits. Requests that ask to wait have separate places,
// so that none of them takes the place of a page. Requests of this server itself count, too: they continue after the
// request on whose behalf they are has ended.
func (s *Server) admit(c *fiber.Ctx) error {
	who := conns.ShareOf(s.site.Proxies.Visitor(c))
	c.Locals(site.LocalShare, who)
	of := site.Requests
	if site.AsksToWait(c) {
		of = site.Held
	}
	give, err := s.site.Limiter.Take(of, who, 1)
	if err != nil {
		return err
	}
	defer give()
	return c.Next()
}
