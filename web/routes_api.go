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

func (s *Server) apiRoutes(api, evaluations, uploads, streams group) {
	own := api.with(site.SignedIn)
	public := group{api.router, slices.Concat([]fiber.Handler{s.api.Public}, api.before)} // first, so that errors are readable, too
	public.get("/api/v1/tasks", s.api.Tasks)
	public.get("/api/v1/tasks/:slug", s.api.Task)
	public.get("/api/v1/tasks/:slug/draws", s.api.Draws)
	public.get("/api/v1/tasks/:slug/bundle", s.boards.TaskBundle)
	uploads.post("/api/v1/tasks/:slug", site.SignedIn, s.site.NeedsFreeDisk, s.api.PublishTask)
	own.post("/api/v1/tasks/:slug/validation", s.api.Validate)
	public.get("/api/v1/boards/:slug/:device", s.api.Board)
	public.get("/api/v1/leaderboards", s.api.Leaderboard)
	public.get("/api/v1/capacity", s.api.Capacity)
	public.get("/api/v1/devices", s.api.Devices)
	public.get("/api/v1/events", s.api.Events)
	public.get("/api/v1/events/:slug", s.api.Event)
	public.get("/api/v1/events/:slug/suite", s.api.EventSuite)
	public.get("/api/v1/tags/:tag/suite", s.api.TagSuite)
	public.get("/api/v1/runs/:id/statement", s.api.Statement)
	api.post("/api/v1/login", s.api.BeginLogin)
	api.post("/api/v1/login/token", s.api.EndLogin)
	own.post("/api/v1/join", s.api.Join)
	own.delete("/api/v1/tasks/:slug/membership", s.api.Leave)
	own.get("/api/v1/me", s.api.Me)
	own.get("/api/v1/tokens", s.api.Tokens)
	own.delete("/api/v1/tokens/:id", s.api.RevokeToken)
	own.get("/api/v1/submissions", s.api.ListSubmissions)
	own.post("/api/v1/submissions", s.api.CreateSubmission)
	public.get("/api/v1/submissions/:id", s.site.LimitWaiting, s.api.GetSubmission)
	public.get("/api/v1/submissions/:id/source", s.api.SubmissionSource)
	own.post("/api/v1/submissions/:id/cancel", s.api.CancelSubmission)
	streams.get("/api/v1/submissions/:id/events", s.api.Public, s.api.SubmissionEvents)

	for _, list := range []string{"/api/v1/tasks/:slug/comments", "/api/v1/submissions/:id/comments"} {
		public.get(list, s.api.Comments)
		own.post(list, s.api.AddComment)
	}
	own.delete("/api/v1/comments/:id", s.api.DeleteComment)
	own.post("/api/v1/comments/:id/report", s.api.ReportComment)
	own.get("/api/v1/inbox", s.api.Inbox)
	own.post("/api/v1/inbox/read", s.api.ReadInbox)
	s.webhookRoutes(own)
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

func (s *Server) webhookRoutes(own group) {
	own.get("/api/v1/webhooks", s.api.Webhooks)
	own.post("/api/v1/webhooks", s.api.CreateWebhook)
	own.delete("/api/v1/webhooks/:id", s.api.DeleteWebhook)
	own.post("/api/v1/webhooks/:id/test", s.api.TestWebhook)
	own.get("/api/v1/webhooks/:id/deliveries", s.api.Deliveries)
	own.post("/api/v1/webhooks/:id/deliveries/:delivery/redeliver", s.api.Redeliver)
}
