package web

import (
	"github.com/gofiber/fiber/v2"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/statement"
	"warpboard/views"
	"warpboard/web/evalapi"
	"warpboard/web/popcorn"
	"warpboard/web/site"
)

// routes is the whole site: what every request passes through, then every address. fiber takes the first
// that fits, so the order counts.
func (s *Server) routes(app *fiber.App) {
	s.programShapes(app)
	app.Use(releaseBody, requestID, closeUnread, s.accessLog, s.metrics.Measure, s.recoverPanics(), s.requestContext, s.securityHeaders,
		strictRequests, s.makeRoom, plainBodies, s.belowThePath)

	plain := group{router: app}
	pack := packing()
	packed := plain.with(pack, s.answerErrors)
	probes := packed.with(quiet)

	// The operator's own questions always pass: they come before admit.
	probes.get("/healthz", s.healthz)
	probes.get("/metrics", s.metrics.ServeOperator)
	app.Use(s.admit)
	probes.get("/metrics", s.metrics.OperatorOnly, s.metrics.Serve)
	probes.get("/readyz", s.readyz)
	packed.get("/static/:version/:name", s.asset)
	packed.get(statement.KeysPath, s.api.Public, s.api.Keys)
	s.python.routes(packed)
	if s.queue != nil {
		packed.get(job.WorkerPath, s.workerConnection)
	}

	s.evaluationRoutes(app, packed)
	packed.get("/api/v1/evaluations/stats", s.metrics.OperatorOnly, s.metrics.Stats) // before Identify, which would refuse the operator's token
	plain.all("/mcp", s.evalAPI.Errors, s.site.Identify, s.evals.Access, s.site.ReadBody(s.evals.BodyLimit), s.mcpHandler())
	s.popcornRoutes(app, plain, packed)
	known := s.api.KnownQuery()
	s.apiRoutes(packed.with(s.site.Identify, s.site.ReadBody(site.SmallBody), s.site.RequireCSRFOrToken, known),
		packed.with(s.site.Identify, s.site.ReadBody(s.evals.BodyLimit), s.site.RequireCSRFOrToken, known),
		packed.with(s.site.Identify, s.site.ReadBody(s.authoring.BodyLimit), s.site.RequireCSRFOrToken, known),
		plain.with(s.site.Identify, s.site.ReadBody(site.SmallBody), known))
	app.Use("/api/v1", s.site.Identify, s.site.ReadBody(site.SmallBody), s.site.RequireCSRFOrToken, noSuchCall)

	pages := packed.with(s.site.Identify, s.site.ReadBody(site.SmallBody), s.site.RequireCSRF)
	s.accountRoutes(pages)
	s.inboxRoutes(pages, packed.with(s.site.Identify, s.site.ReadBody(site.SmallBody)))
	s.taskRoutes(pages, packed.with(s.site.Identify, s.site.ReadBody(s.authoring.BodyLimit), s.site.RequireCSRF))
	s.eventRoutes(pages)
	s.playgroundRoutes(pages)
	s.runRoutes(pages)
	s.moderationRoutes(pages)
	s.operationRoutes(pages)
	s.shareRoutes(pages)
	s.streamRoutes(plain.with(s.site.Identify, s.site.ReadBody(site.SmallBody)))
	app.Use(pack, s.answerErrors, s.site.Identify, onlyItsMethods, s.site.ReadBody(site.SmallBody), s.site.RequireCSRF, site.NotFound)
}

// programShapes mark what programs ask: errors are answered as problems of the API, also those that come before a route is found,
// and answers say the site's version.
func (s *Server) programShapes(app *fiber.App) {
	shape := func(c *fiber.Ctx) error {
		c.Set(client.VersionHeader, s.site.Settings.Version)
		return site.AnswerProblems(c)
	}
	app.All("/api/+", shape)
	app.All(popcorn.Path+"/+", shape)
	for _, path := range []string{"/", "/compare", "/mcp"} { // to GET the first two is a page
		app.Post(path, shape)
	}
	for path := range evalapi.Methods() {
		app.All(path, shape)
	}
}

