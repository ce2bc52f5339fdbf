package comments

import (
	"context"
	"fmt"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
)

// One shows a comment, with what the viewer may do about it.
func (p *Comments) One(c *fiber.Ctx) error { return p.showOne(c, fiber.StatusOK, views.CommentPage{}) }

func (p *Comments) showOne(c *fiber.Ctx, status int, page views.CommentPage) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	viewer := site.Actor(c)
	found, thread, err := p.site.Store.Comments.Comment(c.UserContext(), viewer, id)
	if err != nil {
		return err
	}
	if page.Comment, err = p.comment(thread, found); err != nil {
		return err
	}
	page.Page, page.Task = p.site.Page(c, fmt.Sprintf("Comment %d", id), "tasks"), site.TaskRef(thread.Task)
	if thread.Submission != nil {
		page.SubmissionID = thread.Submission.ID
	}
	moderates := thread.ModeratedBy(viewer)
	page.MayDelete = viewer.SignedIn() && found.UserID == viewer.ID
	page.MayReport = !moderates && viewer.May(accounts.ReportComment, accounts.Of{OwnerID: found.UserID})
	page.MayHide, page.MayShow = moderates && !page.Hidden, moderates && page.Hidden
	if moderates {
		if page.Reports, err = p.site.Store.Comments.Reports(c.UserContext(), viewer, id); err != nil {
			return err
		}
	}
	return p.site.Render(c, status, views.CommentOptions(page))
}

// Report asks for a look at a comment.
func (p *Comments) Report(c *fiber.Ctx) error {
	return p.act(c, "report", "reported", func(ctx context.Context, u accounts.User, id int64, why string) (comments.Thread, error) {
		return comments.Thread{}, p.site.Store.Comments.Report(ctx, u, id, why)
	})
}

// Hide takes a comment from others' sight.
func (p *Comments) Hide(c *fiber.Ctx) error {
	return p.act(c, "hide", "saved", p.site.Store.Comments.Hide)
}

// Show brings a hidden comment back.
func (p *Comments) Show(c *fiber.Ctx) error {
	return p.act(c, "show", "saved", p.site.Store.Comments.Show)
}

// Dismiss closes the reports of a comment that is fine.
func (p *Comments) Dismiss(c *fiber.Ctx) error {
	return p.act(c, "dismiss", "saved", p.site.Store.Comments.Dismiss)
}

// act does something to the comment in the address for the reason in the form. A refusal comes back with the form.
func (p *Comments) act(c *fiber.Ctx, name, done string, do func(context.Context, accounts.User, int64, string) (comments.Thread, error)) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	why := c.FormValue("reason")
	_, err = do(c.UserContext(), site.Actor(c), id, why)
	switch kind := db.KindOf(err); {
	case err == nil:
		return site.Redirect(c, views.CommentURL(id)+templ.SafeURL("?done="+done))
	case kind != db.Invalid && kind != db.Conflict && kind != db.TooMany:
		return err
	}
	refused := site.FailureOf(err)
	return p.showOne(c, refused.Status, views.CommentPage{Problem: refused.Message, Act: name, Typed: why})
}

// Delete removes one's own comment.
func (p *Comments) Delete(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	thread, err := p.site.Store.Comments.Remove(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	return site.Redirect(c, listURL(thread)+"?done=comment-gone")
}
