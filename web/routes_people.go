package web

import "warpboard/web/site"

// commentRoutes adds the pages of comments on tasks and submissions.
func (s *Server) commentRoutes(pages routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	for _, list := range []string{"/tasks/:slug/comments", "/submissions/:id/comments"} {
		pages.get(list, s.submissions.Comments)
		own.post(list, s.submissions.CommentWrite)
		own.post(list+"/writeup", s.submissions.WriteUpSave)
		own.post(list+"/lock", s.submissions.CommentsLock)
		for _, part := range []string{"/writeup", "/lock"} {
			pages.get(list+part, site.RedirectTo(list))
		}
	}
	pages.get("/comments", site.RedirectTo("/"))
	pages.get("/comments/:id", s.submissions.Comment)
	own.post("/comments/:id/report", s.submissions.CommentReport)
	own.post("/comments/:id/hide", s.submissions.CommentHide)
	own.post("/comments/:id/show", s.submissions.CommentUnhide)
	own.post("/comments/:id/dismiss", s.submissions.CommentDismiss)
	own.post("/comments/:id/delete", s.submissions.CommentDelete)
	for _, part := range []string{"report", "hide", "show", "dismiss", "delete"} {
		pages.get("/comments/:id/"+part, site.RedirectTo("/comments/:id"))
	}
}

// inboxRoutes adds the inbox. withoutPage is a group of routes that need no CSRF token.
func (s *Server) inboxRoutes(pages, withoutPage routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	pages.get("/inbox", site.RedirectVisitors, s.account.Inbox)
	own.post("/inbox/choices", s.account.InboxSettingsSave)
	pages.get("/inbox/choices", site.RedirectTo("/inbox"))
	pages.get("/inbox/confirm/:code", site.RedirectVisitors, s.account.MailConfirmPage)
	own.post("/inbox/confirm/:code", s.account.MailConfirm)
	pages.get("/inbox/off/:token", s.account.UnsubscribePage)
	withoutPage.post("/inbox/off/:token", s.account.Unsubscribe)
	pages.get("/operate/mail", site.RedirectVisitors, s.account.MailQueue)
}

// eventRoutes adds the pages of events.
func (s *Server) eventRoutes(pages routeGroup) {
	own := pages.withMiddleware(site.RefuseVisitors)
	pages.get("/events", s.boards.Events)
	pages.get("/events/new", site.RedirectVisitors, s.boards.EventNew)
	own.post("/events/new", s.boards.EventCreate)
	pages.get("/events/:slug", s.boards.Event)
	pages.get("/events/:slug/wall", s.boards.EventWall)
	pages.get("/events/:slug/edit", site.RedirectVisitors, s.boards.EventEdit)
	own.post("/events/:slug/edit", s.boards.EventUpdate)
	own.post("/events/:slug/delete", s.boards.EventDelete)
	pages.get("/events/:slug/delete", site.RedirectTo("/events/:slug/edit"))
	own.post("/events/:slug/reveal", s.boards.EventReveal)
	pages.get("/events/:slug/reveal", site.RedirectTo("/events/:slug"))
	own.post("/events/:slug/clone", s.boards.EventClone)
	pages.get("/events/:slug/clone", site.RedirectTo("/events/:slug/edit"))
	pages.get("/events/:slug/suite", s.boards.EventSuite)
	pages.get("/events/:slug/suite.csv", s.boards.EventSuiteCSV)
	pages.get("/events/:slug/suite.json", s.api.EventSuite)
	pages.get("/events/:slug/standings.csv", s.boards.EventCSV)
	pages.get("/events/:slug/standings.json", s.api.Event)
}