func (s *Server) accountRoutes(pages group) {
	own := pages.with(site.SignedIn)
	pages.get("/auth/developer", s.signIn.DeveloperLinked)
	pages.get("/auth/:provider", s.signIn.Begin)
	pages.get("/auth/:provider/callback", s.signIn.Callback)
	pages.post("/auth/developer", s.signIn.Developer)
	pages.post("/sign-out", s.signIn.SignOut)
	pages.get("/sign-in", s.pages.SignInPage)

	pages.get("/login", site.NeedsSignIn, s.logins.Show)
	own.post("/login", s.logins.Answer)
	pages.get(views.JoinPath, site.NeedsSignIn, s.members.Ask)
	pages.get(views.JoinPath+"/:code", site.NeedsSignIn, s.members.Look)
	own.post(views.JoinPath, s.members.Join)
	pages.get("/me", site.NeedsSignIn, s.pages.Me)
	own.post("/me/sessions/:id/revoke", s.signIn.SessionRevoke)
	own.post("/me/identities/:id/remove", s.signIn.IdentityRemove)
	own.post("/me/tokens", s.pages.TokenCreate)
	own.post("/me/datasets", s.pages.DatasetsSave)
	own.post("/me/tokens/:id/revoke", s.pages.TokenRevoke)

	pages.get("/webhooks", site.NeedsSignIn, s.hooks.List)
	own.post("/webhooks", s.hooks.Create)
	pages.get("/webhooks/:id", site.NeedsSignIn, s.hooks.Show)
	own.post("/webhooks/:id/delete", s.hooks.Delete)
	own.post("/webhooks/:id/enable", s.hooks.Enable)
	own.post("/webhooks/:id/test", s.hooks.Test)
	own.post("/webhooks/:id/deliveries/:delivery", s.hooks.Redeliver)

	pages.get("/users/:id", s.pages.User)
	own.post("/users/:id/role", s.pages.UserRole)
	own.post("/users/:id/block", s.pages.UserBlock)
}

func (s *Server) taskRoutes(pages, uploads group) {
	own := pages.with(site.SignedIn)
	s.formAddresses(pages)
	pages.get("/", s.pages.Home)
	pages.get("/about", s.pages.Front)
	pages.get("/tasks", s.pages.Tasks)
	pages.get("/tags/:tag", s.pages.Collection)
	pages.get("/leaderboards", s.pages.Leaderboards)
	pages.get("/find", s.palette.Find)
	pages.get("/search", s.palette.Search)
	pages.get("/tasks/new", site.NeedsSignIn, s.authoring.New)
	uploads.post("/tasks/new", s.authoring.Preview)
	pages.get("/tasks/new/:kind", site.NeedsSignIn, s.authoring.Begin)
	uploads.post("/tasks/new/open", s.authoring.Open)
	pages.post("/tasks/new/:kind", s.site.NeedsRoom, s.authoring.TryNew)
	uploads.post("/tasks/publish", s.site.NeedsRoom, s.authoring.Publish)
	pages.post("/tasks/check", s.authoring.Check)
	pages.post("/tasks/check/preview", s.authoring.TaskPreview)
	pages.get("/tasks/:slug", s.pages.Task)
	pages.get("/tasks/:slug/draws", s.pages.Draws)
	pages.get("/tasks/:slug/file", s.pages.TaskFile)
	pages.get("/tasks/:slug/template", s.pages.TaskTemplate)
	pages.get("/tasks/:slug/bundle.zip", s.pages.TaskBundle)
	uploads.post("/tasks/:slug/submit", site.SignedIn, s.pages.TaskSubmit)
	pages.get("/tasks/:slug/solve", s.workbench.Solve)
	uploads.post("/tasks/:slug/solve", site.SignedIn, s.workbench.Submit)
	pages.get("/tasks/:slug/solve/boards", s.workbench.Boards)
	pages.get("/tasks/:slug/solve/devices", s.workbench.Devices)
	pages.get("/tasks/:slug/solve/limits", s.workbench.Limits)
	pages.get("/tasks/:slug/solve/runs", s.workbench.Mine)
	pages.get("/tasks/:slug/edit", site.NeedsSignIn, s.authoring.Edit)
	uploads.post("/tasks/:slug/edit", s.site.NeedsRoom, s.authoring.Save)
	pages.get("/tasks/:slug/files", site.NeedsSignIn, s.authoring.Files)
	pages.post("/tasks/:slug/files", s.site.NeedsRoom, s.authoring.SaveFiles)
	pages.get("/tasks/:slug/trial", site.NeedsSignIn, s.authoring.Trial)
	pages.post("/tasks/:slug/trial", s.site.NeedsRoom, s.authoring.Try)
	pages.post("/tasks/:slug/trial/publish", s.site.NeedsRoom, s.authoring.PublishTried)
	pages.get("/tasks/:slug/members", site.NeedsSignIn, s.members.Show)
	own.post("/tasks/:slug/invites", s.members.InviteCreate)
	own.post("/tasks/:slug/invites/:id/revoke", s.members.InviteRevoke)
	own.post("/tasks/:slug/members/:id/remove", s.members.MemberRemove)
	own.post("/tasks/:slug/leave", s.members.Leave)
	uploads.post("/tasks/:slug/version", s.authoring.VersionPreview)
	pages.get("/tasks/:slug/changes", site.NeedsSignIn, s.authoring.Changes)
	own.post("/tasks/:slug/changes/discard", s.authoring.Discard)
	uploads.post("/tasks/:slug/publish", s.site.NeedsRoom, s.authoring.VersionPublish)
	uploads.post("/tasks/:slug/delete", s.authoring.Delete)
	pages.get("/tasks/:slug/rejudge", site.NeedsSignIn, s.remeasure.Rejudge)
	pages.get("/tasks/:slug/validation", site.NeedsSignIn, s.remeasure.Validation)
	own.post("/tasks/:slug/validation", s.remeasure.Validate)
	pages.get("/tasks/:slug/similar", site.NeedsSignIn, s.moderation.Similar)
	own.post("/tasks/:slug/rejudge", s.remeasure.Begin)
	own.post("/tasks/:slug/rejudge/apply", s.remeasure.Apply)
	own.post("/tasks/:slug/rejudge/cancel", s.remeasure.Cancel)
	pages.get("/tasks/:slug/boards/:device", s.pages.Board)
	s.commentRoutes(pages)

	pages.get("/harness", s.pages.Harnesses)
	pages.get("/harness/:form/:lang", s.pages.Harness)
	pages.get("/harness/:form/:lang/file", s.pages.HarnessFile)
	pages.get("/docs", s.manual.Index)
	pages.get("/docs/tasks", s.authoring.Format)
	pages.get("/docs/:page", s.manual.Show)
	pages.get("/docs/tasks/:starter", s.authoring.Starter)
	pages.get("/trust", s.pages.Trust)
	pages.get("/clocks", site.RedirectTo("/review?kind=clocks&priority=all"))
	pages.get("/api", s.api.Page)
	pages.get(popcorn.Path, site.RedirectTo("/docs/kernelbot"))
}

