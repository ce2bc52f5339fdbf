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

// routes adds the middleware of all requests, then every route. fiber uses the first route that matches, so their order
// matters.
func (s *Server) routes(app *fiber.App) {
	s.markProgramRequests(app)
	app.Use(
		identifyRequest, s.accessLog, s.metrics.MeasureRequest, s.recoverPanics(), s.requestContext, s.securityHeaders,
		s.refuseMalformed, s.refuseOutsidePath)

	plain := routeGroup{router: app}
	pack := compressResponses()
	packed := plain.withMiddleware(pack, s.answerErrors)
	probes := packed.withMiddleware(omitFromLog)

	// Probes precede admit, so that they are never refused.
	probes.get("/healthz", s.healthz)
	probes.get("/metrics", s.metrics.ServeOperator)
	app.Use(s.limitRequests)
	probes.get("/metrics", s.metrics.RequireOperator, s.metrics.Serve)
	probes.get("/readyz", s.readyz)
	packed.get("/static/:version/:name", s.serveAsset)
	packed.get(statement.PublicKeysPath, s.api.AllowOtherSites, s.api.PublicKeys)
	s.pythonClient.routes(packed)
	if s.queue != nil {
		packed.get(job.WorkerPath, s.workerConnection)
	}

	s.evaluationRoutes(app, packed)
	// before IdentifySender, which would refuse the operator's token
	packed.get("/api/v1/evaluations/stats", s.metrics.RequireOperator, s.metrics.Stats)
	plain.addForAllMethods("/mcp", s.evalAPI.ConvertErrors, s.site.IdentifySender, s.evaluations.CheckAccess, s.site.ReadBody(s.evaluations.BodyLimit), s.mcpHandler())
	s.popcornRoutes(app, plain, packed)
	known := s.api.CheckQuery()
	s.apiRoutes(packed.withMiddleware(s.site.IdentifySender, s.site.ReadBody(site.SmallBodyLimit),
		s.site.RequireCSRFOrToken, known),
		packed.withMiddleware(s.site.IdentifySender, s.site.ReadBody(s.evaluations.BodyLimit),
			s.site.RequireCSRFOrToken, known),
		packed.withMiddleware(s.site.IdentifySender, s.site.ReadBody(s.authoring.BodyLimit),
			s.site.RequireCSRFOrToken, known),
		plain.withMiddleware(s.site.IdentifySender, s.site.ReadBody(site.SmallBodyLimit), known))
	app.Use("/api/v1", s.site.IdentifySender, s.site.ReadBody(site.SmallBodyLimit), s.site.RequireCSRFOrToken,
		unknownRoute)

	pages := packed.withMiddleware(s.site.IdentifySender, s.site.ReadBody(site.SmallBodyLimit), s.site.RequireCSRF)
	s.accountRoutes(pages)
	s.inboxRoutes(pages, packed.withMiddleware(s.site.IdentifySender, s.site.ReadBody(site.SmallBodyLimit)))
	s.taskRoutes(pages, packed.withMiddleware(s.site.IdentifySender, s.site.ReadBody(s.authoring.BodyLimit),
		s.site.RequireCSRF))
	s.eventRoutes(pages)
	s.playgroundRoutes(pages)
	s.runRoutes(pages)
	s.moderationRoutes(pages)
	s.operationRoutes(pages)
	s.shareRoutes(pages)
	s.streamRoutes(plain.withMiddleware(s.site.IdentifySender, s.site.ReadBody(site.SmallBodyLimit)))
	app.Use(pack, s.answerErrors, s.site.IdentifySender, refuseOtherMethods, s.site.ReadBody(site.SmallBodyLimit), s.site.RequireCSRF, site.NotFound)
}

// markProgramRequests marks requests of programs: their errors are problem documents even if no route matches, and
// their responses have a header with the site's version.
func (s *Server) markProgramRequests(app *fiber.App) {
	shape := func(c *fiber.Ctx) error {
		c.Set(client.VersionHeader, s.site.Settings.Version)
		return site.UseProblemDocuments(c)
	}
	app.All("/api/+", shape)
	app.All(popcorn.Path+"/+", shape)
	for _, path := range []string{"/", "/compare", "/mcp"} { // only POST: GET / and GET /compare are pages
		app.Post(path, shape)
	}
	for path := range evalapi.MethodsByPath() {
		app.All(path, shape)
	}
}

