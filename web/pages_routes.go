package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
)

// rememberedSources is how many bytes of highlighted texts are kept; one is some 50 kB.
const rememberedSources = 32 << 20

// pages are the handlers that answer with HTML. Each reads the request, asks the store, shapes a
// view model and answers.
type pages struct {
	*Server
	code *views.Highlighter
}

// pageRoutes lists the pages.
func (s *Server) pageRoutes(r fiber.Router) {
	p := pages{Server: s, code: views.NewHighlighter(rememberedSources)}

	r.Get("/", p.home)
	r.Get("/devices", p.devices)
	r.Post("/devices/:device/pause", p.devicePause)
	r.Post("/devices/:device/resume", p.deviceResume)
	r.Post("/workers", p.workerCreate)
	r.Post("/workers/:name/revoke", p.workerRevoke)
	r.Post("/workers/:name/forget", p.workerForget)
	r.Get("/sign-in", p.signInPage)
	r.Get("/trust", p.trust)
	r.Get("/clocks", p.needsSignIn, p.clocks)

	r.Get("/tasks/new", p.needsSignIn, p.taskNew)
	r.Post("/tasks/new", p.taskPreview)
	r.Post("/tasks/publish", p.taskPublish)
	r.Get("/tasks/:slug", p.task)
	r.Get("/tasks/:slug/file", p.taskFile)
	r.Get("/tasks/:slug/template", p.taskTemplate)
	r.Get("/tasks/:slug/bundle.zip", p.taskBundle)
	r.Post("/tasks/:slug/submit", p.taskSubmit)
	r.Get("/tasks/:slug/edit", p.needsSignIn, p.taskEdit)
	r.Post("/tasks/:slug/edit", p.taskSave)
	r.Post("/tasks/:slug/version", p.versionPreview)
	r.Post("/tasks/:slug/publish", p.versionPublish)
	r.Post("/tasks/:slug/delete", p.taskDelete)
	r.Get("/tasks/:slug/boards/:device", p.board)

	r.Get("/harness", p.harnesses)
	r.Get("/harness/:form/:lang", p.harness)
	r.Get("/harness/:form/:lang/file", p.harnessFile)

	p.profileRoutes(r)

	r.Get("/playground", p.playground)
	r.Post("/playground", p.playgroundRun)
	r.Get("/evaluations/:id", p.evaluation)
	r.Post("/evaluations/:id/cancel", p.evaluationCancel)
	r.Post("/evaluations/:id/share", p.evaluationShare)

	r.Get("/submissions/:id", p.submission)
	r.Get("/submissions/:id/source", p.submissionSource)
	r.Get("/submissions/:id/runs/:run", p.run)
	r.Post("/submissions/:id/cancel", p.submissionCancel)

	r.Get("/me", p.needsSignIn, p.me)
	r.Get("/users/:id", p.user)
	r.Post("/users/:id/role", p.userRole)
	r.Post("/users/:id/block", p.userBlock)
}

// needsSignIn sends visitors to the sign-in page, and back afterwards.
func (p pages) needsSignIn(c *fiber.Ctx) error {
	if viewer(c) == nil {
		return c.Redirect(string(views.SignInURL(c.OriginalURL())), fiber.StatusSeeOther)
	}
	return c.Next()
}