// formAddresses answer GET for addresses that only take forms: a refused form stays at one, where people reload it
// and copy it.
func (s *Server) formAddresses(pages group) {
	pages.get("/tasks/publish", site.RedirectTo("/tasks/new"))
	pages.get("/tasks/check", site.RedirectTo("/tasks/new"))
	pages.get("/tasks/check/preview", site.RedirectTo("/tasks/new"))
	pages.get("/tasks/:slug/submit", site.RedirectTo("/tasks/:slug#submit"))
	for _, part := range []string{"version", "publish", "delete"} {
		pages.get("/tasks/:slug/"+part, site.RedirectTo("/tasks/:slug/edit"))
	}
	pages.get("/tasks/:slug/trial/publish", site.RedirectTo("/tasks/:slug/trial"))
	pages.get("/tasks/:slug/changes/discard", site.RedirectTo("/tasks/:slug/changes"))
	pages.get("/tasks/:slug/invites", site.RedirectTo("/tasks/:slug/members"))
	pages.get("/tasks/:slug/leave", site.RedirectTo("/tasks/:slug"))
	for _, part := range []string{"apply", "cancel"} {
		pages.get("/tasks/:slug/rejudge/"+part, site.RedirectTo("/tasks/:slug/rejudge"))
	}
	pages.get("/workers", site.RedirectTo("/devices"))
	for path, to := range map[string]string{"/tags": "/tasks", "/queue": "/devices", "/users": "/tasks", "/submissions": "/me"} { // parents of pages
		pages.get(path, site.RedirectTo(to))
	}
	for _, page := range []string{"/review", "/people", "/audit", "/devices"} { // of admins, who look for them beside the others
		pages.get("/operate"+page, site.RedirectTo(page))
	}
}

func (s *Server) playgroundRoutes(pages group) {
	pages.get("/playground", s.playground.Form)
	pages.post("/playground", s.playground.Evaluate)
	pages.get("/evaluations/:id", s.playground.Evaluation)
	pages.post("/evaluations/:id/cancel", s.playground.EvaluationCancel)
	pages.post("/evaluations/:id/share", s.playground.EvaluationShare)
}

