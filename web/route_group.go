package web

import (
	"slices"

	"github.com/gofiber/fiber/v2"
)

// routeGroup is a set of routes with common middleware: error format, compression, allowed senders, and the limit of
// request bodies.
type routeGroup struct {
	router     fiber.Router
	middleware []fiber.Handler
}

func (g routeGroup) get(path string, handlers ...fiber.Handler) {
	g.router.Get(path, slices.Concat(g.middleware, handlers)...)
}

func (g routeGroup) post(path string, handlers ...fiber.Handler) {
	g.router.Post(path, slices.Concat(g.middleware, handlers)...)
}

// addRoute adds a route. GET also handles HEAD.
func (g routeGroup) addRoute(method, path string, handler fiber.Handler) {
	if method == fiber.MethodGet {
		g.get(path, handler)
		return
	}
	g.router.Add(method, path, slices.Concat(g.middleware, []fiber.Handler{handler})...)
}

// addForAllMethods adds a handler for every method.
func (g routeGroup) addForAllMethods(path string, handlers ...fiber.Handler) {
	g.router.All(path, slices.Concat(g.middleware, handlers)...)
}

// withMiddleware returns the group with additional middleware.
func (g routeGroup) withMiddleware(handlers ...fiber.Handler) routeGroup {
	return routeGroup{g.router, slices.Concat(g.middleware, handlers)}
}
