package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/web/pages/submissions"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// Unexported names that the tests of package web_test use.
const (
	PythonIndex   = pythonIndexPath
	ShutdownGrace = shutdownGrace
	SimpleJSON    = simpleIndexContentType
)

// App returns the fiber application, which lists the routes.
func (s *Server) App() *fiber.App { return s.app }

// Shared returns the Site that all handlers share.
func (s *Server) Shared() *site.Site { return s.site }

// Evals returns the part of the server that waits for evaluations.
func (s *Server) Evals() *evaluations.Evaluations { return s.evaluations }

// Submissions returns the handlers that render events.
func (s *Server) Submissions() *submissions.Submissions { return s.submissions }

// Fits reports whether a path matches a route.
func Fits(route, path string) bool { return matchesRoute(route, path) }