// runRoutes are submissions, their runs and profiles, each with the same data for programs, and devices.
func (s *Server) runRoutes(pages group) {
	own := pages.with(site.SignedIn)
	pages.get("/submissions/:id", s.pages.Submission)
	pages.get("/submissions/:id/source", s.pages.SubmissionSource)
	pages.get("/submissions/:id/runs/:run", s.pages.Run)
	own.post("/submissions/:id/cancel", s.pages.SubmissionCancel)
	own.post("/submissions/:id/runs/:run/again", s.pages.RunAgain)

	pages.get("/submissions/:id/runs/:run/profile", s.profiles.Details)
	own.post("/submissions/:id/runs/:run/profile", s.profiles.Again)
	pages.get("/submissions/:id/runs/:run/profile.json", s.profiles.JSON)
	pages.get("/submissions/:id/runs/:run/profile.csv", s.profiles.CSV)
	pages.get("/submissions/:id/runs/:run/profile.ncu-rep", s.profiles.File)
	pages.get("/submissions/:id/runs/:run/profile.ptx", s.profiles.PTX)
	pages.get("/submissions/:id/runs/:run/profile.txt", s.profiles.Text)
	pages.get("/compare", s.profiles.Compare)
	pages.get("/compare.json", s.profiles.CompareJSON)
	pages.get("/compare.csv", s.profiles.CompareCSV)
	pages.get("/runs/:id", s.pages.RunAddress)
	pages.get("/runs/:id/trace.json", s.profiles.Trace)

	pages.get("/devices", s.pages.Devices)
	pages.get("/devices/:device/drift", s.remeasure.Drift)
	pages.get("/devices/:device/sentinel", s.units.Sentinel)
	own.post("/devices/:device/pause", s.pages.DevicePause)
	own.post("/devices/:device/resume", s.pages.DeviceResume)
	own.post("/workers", s.pages.WorkerCreate)
	own.post("/workers/:name/revoke", s.pages.WorkerRevoke)
	own.post("/workers/:name/forget", s.pages.WorkerForget)
}

// moderationRoutes are for reports and decisions about runs, and for admins.
func (s *Server) moderationRoutes(pages group) {
	own := pages.with(site.SignedIn)
	pages.get("/runs/:id/moderation", s.moderation.Run)
	own.post("/runs/:id/report", s.moderation.Report)
	own.post("/runs/:id/note", s.moderation.Note)
	own.post("/runs/:id/dismiss", s.moderation.Dismiss)
	own.post("/runs/:id/disqualify", s.moderation.Disqualify)
	own.post("/runs/:id/reinstate", s.moderation.Reinstate)
	own.post("/submissions/:id/delete", s.moderation.DeleteSubmission)
	own.post("/users/:id/name", s.moderation.Rename)
	pages.get("/review", site.NeedsSignIn, s.moderation.Review)
	own.post("/review/dismiss", s.moderation.DismissAll)
	own.post("/review/disqualify", s.moderation.DisqualifyAll)
	for _, part := range []string{"dismiss", "disqualify"} {
		pages.get("/review/"+part, site.RedirectTo("/review"))
	}
	pages.get("/people", site.NeedsSignIn, s.moderation.People)
	pages.get("/audit", site.NeedsSignIn, s.moderation.Audit)
}

// operationRoutes are where admins keep things off and let workers join.
func (s *Server) operationRoutes(pages group) {
	own := pages.with(site.SignedIn)
	pages.get("/admin", site.RedirectTo("/operate/health"))
	pages.get("/operate", site.NeedsSignIn, s.operation.Page)
	pages.get("/operate/health", site.NeedsSignIn, s.operation.Health)
	pages.get("/operate/storage", site.NeedsSignIn, s.operation.Storage)
	own.post("/operate/off", s.operation.Off)
	own.post("/operate/on", s.operation.On)
	own.post("/operate/budgets", s.operation.Budget)
	own.post("/operate/teams", s.operation.Team)
	own.post("/operate/teams/:id/remove", s.operation.TeamRemove)
	own.post("/operate/teams/:id/leave", s.operation.TeamLeave)
	own.post("/operate/tokens", s.operation.TokenCreate)
	own.post("/operate/tokens/:id/revoke", s.operation.TokenRevoke)
	for _, part := range []string{"off", "on", "tokens", "budgets", "teams"} {
		pages.get("/operate/"+part, site.RedirectTo("/operate"))
	}
}

// streamRoutes are the live streams of pages, which must not be compressed or buffered.
func (s *Server) streamRoutes(streams group) {
	streams.get("/submissions/:id/events", s.pages.SubmissionEvents)
	streams.get("/boards/events", s.pages.BoardsEvents)
	streams.get("/boards/:version/:device/events", s.pages.BoardEvents)
	streams.get("/devices/events", s.pages.DeviceEvents)
}
