package web

import (
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
)

// routes is the whole site: first what every request passes through, then every address.
// Pages are listed in pageRoutes.
func (s *Server) routes(app *fiber.App) {
	app.Use(releaseBody, s.requestID, closeUnread, s.accessLog, s.metrics.measure, s.recoverPanics, s.requestContext, s.securityHeaders,
		strictRequests, s.admit, plainBodies)
	app.Use(compress.New(compress.Config{Level: compress.LevelBestSpeed, Next: isStream}))

	app.Get("/healthz", s.healthz)
	app.Get("/readyz", s.readyz)
	app.Get("/metrics", s.operatorOnly, s.metrics.handler)
	app.Get("/static/:version/:name", s.asset)
	s.evalRoutes(app)

	site := app.Group("", s.identify, s.readBody, s.requireCSRF)

	site.Get("/auth/:provider", s.authBegin)
	site.Get("/auth/:provider/callback", s.authCallback)
	site.Post("/auth/developer", s.authDeveloper)
	site.Post("/sign-out", s.signOut)
	site.Post("/me/sessions/:id/revoke", s.sessionRevoke)
	site.Post("/me/identities/:id/remove", s.identityRemove)
	site.Post("/me/tokens", s.tokenCreate)
	site.Post("/me/tokens/:id/revoke", s.tokenRevoke)

	site.Get("/submissions/:id/events", s.submissionEvents)
	site.Get("/boards/:version/:device/events", s.boardEvents)
	site.Get("/devices/events", s.deviceEvents)

	api := site.Group("/api/v1")
	api.Get("/tasks", s.apiTasks)
	api.Get("/tasks/:slug", s.apiTask)
	api.Get("/boards/:slug/:device", s.apiBoard)
	api.Get("/devices", s.apiDevices)
	api.Get("/me", s.apiMe)
	api.Post("/submissions", s.apiSubmit)
	api.Get("/submissions/:id", s.apiSubmission)
	api.Post("/submissions/:id/cancel", s.apiCancel)
	api.Get("/submissions/:id/events", s.apiSubmissionEvents)
	s.evaluationRoutes(api)
	api.Use(notFound)

	site.Get("/api", s.apiPage)
	s.pageRoutes(site)
	app.Use(notFound)
}
