package comments

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Comments is the pages.
type Comments struct {
	site *site.Site
	runs *runs.Runs
	code *views.Highlighter
}

// New returns the pages.
func New(site *site.Site, runs *runs.Runs, code *views.Highlighter) *Comments {
	return &Comments{site: site, runs: runs, code: code}
}

// List shows the comments on the task or the submission in the address.
func (p *Comments) List(c *fiber.Ctx) error {
	return p.show(c, fiber.StatusOK, views.CommentsPage{})
}

// show answers with the page; page holds what a refused form had.
func (p *Comments) show(c *fiber.Ctx, status int, page views.CommentsPage) error {
	ctx, viewer := c.UserContext(), site.Actor(c)
	thread, author, err := p.runs.CommentThread(c)
	if err != nil {
		return err
	}
	after := max(int64(c.QueryInt("after")), 0)
	list, err := p.site.Store.Comments.List(ctx, viewer, thread, after, views.CommentRows+1)
	if err != nil {
		return err
	}
	page.Page, page.Task, page.Author = p.site.Page(c, "Comments", "tasks"), site.TaskRef(thread.Task), author
	page.First, page.Moderates, page.Locked, page.Count = after == 0, thread.ModeratedBy(viewer), thread.Locked(), thread.Count()
	if thread.Submission != nil {
		page.SubmissionID = thread.Submission.ID
	}
	if len(list) > views.CommentRows {
		page.Newer = list[views.CommentRows-1].ID
		list = list[:views.CommentRows]
	}
	if err := p.fill(&page, thread, list); err != nil {
		return err
	}
	switch err := p.site.Store.Comments.Closed(ctx, viewer, thread); db.KindOf(err) {
	case db.Forbidden:
		page.Closed = err.Error()
	default:
		if err != nil {
			return err
		}
		page.MayWriteUp = viewer.ID == thread.AuthorID()
	}
	return p.site.Render(c, status, views.Comments(page))
}

func (p *Comments) fill(page *views.CommentsPage, thread comments.Thread, list []comments.Listed) error {
	for _, one := range list {
		shown, err := p.comment(thread, one)
		switch {
		case err != nil:
			return err
		case one.Writeup:
			page.Writeup = &shown
		default:
			page.List = append(page.List, shown)
		}
	}
	return nil
}

// comment is a comment as pages show it.
func (p *Comments) comment(t comments.Thread, one comments.Listed) (shown views.Comment, err error) {
	shown = views.Comment{ID: one.ID, Author: site.PersonOf(one.UserID, one.UserName), IsAuthor: one.UserID == t.AuthorID(), Created: one.CreatedAt,
		Source: one.Body, Hidden: one.HiddenAt != nil, Why: one.HiddenWhy}
	if one.EditedAt != nil {
		shown.Edited = *one.EditedAt
	}
	lines := ""
	if t.Submission != nil {
		lines = string(views.SourceURL(t.Submission.ID))
	}
	shown.HTML, err = p.code.Comment(one.Body, lines)
	return shown, err
}

// Write adds a comment.
func (p *Comments) Write(c *fiber.Ctx) error { return p.write(c, "comment", p.site.Store.Comments.Add) }

// WriteUp writes the author's text on top.
func (p *Comments) WriteUp(c *fiber.Ctx) error {
	return p.write(c, "writeup", p.site.Store.Comments.SetWriteup)
}

func (p *Comments) write(c *fiber.Ctx, act string, do func(context.Context, accounts.User, comments.Thread, string) (comments.Comment, error)) error {
	thread, _, err := p.runs.CommentThread(c)
	if err != nil {
		return err
	}
	text := c.FormValue("text")
	made, err := do(c.UserContext(), site.Actor(c), thread, text)
	switch kind := db.KindOf(err); {
	case err == nil:
		return site.Redirect(c, views.CommentPlace(listURL(thread), made.ID, thread.Count()))
	case kind != db.Invalid && kind != db.Conflict && kind != db.TooMany:
		return err
	}
	refused := site.FailureOf(err)
	return p.show(c, refused.Status, views.CommentsPage{Problem: refused.Message, Act: act, Typed: text})
}

// Lock lets only moderators write, or everyone again.
func (p *Comments) Lock(c *fiber.Ctx) error {
	thread, _, err := p.runs.CommentThread(c)
	if err == nil {
		err = p.site.Store.Comments.Lock(c.UserContext(), site.Actor(c), thread, c.FormValue("locked") != "")
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, listURL(thread)+"?done=saved")
}

func listURL(t comments.Thread) templ.SafeURL {
	if t.Submission != nil {
		return views.CommentsURL("", t.Submission.ID)
	}
	return views.CommentsURL(t.Task.Slug, 0)
}
