package web

import "warpboard/web/site"

// commentRoutes are the lists of comments on tasks and on submissions, and single comments.
func (s *Server) commentRoutes(pages group) {
	own := pages.with(site.SignedIn)
	for _, list := range []string{"/tasks/:slug/comments", "/submissions/:id/comments"} {
		pages.get(list, s.comments.List)
		own.post(list, s.comments.Write)
		own.post(list+"/writeup", s.comments.WriteUp)
		own.post(list+"/lock", s.comments.Lock)
		for _, part := range []string{"/writeup", "/lock"} {
			pages.get(list+part, site.RedirectTo(list))
		}
	}
	pages.get("/comments", site.RedirectTo("/"))
	pages.get("/comments/:id", s.comments.One)
	own.post("/comments/:id/report", s.comments.Report)
	own.post("/comments/:id/hide", s.comments.Hide)
	own.post("/comments/:id/show", s.comments.Show)
	own.post("/comments/:id/dismiss", s.comments.Dismiss)
	own.post("/comments/:id/delete", s.comments.Delete)
	for _, part := range []string{"report", "hide", "show", "dismiss", "delete"} {
		pages.get("/comments/:id/"+part, site.RedirectTo("/comments/:id"))
	}
}

// inboxRoutes are what a person was told. withoutPage takes forms that no page of this site sent.
func (s *Server) inboxRoutes(pages, withoutPage group) {
	own := pages.with(site.SignedIn)
	pages.get("/inbox", site.NeedsSignIn, s.inbox.Show)
	own.post("/inbox/choices", s.inbox.Choose)
	pages.get("/inbox/choices", site.RedirectTo("/inbox"))
	pages.get("/inbox/confirm/:code", site.NeedsSignIn, s.inbox.AskConfirm)
	own.post("/inbox/confirm/:code", s.inbox.Confirm)
	pages.get("/inbox/off/:token", s.inbox.AskOff)
	withoutPage.post("/inbox/off/:token", s.inbox.Off)
	pages.get("/operate/mail", site.NeedsSignIn, s.inbox.Postbox)
}

// eventRoutes are competitions over several tasks.
func (s *Server) eventRoutes(pages group) {
	own := pages.with(site.SignedIn)
	pages.get("/events", s.events.List)
	pages.get("/events/new", site.NeedsSignIn, s.events.New)
	own.post("/events/new", s.events.Create)
	pages.get("/events/:slug", s.events.Show)
	pages.get("/events/:slug/wall", s.events.Wall)
	pages.get("/events/:slug/edit", site.NeedsSignIn, s.events.Edit)
	own.post("/events/:slug/edit", s.events.Save)
	own.post("/events/:slug/delete", s.events.Delete)
	pages.get("/events/:slug/delete", site.RedirectTo("/events/:slug/edit"))
	own.post("/events/:slug/reveal", s.events.Reveal)
	pages.get("/events/:slug/reveal", site.RedirectTo("/events/:slug"))
	pages.get("/events/:slug/standings.csv", s.events.CSV)
	pages.get("/events/:slug/standings.json", s.api.Event)
}
