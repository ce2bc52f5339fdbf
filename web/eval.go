package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
)

// EvalLimits bound what the evaluation API takes. A zero field means its default.
type EvalLimits struct {
	kernelrun.Bounds
	Body   int           // bytes of a request; 12 MiB, for a job must fit into the queue
	AtOnce int           // evaluations of one token, session or address that wait or run; 16
	Wait   time.Duration // how long a waiting caller's evaluation may wait for a device; 300 s
}

// checkEval fills in defaults and refuses what cannot work.
func (c *Config) checkEval() error {
	l, standard := &c.EvalLimits, kernelrun.DefaultBounds()
	l.Trials, l.Timeout = cmp.Or(l.Trials, standard.Trials), cmp.Or(l.Timeout, standard.Timeout)
	l.Body, l.AtOnce, l.Wait = cmp.Or(l.Body, 12<<20), cmp.Or(l.AtOnce, 16), cmp.Or(l.Wait, 300*time.Second)
	if c.OpenEvalAPI = cmp.Or(c.OpenEvalAPI, "none"); !slices.Contains([]string{"all", "loopback", "none"}, c.OpenEvalAPI) {
		return fmt.Errorf("open evaluation API %q: want all, loopback or none", c.OpenEvalAPI)
	}
	return nil
}

// evalAPI is the unversioned evaluation API, in the shapes that clients of the CUDA Evaluation Server V2
// know. What it answers is added to and never changed.
type evalAPI struct{ *Server }

func (s *Server) evalRoutes(app *fiber.App) {
	api := evalAPI{s}
	with := func(handler fiber.Handler) []fiber.Handler {
		return []fiber.Handler{api.errors, s.identify, s.evalAccess, s.readBody, handler}
	}
	app.Post("/evaluate", with(api.evaluate)...)
	app.Post("/compare", with(api.compare)...)
	app.Post("/", with(api.compare)...)
	app.Get("/job/:id", with(api.job)...)
	app.Get("/health", with(api.health)...)
	app.Get("/stats", api.errors, s.operatorOnly, api.stats)
	app.Get("/api/v1/evaluations/stats", s.operatorOnly, api.stats) // here: the operator's token is nobody's
	app.Post("/admin/cleanup-jobs", with(api.cleanUp)...)
	for path, method := range map[string]string{ // not /compare: to GET it is a page
		"/evaluate": fiber.MethodPost, "/job/:id": fiber.MethodGet,
		"/health": fiber.MethodGet, "/stats": fiber.MethodGet, "/admin/cleanup-jobs": fiber.MethodPost} {
		app.All(path, onlyBy(method))
	}
	s.mcpRoutes(app)
}

// onlyBy answers another method than an address has, as FastAPI does.
func onlyBy(method string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderAllow, method)
		return c.Status(fiber.StatusMethodNotAllowed).JSON(fiber.Map{"detail": "Method Not Allowed"})
	}
}

// isEvaluation tells whether a POST to this path carries kernelrun.
func isEvaluation(path string) bool {
	switch path {
	case "/", "/evaluate", "/compare", "/api/v1/evaluations", "/mcp", "/mcp/", "/playground":
		return true
	}
	return false
}

// evalAccess lets through who shows a token, and where the operator opened the API everybody. A session
// alone may only look: any page could make a browser send its cookie.
func (s *Server) evalAccess(c *fiber.Ctx) error {
	bearer, _ := c.Locals(localBearer).(bool)
	if bearer || viewer(c) != nil && c.Method() == fiber.MethodGet || s.evalOpen(c) {
		return c.Next()
	}
	return unauthorized("This needs a token: make one on your page and send it as Authorization: Bearer TOKEN.")
}

// evalOpen tells whether the request may evaluate without a token. A page of another site never may,
// whatever browser it runs in.
func (s *Server) evalOpen(c *fiber.Ctx) bool {
	switch s.cfg.OpenEvalAPI {
	case "all":
		return s.sameOrigin(c)
	case "loopback":
		return isLoopback(s.cfg.Addr) && isLoopback(s.base.Host) && fromThisMachine(c) && s.sameOrigin(c)
	}
	return false
}

// noCache marks an answer as true only now.
func noCache(c *fiber.Ctx) {
	c.Set(fiber.HeaderCacheControl, "no-cache, no-store, must-revalidate")
	c.Set(fiber.HeaderPragma, "no-cache")
	c.Set(fiber.HeaderExpires, "0")
}

// errors puts errors into the API's own shape.
func (a evalAPI) errors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	noCache(c)
	f := failureOf(err)
	if f.retryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, fmt.Sprint(int(f.retryAfter.Seconds())))
	}
	switch {
	case f.status == fiber.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="warpboard"`)
	case f.status >= fiber.StatusInternalServerError:
		a.log.Error("evaluation request failed", "id", c.Locals(localRequestID), "path", c.Path(), "error", err)
		return a.fail(c, f.status, f.message)
	}
	return c.Status(f.status).JSON(fiber.Map{"error": strings.TrimSuffix(f.message, "."), "status": "client_error"})
}
