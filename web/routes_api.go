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
func (s *Server) evaluationRoutes(app *fiber.App, packed group) {
	look := packed.with(s.evalAPI.Errors, s.site.Identify, s.evals.Access, s.site.ReadBody(site.SmallBody))
	run := packed.with(s.evalAPI.Errors, s.site.Identify, s.evals.Access, s.site.ReadBody(s.evals.BodyLimit))
	run.post("/evaluate", s.evalAPI.Evaluate)
	run.post("/compare", s.evalAPI.Compare)
	run.post("/", s.evalAPI.Compare)
	look.get("/job/:id", s.evalAPI.Job)
	look.get("/health", s.evalAPI.Health)
	look.post("/admin/cleanup-jobs", s.evalAPI.CleanUp)
	packed.get("/stats", s.evalAPI.Errors, s.metrics.OperatorOnly, s.metrics.Stats)
	for path, method := range evalapi.Methods() {
		app.All(path, evalapi.AllowOnly(method))
	}
}

// popcornRoutes adds the paths of popcorn-cli. The order matters, because a leaderboard can have the same name as a
// part of another path.
func (s *Server) popcornRoutes(app *fiber.App, plain, packed group) {
	known := []fiber.Handler{s.popcorn.Errors, popcorn.UseTokenHeader, s.site.Identify}
	body := s.site.ReadBody(site.SmallBody)
	open, streams := packed.with(known...).with(body), plain.with(known...).with(s.popcorn.RequireToken, body)
	own := packed.with(known...).with(s.popcorn.RequireToken, body)
	open.get(popcorn.Path+"/leaderboards", s.popcorn.Leaderboards)
	open.get(popcorn.Path+"/gpus/:leaderboard", s.popcorn.GPUs)
	open.get(popcorn.Path+"/runner_queue/:gpu", s.popcorn.RunnerQueue)
	open.get(popcorn.Path+"/submissions/:leaderboard/:gpu", s.popcorn.Board)
	open.get(popcorn.Path+"/auth/init", s.popcorn.Register)
	packed.with(s.popcorn.Errors).all(popcorn.Path+"/admin/+", s.popcorn.Admin) // with any token in POPCORN_ADMIN_TOKEN
	own.post(popcorn.Path+"/user/join", s.popcorn.Join)
	own.get(popcorn.Path+"/user/submissions", s.popcorn.List)
	own.get(popcorn.Path+"/user/submissions/:id", s.popcorn.Show)
	own.add(fiber.MethodDelete, popcorn.Path+"/user/submissions/:id", s.popcorn.Delete)
	own.post(popcorn.Path+"/submission/:leaderboard/:gpu/:mode", s.popcorn.Submit)
	streams.post(popcorn.Path+"/profile/:leaderboard/:gpu", s.popcorn.Profile)
	streams.post(popcorn.Path+"/:leaderboard/:gpu/:mode", s.popcorn.SubmitAndFollow)
	app.All(popcorn.Path+"/+", slices.Concat(known, []fiber.Handler{body, unknownRoute})...)
}

// apiRoutes adds the routes of the API: those that api.Routes returns, those with other limits, and those of other
// packages.
func (s *Server) apiRoutes(plain, evaluations, uploads, streams group) {
	public := func(g group) group { // first, so that errors are readable, too
		return group{g.router, slices.Concat([]fiber.Handler{s.api.AllowOtherSites}, g.middleware)}
	}
	for _, r := range s.api.Routes() {
		g := plain
		switch {
		case r.Streams:
			g = streams
		case r.HasKernels:
			g = evaluations
		}
		if r.Public {
			g = public(g)
		}
		if r.SignedIn {
			g = g.with(site.SignedIn)
		}
		if r.Waits {
			g = g.with(s.site.LimitWaiting)
		}
		g.add(r.Method, r.Path, r.Handler)
	}
	public(plain).get("/api/v1/tasks/:slug/bundle", s.boards.TaskBundle)
	public(plain).get("/api/v1/openapi.json", s.api.OpenAPI)
	uploads.post("/api/v1/tasks/:slug", site.SignedIn, s.site.NeedsFreeDisk, s.api.PublishTask)
}
