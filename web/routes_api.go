package web

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/evalapi"
	"warpboard/web/popcorn"
	"warpboard/web/site"
)

// evaluationRoutes adds all requests of clients of the CUDA Evaluation Server V2, as docs/evaluation-server.md
// describes it; errors are answered in that server's shape.
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

// popcornRoutes adds the requests of popcorn-cli. Their order matters, because a leaderboard may have the name of a
// part of another path.
func (s *Server) popcornRoutes(app *fiber.App, plain, packed group) {
	known := []fiber.Handler{s.popcorn.Errors, popcorn.Caller, s.site.Identify}
	body := s.site.ReadBody(site.SmallBody)
	open, streams := packed.with(known...).with(body), plain.with(known...).with(s.popcorn.NeedsCaller, body)
	own := packed.with(known...).with(s.popcorn.NeedsCaller, body)
	open.get(popcorn.Path+"/leaderboards", s.popcorn.Leaderboards)
	open.get(popcorn.Path+"/gpus/:leaderboard", s.popcorn.GPUs)
	open.get(popcorn.Path+"/runner_queue/:gpu", s.popcorn.RunnerQueue)
	open.get(popcorn.Path+"/submissions/:leaderboard/:gpu", s.popcorn.Board)
	open.get(popcorn.Path+"/auth/init", s.popcorn.Register)
	packed.with(s.popcorn.Errors).all(popcorn.Path+"/admin/+", s.popcorn.Admin) // with any token in POPCORN_ADMIN_TOKEN
	own.post(popcorn.Path+"/user/join", s.popcorn.Join)
	own.get(popcorn.Path+"/user/submissions", s.popcorn.List)
	own.get(popcorn.Path+"/user/submissions/:id", s.popcorn.Show)
	own.delete(popcorn.Path+"/user/submissions/:id", s.popcorn.Delete)
	own.post(popcorn.Path+"/submission/:leaderboard/:gpu/:mode", s.popcorn.Submit)
	streams.post(popcorn.Path+"/profile/:leaderboard/:gpu", s.popcorn.Profile)
	streams.post(popcorn.Path+"/:leaderboard/:gpu/:mode", s.popcorn.SubmitAndFollow)
	app.All(popcorn.Path+"/+", slices.Concat(known, []fiber.Handler{body, noSuchCall})...)
}

// apiRoutes adds the routes of the API: those of its description, and then those that need more before their handlers.
func (s *Server) apiRoutes(api, evaluations, uploads, streams group) {
	own := api.with(site.SignedIn)
	public := group{api.router, slices.Concat([]fiber.Handler{s.api.Public}, api.before)} // first, so that errors are readable, too
	s.api.Routes(func(method, path string, token bool, answer fiber.Handler) {
		if token {
			own.add(method, path, answer)
		} else {
			public.add(method, path, answer)
		}
	})
	public.get("/api/v1/tasks/:slug/bundle", s.boards.TaskBundle)
	uploads.post("/api/v1/tasks/:slug", site.SignedIn, s.site.NeedsFreeDisk, s.api.PublishTask)
	api.post("/api/v1/login", s.api.BeginLogin)
	api.post("/api/v1/login/token", s.api.EndLogin)
	public.get("/api/v1/submissions/:id", s.site.LimitWaiting, s.api.GetSubmission)
	streams.get("/api/v1/submissions/:id/events", s.api.Public, s.api.SubmissionEvents)
	evaluations.post("/api/v1/evaluations", s.api.CreateEvaluation)
	evaluations.post("/api/v1/evaluations/batch", s.api.CreateBatch)
	evaluations.post("/api/v1/compile", s.api.Compile)
	api.delete("/api/v1/evaluations/batch/:id", s.api.CancelBatch)
	streams.get("/api/v1/evaluations/batch/:id/results", s.api.BatchResults)
	api.get("/api/v1/evaluations", s.api.ListEvaluations)
	api.get("/api/v1/evaluations/:id", s.site.LimitWaiting, s.api.GetEvaluation)
	api.patch("/api/v1/evaluations/:id", s.api.ChangeEvaluation)
	api.post("/api/v1/evaluations/:id/cancel", s.api.CancelEvaluation)
	streams.get("/api/v1/evaluations/:id/events", s.api.EvaluationEvents)
	public.get("/api/v1/openapi.json", s.api.OpenAPI)
}
