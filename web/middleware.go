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

// unloggedKey marks frequent requests, such as polls. The access log omits them if they succeed.
const unloggedKey = "quiet"

func omitFromLog(c *fiber.Ctx) error {
	c.Locals(unloggedKey, true)
	return c.Next()
}

// hideContentLength is called by fasthttp when the header of a request has arrived. fasthttp would otherwise read the
// first 8 KiB of the body, and send "100 Continue", before the sender is identified. So hideContentLength hides
// Content-Length until identifyRequest, and "Expect: 100-continue" until ReadBody.
func hideContentLength(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if h.ContentLength() > 0 {
		h.SetContentLength(-1)
	}
	h.Del(fiber.HeaderExpect)
	return fasthttp.RequestConfig{}
}

// identifyRequest assigns a request an ID for the log and error pages (fiber's own middleware would accept one from the
// client) and restores the Content-Length header. If the body was not fully read, it closes the connection, because the
// rest would be parsed as the next request.
func identifyRequest(c *fiber.Ctx) error {
	id := site.RandomText(9)
	c.Locals(site.LocalRequestID, id)
	c.Set(fiber.HeaderXRequestID, id)
	if c.Request().IsBodyStream() {
		if length, err := strconv.Atoi(site.OriginalHeader(c, fiber.HeaderContentLength)); err == nil {
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

// endConnection closes the connection of a request after the response was received.
func endConnection(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	conns.DrainAtClose(c.Context().Conn())
}

// accessLog writes one log line per request, after errors were converted to responses.
func (s *Server) accessLog(c *fiber.Ctx) error {
	began := time.Now()
	if err := c.Next(); err != nil {
		if err := s.site.HandleError(c, err); err != nil {
			return err
		}
	}
	level := slog.LevelInfo
	if c.Locals(unloggedKey) != nil && c.Response().StatusCode() == fiber.StatusOK {
		level = slog.LevelDebug
	}
	s.site.Log.Log(c.UserContext(), level, "request", "id", c.Locals(site.LocalRequestID), "method", c.Method(), "path", site.LoggedPath(c),
		"status", c.Response().StatusCode(), "took", time.Since(began), "ip", s.site.VisitorIP(c))
	return nil
}

// compressResponses compresses responses with gzip for clients that accept it. Brotli made pages 7 % smaller on average
// but took four times as long, a quarter of the time of a board's page.
func compressResponses() fiber.Handler {
	pack := fasthttp.CompressHandler(func(*fasthttp.RequestCtx) {})
	return func(c *fiber.Ctx) error {
		if err := c.Next(); err != nil {
			return err
		}
		pack(c.Context())
		return nil
	}
}

// answerErrors converts an error to a response before the compression middleware runs. accessLog handles errors of
// earlier middleware.
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

// requestContext sets a context that ends at the deadline of the request, or when the server has stopped.
func (s *Server) requestContext(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(s.site.RequestContext, site.RequestTimeout)
	defer cancel()
	c.SetUserContext(ctx)
	return c.Next()
}

// securityHeaders sets a Content-Security-Policy that allows only scripts of this site and forbids frames. fiber's
// helmet middleware does not support a nonce.
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
	if s.site.UsesTLS() && s.site.BasePath == "" { // the header applies to all sites of the host
		c.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
	err := c.Next()
	if c.Response().StatusCode() == fiber.StatusNotModified {
		// A 304 response must not change the policy: the cached page contains the nonce of its first response.
		c.Response().Header.Del("Content-Security-Policy")
	}
	return err
}

// probePaths lists the paths that also work at the root of the host if the site has a path.
var probePaths = []string{"/healthz", "/readyz", "/metrics"}

// refuseOutsidePath refuses requests for paths outside the site's path, and adds a missing slash after the site's path
// by a redirect.
func (s *Server) refuseOutsidePath(c *fiber.Ctx) error {
	switch {
	case site.IsOutsidePath(c.Context()):
		return &site.Failure{Status: fiber.StatusNotFound, Code: "outside", Message: fmt.Sprintf(
			"There is nothing at this address. The site is at %s/; a proxy in front of it must leave %s in the path.", s.site.Settings.BaseURL, s.site.BasePath)}
	case site.IsPathWithoutSlash(c.Context()) && (c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead):
		return c.Redirect(c.OriginalURL(), fiber.StatusPermanentRedirect)
	}
	return c.Next()
}

// limitRequests limits the number of concurrent requests. Requests with ?wait= have a separate limit, so that they do
// not block pages. Requests from this server to itself count too, because they may continue after the request that
// caused them.
func (s *Server) limitRequests(c *fiber.Ctx) error {
	who := conns.SenderKeysOf(s.site.Proxies.ClientAddress(c))
	c.Locals(site.LocalSenderKeys, who)
	of := site.RequestsResource
	if site.HasWaitParameter(c) {
		of = site.WaitRequestsResource
	}
	give, err := s.site.Limiter.Acquire(of, who, 1)
	if err != nil {
		return err
	}
	defer give()
	return c.Next()
}
