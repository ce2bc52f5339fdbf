package web

import (
	"slices"

	"github.com/gofiber/fiber/v2"
)

// group is routes that share what a request passes through before its handler: how errors are answered,
// whether the answer is compressed, who may send it, and how large its body may be.
type group struct {
	router fiber.Router
	before []fiber.Handler
}

func (g group) get(path string, handlers ...fiber.Handler) {
	g.router.Get(path, slices.Concat(g.before, handlers)...)
}

func (g group) post(path string, handlers ...fiber.Handler) {
	g.router.Post(path, slices.Concat(g.before, handlers)...)
}

func (g group) patch(path string, handlers ...fiber.Handler) {
	g.router.Patch(path, slices.Concat(g.before, handlers)...)
}

func (g group) delete(path string, handlers ...fiber.Handler) {
	g.router.Delete(path, slices.Concat(g.before, handlers)...)
}

// all is for what reads the method by itself.
func (g group) all(path string, handlers ...fiber.Handler) {
	g.router.All(path, slices.Concat(g.before, handlers)...)
}

// with is the group with more that a request passes through.
func (g group) with(handlers ...fiber.Handler) group {
	return group{g.router, slices.Concat(g.before, handlers)}
}