func (s *Server) accountRoutes(pages routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	pages.get("/auth/developer", s.signIn.OpenDeveloperLink)
	pages.get("/auth/:provider", s.signIn.Begin)
	pages.get("/auth/:provider/callback", s.signIn.Callback)
	pages.post("/auth/developer", s.signIn.DeveloperSignIn)
	pages.post("/sign-out", s.signIn.SignOut)
	pages.get("/sign-in", s.account.SignInPage)

	pages.get("/login", site.RedirectVisitors, s.account.LoginCodePage)
	own.post("/login", s.account.LoginDecide)
	pages.get(views.JoinPath, site.RedirectVisitors, s.account.JoinForm)
	pages.get(views.JoinPath+"/:code", site.RedirectVisitors, s.account.JoinPreview)
	own.post(views.JoinPath, s.account.JoinTask)
	pages.get("/me", site.RedirectVisitors, s.account.Me)
	own.post("/me/sessions/:id/revoke", s.signIn.SessionRevoke)
	own.post("/me/identities/:id/remove", s.signIn.IdentityRemove)
	own.post("/me/tokens", s.account.TokenCreate)
	own.post("/me/datasets", s.account.DatasetsSave)
	own.post("/me/tokens/:id/revoke", s.account.TokenRevoke)

	pages.get("/webhooks", site.RedirectVisitors, s.account.Webhooks)
	own.post("/webhooks", s.account.WebhookCreate)
	pages.get("/webhooks/:id", site.RedirectVisitors, s.account.Webhook)
	own.post("/webhooks/:id/delete", s.account.WebhookDelete)
	own.post("/webhooks/:id/enable", s.account.WebhookEnable)
	own.post("/webhooks/:id/test", s.account.WebhookTest)
	own.post("/webhooks/:id/deliveries/:delivery", s.account.WebhookRedeliver)

	pages.get("/users/:id", s.account.User)
	own.post("/users/:id/role", s.account.UserRole)
	own.post("/users/:id/block", s.account.UserBlock)
}

