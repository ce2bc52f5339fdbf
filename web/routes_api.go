package web

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/evalapi"
	"warpboard/web/popcorn"
	"warpboard/web/site"
)

// evaluationRoutes adds the paths of the CUDA Evaluation Server V2, which docs/evaluation-server.md describes. Errors
// have that server's format.
func (s *Server) evaluationRoutes(app *fiber.App, packed routeGroup) {
	look := packed.withMiddleware(s.evalAPI.ConvertErrors, s.site.IdentifySender, s.evaluations.CheckAccess,
		s.site.ReadBody(site.SmallBodyLimit))
	run := packed.withMiddleware(s.evalAPI.ConvertErrors, s.site.IdentifySender, s.evaluations.CheckAccess,
		s.site.ReadBody(s.evaluations.BodyLimit))
	run.post("/evaluate", s.evalAPI.Evaluate)
	run.post("/compare", s.evalAPI.Compare)
	run.post("/", s.evalAPI.Compare)
	look.get("/job/:id", s.evalAPI.JobState)
	look.get("/health", s.evalAPI.Health)
	look.post("/admin/cleanup-jobs", s.evalAPI.CleanUp)
	packed.get("/stats", s.evalAPI.ConvertErrors, s.metrics.RequireOperator, s.metrics.Stats)
	for path, method := range evalapi.MethodsByPath() {
		app.All(path, evalapi.AllowOnlyMethod(method))
	}
}

// popcornRoutes adds the paths of popcorn-cli. The order matters, because a leaderboard can have the same name as a
// part of another path.
func (s *Server) popcornRoutes(app *fiber.App, plain, packed routeGroup) {
	known := []fiber.Handler{s.popcorn.ConvertErrors, popcorn.UseTokenHeader, s.site.IdentifySender}
	body := s.site.ReadBody(site.SmallBodyLimit)
	open, streams := packed.withMiddleware(known...).withMiddleware(body),
		plain.withMiddleware(known...).withMiddleware(s.popcorn.RequireToken, body)
	own := packed.withMiddleware(known...).withMiddleware(s.popcorn.RequireToken, body)
	open.get(popcorn.Path+"/leaderboards", s.popcorn.Leaderboards)
	open.get(popcorn.Path+"/gpus/:leaderboard", s.popcorn.GPUs)
	open.get(popcorn.Path+"/runner_queue/:gpu", s.popcorn.RunnerQueue)
	open.get(popcorn.Path+"/submissions/:leaderboard/:gpu", s.popcorn.Board)
	open.get(popcorn.Path+"/auth/init", s.popcorn.RefuseRegister)
	// popcorn-cli sends these requests if POPCORN_ADMIN_TOKEN is set; the token does not matter
	packed.withMiddleware(s.popcorn.ConvertErrors).addForAllMethods(popcorn.Path+"/admin/+", s.popcorn.RefuseAdmin)
	own.post(popcorn.Path+"/user/join", s.popcorn.Join)
	own.get(popcorn.Path+"/user/submissions", s.popcorn.ListSubmissions)
	own.get(popcorn.Path+"/user/submissions/:id", s.popcorn.ShowSubmission)
	own.addRoute(fiber.MethodDelete, popcorn.Path+"/user/submissions/:id", s.popcorn.DeleteSubmission)
	own.post(popcorn.Path+"/submission/:leaderboard/:gpu/:mode", s.popcorn.Submit)
	streams.post(popcorn.Path+"/profile/:leaderboard/:gpu", s.popcorn.SubmitProfile)
	streams.post(popcorn.Path+"/:leaderboard/:gpu/:mode", s.popcorn.SubmitAndFollow)
	app.All(popcorn.Path+"/+", slices.Concat(known, []fiber.Handler{body, unknownRoute})...)
}

// apiRoutes adds the routes of the API: those that api.Routes returns, those with other limits, and those of other
// packages.
func (s *Server) apiRoutes(plain, evaluations, uploads, streams routeGroup) {
	public := func(g routeGroup) routeGroup { // first, so that scripts of other sites can read errors, too
		return routeGroup{g.router, slices.Concat([]fiber.Handler{s.api.AllowOtherSites}, g.middleware)}
	}
	for _, r := range s.api.Routes() {
		g := plain
		switch {
		case r.StreamsAnswer:
			g = streams
		case r.BodyHasKernels:
			g = evaluations
		}
		if r.OpenToOtherSites {
			g = public(g)
		}
		if r.RequiresSignIn {
			g = g.withMiddleware(site.RefuseVisitors)
		}
		if r.MayWait {
			g = g.withMiddleware(s.site.LimitWorkOfWaitRequests)
		}
		g.addRoute(r.Method, r.Path, r.Handler)
	}
	public(plain).get("/api/v1/tasks/:slug/bundle", s.boards.TaskBundle)
	public(plain).get("/api/v1/openapi.json", s.api.OpenAPI)
	uploads.post("/api/v1/tasks/:slug", site.RefuseVisitors, s.site.RequireFreeDisk, s.api.PublishTask)
}
