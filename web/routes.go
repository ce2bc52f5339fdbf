package web

import (
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
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

func (g group) with(handlers ...fiber.Handler) group {
	return group{g.router, slices.Concat(g.before, handlers)}
}

// routes is the whole site: what every request passes through, then every address. fiber takes the first
// that fits, so the order counts.
func (s *Server) routes(app *fiber.App) {
	s.errorShapes(app)
	app.Use(releaseBody, requestID, closeUnread, s.accessLog, s.metrics.measure, s.recoverPanics(), s.requestContext, s.securityHeaders,
		strictRequests, s.makeRoom, plainBodies)

	plain := group{router: app}
	packed := plain.with(compress.New(compress.Config{Level: compress.LevelBestSpeed}))
	probes := packed.with(quiet)

	// The operator's own questions always pass: they come before admit.
	probes.get("/healthz", s.healthz)
	probes.get("/metrics", s.metrics.serveOperator)
	app.Use(s.admit)
	probes.get("/metrics", s.metrics.operatorOnly, s.metrics.serve)
	probes.get("/readyz", s.readyz)
	packed.get("/static/:version/:name", s.asset)

	s.evaluationRoutes(app, plain, packed)
	s.apiRoutes(packed.with(s.identify, s.readBody(smallBody), s.requireCSRFOrToken),
		packed.with(s.identify, s.readBody(s.evals.bodyLimit), s.requireCSRFOrToken),
		plain.with(s.identify, s.readBody(smallBody)))
	app.Use("/api/v1", s.identify, s.readBody(smallBody), s.requireCSRFOrToken, notFound)

	pages := packed.with(s.identify, s.readBody(smallBody), s.requireCSRF)
	s.accountRoutes(pages)
	s.taskRoutes(pages, packed.with(s.identify, s.readBody(s.authoring.bodyLimit), s.requireCSRF))
	s.playgroundRoutes(pages, packed.with(s.identify, s.readBody(s.evals.bodyLimit), s.requireCSRF))
	s.runRoutes(pages)
	s.streamRoutes(plain.with(s.identify, s.readBody(smallBody)))
	app.Use(s.identify, s.readBody(smallBody), s.requireCSRF, notFound)
}

// errorShapes says where errors are told as problems of the API, also those that come before a route is found.
func (s *Server) errorShapes(app *fiber.App) {
	app.All("/api/+", answerProblems)
	for _, path := range []string{"/", "/evaluate", "/compare", "/mcp"} {
		app.Post(path, answerProblems)
	}
}

// evaluationRoutes are the unversioned evaluation API and MCP; errors are told in that API's own shape.
func (s *Server) evaluationRoutes(app *fiber.App, plain, packed group) {
	look := packed.with(s.evalAPI.errors, s.identify, s.evals.access, s.readBody(smallBody))
	run := packed.with(s.evalAPI.errors, s.identify, s.evals.access, s.readBody(s.evals.bodyLimit))
	run.post("/evaluate", s.evalAPI.evaluate)
	run.post("/compare", s.evalAPI.compare)
	run.post("/", s.evalAPI.compare)
	look.get("/job/:id", s.evalAPI.job)
	look.get("/health", s.evalAPI.health)
	look.post("/admin/cleanup-jobs", s.evalAPI.cleanUp)
	packed.get("/stats", s.evalAPI.errors, s.metrics.operatorOnly, s.metrics.stats)
	for path, method := range map[string]string{ // not /compare: to GET it is a page
		"/evaluate": fiber.MethodPost, "/job/:id": fiber.MethodGet,
		"/health": fiber.MethodGet, "/stats": fiber.MethodGet, "/admin/cleanup-jobs": fiber.MethodPost} {
		app.All(path, onlyBy(method))
	}
	app.All("/mcp", slices.Concat(plain.before, []fiber.Handler{s.evalAPI.errors, s.identify, s.evals.access, s.readBody(s.evals.bodyLimit), s.mcpHandler()})...)
}

func (s *Server) apiRoutes(api, evaluations, streams group) {
	api.get("/api/v1/tasks", s.api.tasks)
	api.get("/api/v1/tasks/:slug", s.api.task)
	api.get("/api/v1/boards/:slug/:device", s.api.board)
	api.get("/api/v1/devices", s.api.devices)
	api.get("/api/v1/me", s.api.me)
	api.post("/api/v1/submissions", s.api.createSubmission)
	api.get("/api/v1/submissions/:id", s.api.getSubmission)
	api.post("/api/v1/submissions/:id/cancel", s.api.cancelSubmission)
	streams.get("/api/v1/submissions/:id/events", s.api.submissionEvents)

	api.router.Get("/api/v1/evaluations/stats", s.metrics.operatorOnly, s.metrics.stats) // the operator's token is nobody's
	evaluations.post("/api/v1/evaluations", s.api.createEvaluation)
	api.get("/api/v1/evaluations", s.api.listEvaluations)
	api.get("/api/v1/evaluations/:id", s.api.getEvaluation)
	api.router.Patch("/api/v1/evaluations/:id", slices.Concat(api.before, []fiber.Handler{s.api.changeEvaluation})...)
	api.post("/api/v1/evaluations/:id/cancel", s.api.cancelEvaluation)
	streams.get("/api/v1/evaluations/:id/events", s.api.evaluationEvents)
	api.get("/api/v1/openapi.json", s.api.openAPI)
}

func (s *Server) accountRoutes(pages group) {
	pages.get("/auth/:provider", s.signIn.begin)
	pages.get("/auth/:provider/callback", s.signIn.callback)
	pages.post("/auth/developer", s.signIn.developer)
	pages.post("/sign-out", s.signIn.signOut)
	pages.get("/sign-in", s.pages.signInPage)

	pages.get("/me", needsSignIn, s.pages.me)
	pages.post("/me/sessions/:id/revoke", s.signIn.sessionRevoke)
	pages.post("/me/identities/:id/remove", s.signIn.identityRemove)
	pages.post("/me/tokens", s.pages.tokenCreate)
	pages.post("/me/tokens/:id/revoke", s.pages.tokenRevoke)

	pages.get("/users/:id", s.pages.user)
	pages.post("/users/:id/role", s.pages.userRole)
	pages.post("/users/:id/block", s.pages.userBlock)
}

func (s *Server) taskRoutes(pages, uploads group) {
	pages.get("/", s.pages.home)
	pages.get("/tasks/new", needsSignIn, s.authoring.taskNew)
	uploads.post("/tasks/new", s.authoring.taskPreview)
	uploads.post("/tasks/publish", s.authoring.taskPublish)
	pages.get("/tasks/:slug", s.pages.task)
	pages.get("/tasks/:slug/file", s.pages.taskFile)
	pages.get("/tasks/:slug/template", s.pages.taskTemplate)
	pages.get("/tasks/:slug/bundle.zip", s.pages.taskBundle)
	uploads.post("/tasks/:slug/submit", s.pages.taskSubmit)
	pages.get("/tasks/:slug/edit", needsSignIn, s.authoring.taskEdit)
	uploads.post("/tasks/:slug/edit", s.authoring.taskSave)
	uploads.post("/tasks/:slug/version", s.authoring.versionPreview)
	uploads.post("/tasks/:slug/publish", s.authoring.versionPublish)
	uploads.post("/tasks/:slug/delete", s.authoring.taskDelete)
	pages.get("/tasks/:slug/boards/:device", s.pages.board)

	pages.get("/harness", s.pages.harnesses)
	pages.get("/harness/:form/:lang", s.pages.harness)
	pages.get("/harness/:form/:lang/file", s.pages.harnessFile)
	pages.get("/trust", s.pages.trust)
	pages.get("/clocks", needsSignIn, s.pages.clocks)
	pages.get("/api", s.api.page)
}

func (s *Server) playgroundRoutes(pages, runs group) {
	pages.get("/playground", s.playground.playground)
	runs.post("/playground", s.playground.playgroundRun)
	pages.get("/evaluations/:id", s.playground.evaluation)
	pages.post("/evaluations/:id/cancel", s.playground.evaluationCancel)
	pages.post("/evaluations/:id/share", s.playground.evaluationShare)
}

// runRoutes are submissions, their runs and profiles, each with the same data for programs, and devices.
func (s *Server) runRoutes(pages group) {
	pages.get("/submissions/:id", s.pages.submission)
	pages.get("/submissions/:id/source", s.pages.submissionSource)
	pages.get("/submissions/:id/runs/:run", s.pages.run)
	pages.post("/submissions/:id/cancel", s.pages.submissionCancel)

	pages.get("/submissions/:id/runs/:run/profile", s.profiles.profileDetails)
	pages.get("/submissions/:id/runs/:run/profile.json", s.profiles.profileJSON)
	pages.get("/submissions/:id/runs/:run/profile.csv", s.profiles.profileCSV)
	pages.get("/submissions/:id/runs/:run/profile.ncu-rep", s.profiles.profileFile)
	pages.get("/compare", s.profiles.compare)
	pages.get("/compare.json", s.profiles.compareJSON)
	pages.get("/compare.csv", s.profiles.compareCSV)
	pages.get("/runs/:id/trace.json", s.profiles.trace)

	pages.get("/devices", s.pages.devices)
	pages.post("/devices/:device/pause", s.pages.devicePause)
	pages.post("/devices/:device/resume", s.pages.deviceResume)
	pages.post("/workers", s.pages.workerCreate)
	pages.post("/workers/:name/revoke", s.pages.workerRevoke)
	pages.post("/workers/:name/forget", s.pages.workerForget)
}

// streamRoutes are the live streams of pages, which must not be compressed or buffered.
func (s *Server) streamRoutes(streams group) {
	streams.get("/submissions/:id/events", s.pages.submissionEvents)
	streams.get("/boards/:version/:device/events", s.pages.boardEvents)
	streams.get("/devices/events", s.pages.deviceEvents)
}