func (s *Server) taskRoutes(pages, uploads routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	s.addFormPathRoutes(pages)
	pages.get("/", s.boards.Home)
	pages.get("/about", s.boards.Front)
	pages.get("/tasks", s.boards.Tasks)
	pages.get("/tags/:tag", s.boards.TasksWithTag)
	pages.get("/tags/:tag/suite", s.boards.TagSuite)
	pages.get("/tags/:tag/suite.csv", s.boards.TagSuiteCSV)
	pages.get("/tags/:tag/suite.json", s.api.TagSuite)
	pages.get("/leaderboards", s.boards.Leaderboards)
	pages.get("/find", s.docs.FindJSON)
	pages.get("/search", s.docs.Search)
	pages.get("/tasks/new", site.RedirectVisitors, s.authoring.NewTaskPage)
	uploads.post("/tasks/new", s.authoring.PreviewUpload)
	pages.get("/tasks/new/:kind", site.RedirectVisitors, s.authoring.BeginWithStarter)
	uploads.post("/tasks/new/open", s.authoring.OpenUpload)
	pages.post("/tasks/new/:kind", s.site.RequireFreeDisk, s.authoring.TryNew)
	uploads.post("/tasks/publish", s.site.RequireFreeDisk, s.authoring.Publish)
	pages.post("/tasks/check", s.authoring.Check)
	pages.post("/tasks/check/preview", s.authoring.TaskPreview)
	pages.get("/tasks/:slug", s.boards.Task)
	pages.get("/tasks/:slug/draws", s.boards.Draws)
	pages.get("/tasks/:slug/file", s.boards.TaskFile)
	pages.get("/tasks/:slug/template", s.boards.TaskTemplate)
	pages.get("/tasks/:slug/bundle.zip", s.boards.TaskBundle)
	uploads.post("/tasks/:slug/submit", site.RefuseVisitors, s.boards.TaskSubmit)
	pages.get("/tasks/:slug/solve", s.submissions.Workbench)
	uploads.post("/tasks/:slug/solve", site.RefuseVisitors, s.submissions.WorkbenchSubmit)
	pages.get("/tasks/:slug/solve/boards", s.submissions.WorkbenchBoards)
	pages.get("/tasks/:slug/solve/devices", s.submissions.WorkbenchDevices)
	pages.get("/tasks/:slug/solve/limits", s.submissions.WorkbenchLimits)
	pages.get("/tasks/:slug/solve/runs", s.submissions.WorkbenchRuns)
	pages.get("/tasks/:slug/edit", site.RedirectVisitors, s.authoring.EditPage)
	uploads.post("/tasks/:slug/edit", s.site.RequireFreeDisk, s.authoring.SaveSettings)
	pages.get("/tasks/:slug/files", site.RedirectVisitors, s.authoring.FilesPage)
	pages.post("/tasks/:slug/files", s.site.RequireFreeDisk, s.authoring.SaveFiles)
	pages.get("/tasks/:slug/trial", site.RedirectVisitors, s.authoring.TrialPage)
	pages.post("/tasks/:slug/trial", s.site.RequireFreeDisk, s.authoring.TryTask)
	pages.post("/tasks/:slug/trial/publish", s.site.RequireFreeDisk, s.authoring.PublishTriedDraft)
	pages.get("/tasks/:slug/members", site.RedirectVisitors, s.account.Members)
	own.post("/tasks/:slug/invites", s.account.InviteCreate)
	own.post("/tasks/:slug/invites/:id/revoke", s.account.InviteRevoke)
	own.post("/tasks/:slug/members/:id/remove", s.account.MemberRemove)
	own.post("/tasks/:slug/leave", s.account.LeaveTask)
	uploads.post("/tasks/:slug/version", s.authoring.VersionPreview)
	pages.get("/tasks/:slug/changes", site.RedirectVisitors, s.authoring.ChangesPage)
	own.post("/tasks/:slug/changes/discard", s.authoring.DiscardUnpublished)
	uploads.post("/tasks/:slug/publish", s.site.RequireFreeDisk, s.authoring.VersionPublish)
	uploads.post("/tasks/:slug/delete", s.authoring.Delete)
	pages.get("/tasks/:slug/rejudge", site.RedirectVisitors, s.operation.ShowRerun)
	pages.get("/tasks/:slug/validation", site.RedirectVisitors, s.operation.ShowValidation)
	own.post("/tasks/:slug/validation", s.operation.RunValidation)
	pages.get("/tasks/:slug/similar", site.RedirectVisitors, s.operation.SimilarSources)
	own.post("/tasks/:slug/rejudge", s.operation.RerunBegin)
	own.post("/tasks/:slug/rejudge/apply", s.operation.RerunApply)
	own.post("/tasks/:slug/rejudge/cancel", s.operation.RerunCancel)
	pages.get("/tasks/:slug/boards/:device", s.boards.Board)
	s.commentRoutes(pages)

	pages.get("/harness", s.docs.Harnesses)
	pages.get("/harness/:form/:lang", s.docs.Harness)
	pages.get("/harness/:form/:lang/file", s.docs.HarnessFile)
	pages.get("/docs", s.docs.Index)
	pages.get("/docs/tasks", s.authoring.FormatPage)
	pages.get("/docs/:page", s.docs.Page)
	pages.get("/docs/tasks/:starter", s.authoring.Starter)
	pages.get("/trust", s.docs.Trust)
	pages.get("/clocks", site.RedirectTo("/review?kind=clocks&priority=all"))
	pages.get("/api", s.api.ShowDocumentation)
	pages.get(popcorn.Path, site.RedirectTo("/docs/kernelbot"))
}

// addFormPathRoutes adds GET routes for paths that accept only forms. After a refused form a browser shows such a path
// as its address, and people reload or copy it.
func (s *Server) addFormPathRoutes(pages routeGroup) {
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
	// URLs that people get by shortening the URL of a page
	for path, to := range map[string]string{"/tags": "/tasks", "/queue": "/devices", "/users": "/tasks", "/submissions": "/me"} {
		pages.get(path, site.RedirectTo(to))
	}
	// admins expect these pages below /operate, too
	for _, page := range []string{"/review", "/people", "/audit", "/devices"} {
		pages.get("/operate"+page, site.RedirectTo(page))
	}
}

func (s *Server) playgroundRoutes(pages routeGroup) {
	pages.get("/playground", s.playground.Form)
	pages.post("/playground", s.playground.Evaluate)
	pages.get("/evaluations/:id", s.playground.Evaluation)
	pages.post("/evaluations/:id/cancel", s.playground.EvaluationCancel)
	pages.post("/evaluations/:id/share", s.playground.EvaluationShare)
}

