package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/web/pages/submissions"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// What only the tests of this package look into.
const (
	PythonIndex   = pythonIndexPath
	ShutdownGrace = shutdownGrace
	SimpleJSON    = simpleIndexContentType
)

// App has the list of routes.
func (s *Server) App() *fiber.App { return s.app }

// Shared returns the Site that all handlers share.
func (s *Server) Shared() *site.Site { return s.site }

// Evals waits for evaluations.
func (s *Server) Evals() *evaluations.Evaluations { return s.evaluations }

// Submissions renders events.
func (s *Server) Submissions() *submissions.Submissions { return s.submissions }

// Fits reports whether a path is one of a route's.
func Fits(route, path string) bool { return matchesRoute(route, path) }
