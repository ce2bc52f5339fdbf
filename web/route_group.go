package web

import (
	"slices"

	"github.com/gofiber/fiber/v2"
)

// group is a set of routes with common middleware: error format, compression, allowed senders, and the limit of request
// bodies.
type group struct {
	router     fiber.Router
	middleware []fiber.Handler
}

func (g group) get(path string, handlers ...fiber.Handler) {
	g.router.Get(path, slices.Concat(g.middleware, handlers)...)
}

func (g group) post(path string, handlers ...fiber.Handler) {
	g.router.Post(path, slices.Concat(g.middleware, handlers)...)
}

// add adds a route. GET also handles HEAD.
func (g group) add(method, path string, handler fiber.Handler) {
	if method == fiber.MethodGet {
		g.get(path, handler)
		return
	}
	g.router.Add(method, path, slices.Concat(g.middleware, []fiber.Handler{handler})...)
}

// all adds a handler for every method.
func (g group) all(path string, handlers ...fiber.Handler) {
	g.router.All(path, slices.Concat(g.middleware, handlers)...)
}

// with returns the group with additional middleware.
func (g group) with(handlers ...fiber.Handler) group {
	return group{g.router, slices.Concat(g.middleware, handlers)}
}