// runRoutes adds the pages of submissions, runs, profiles, and devices, and their data for programs.
func (s *Server) runRoutes(pages routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	pages.get("/submissions/:id", s.submissions.Submission)
	pages.get("/submissions/:id/source", s.submissions.SubmissionSource)
	pages.get("/submissions/:id/runs/:run", s.submissions.Run)
	own.post("/submissions/:id/cancel", s.submissions.SubmissionCancel)
	own.post("/submissions/:id/runs/:run/again", s.submissions.RunAgain)

	pages.get("/submissions/:id/runs/:run/profile", s.submissions.Profile)
	own.post("/submissions/:id/runs/:run/profile", s.submissions.ProfileAgain)
	pages.get("/submissions/:id/runs/:run/profile.json", s.submissions.ProfileJSON)
	pages.get("/submissions/:id/runs/:run/profile.csv", s.submissions.ProfileCSV)
	pages.get("/submissions/:id/runs/:run/profile.ncu-rep", s.submissions.ProfileFile)
	pages.get("/submissions/:id/runs/:run/profile.ptx", s.submissions.ProfilePTX)
	pages.get("/submissions/:id/runs/:run/profile.txt", s.submissions.ProfileText)
	pages.get("/compare", s.submissions.Compare)
	pages.get("/compare.json", s.submissions.CompareJSON)
	pages.get("/compare.csv", s.submissions.CompareCSV)
	pages.get("/runs/:id", s.submissions.RedirectToRun)
	pages.get("/runs/:id/trace.json", s.submissions.Trace)

	pages.get("/devices", s.operation.Devices)
	pages.get("/devices/:device/drift", s.operation.Drift)
	pages.get("/devices/:device/sentinel", s.operation.SlotBenchmarks)
	own.post("/devices/:device/pause", s.operation.DevicePause)
	own.post("/devices/:device/resume", s.operation.DeviceResume)
	own.post("/workers", s.operation.WorkerCreate)
	own.post("/workers/:name/revoke", s.operation.WorkerRevoke)
	own.post("/workers/:name/forget", s.operation.WorkerForget)
}

// moderationRoutes adds reports and decisions about runs, and pages for moderators.
func (s *Server) moderationRoutes(pages routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	pages.get("/runs/:id/moderation", s.operation.RunReview)
	own.post("/runs/:id/report", s.operation.RunReport)
	own.post("/runs/:id/note", s.operation.RunNote)
	own.post("/runs/:id/dismiss", s.operation.RunDismiss)
	own.post("/runs/:id/disqualify", s.operation.RunDisqualify)
	own.post("/runs/:id/reinstate", s.operation.RunReinstate)
	own.post("/submissions/:id/delete", s.operation.SubmissionDelete)
	own.post("/users/:id/name", s.operation.UserRename)
	pages.get("/review", site.RedirectVisitors, s.operation.ReviewQueue)
	own.post("/review/dismiss", s.operation.ReviewDismiss)
	own.post("/review/disqualify", s.operation.ReviewDisqualify)
	for _, part := range []string{"dismiss", "disqualify"} {
		pages.get("/review/"+part, site.RedirectTo("/review"))
	}
	pages.get("/people", site.RedirectVisitors, s.operation.People)
	pages.get("/audit", site.RedirectVisitors, s.operation.AuditLog)
}

// operationRoutes adds the pages on which admins control the site and let workers join.
func (s *Server) operationRoutes(pages routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	pages.get("/admin", site.RedirectTo("/operate/health"))
	pages.get("/operate", site.RedirectVisitors, s.operation.Controls)
	pages.get("/operate/health", site.RedirectVisitors, s.operation.Health)
	pages.get("/operate/storage", site.RedirectVisitors, s.operation.Storage)
	own.post("/operate/off", s.operation.SwitchOff)
	own.post("/operate/on", s.operation.SwitchOn)
	own.post("/operate/budgets", s.operation.SaveBudget)
	own.post("/operate/teams", s.operation.TeamSave)
	own.post("/operate/teams/:id/remove", s.operation.TeamRemove)
	own.post("/operate/teams/:id/leave", s.operation.TeamMemberRemove)
	own.post("/operate/tokens", s.operation.TokenCreate)
	own.post("/operate/tokens/:id/revoke", s.operation.TokenRevoke)
	for _, part := range []string{"off", "on", "tokens", "budgets", "teams"} {
		pages.get("/operate/"+part, site.RedirectTo("/operate"))
	}
}

// streamRoutes adds the live streams of pages. They must not be compressed or buffered.
func (s *Server) streamRoutes(streams routeGroup) {
	streams.get("/submissions/:id/events", s.submissions.SubmissionEvents)
	streams.get("/boards/events", s.boards.BoardsEvents)
	streams.get("/boards/:version/:device/events", s.boards.BoardEvents)
	streams.get("/devices/events", s.operation.DeviceEvents)
}
