package submissions

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

// Comments shows the comments on the task or the submission of the path.
func (p *Submissions) Comments(c *fiber.Ctx) error {
	return p.showComments(c, fiber.StatusOK, views.CommentsPage{})
}

// showComments renders the page of comments. page has the input of a refused comment.
func (p *Submissions) showComments(c *fiber.Ctx, status int, page views.CommentsPage) error {
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
	page.Page, page.Task, page.Author = p.site.Page(c, "Comments", "tasks"), site.TaskLink(thread.Task), author
	page.First, page.Moderates, page.Locked, page.Count = after == 0, thread.ModeratedBy(viewer), thread.Locked(), thread.CommentCount()
	if thread.Submission != nil {
		page.SubmissionID = thread.Submission.ID
	}
	if len(list) > views.CommentRows {
		page.Newer = list[views.CommentRows-1].ID
		list = list[:views.CommentRows]
	}
	if err := p.fillComments(&page, thread, list); err != nil {
		return err
	}
	switch err := p.site.Store.Comments.WriteRefusal(ctx, viewer, thread); db.KindOf(err) {
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

func (p *Submissions) fillComments(page *views.CommentsPage, thread comments.Thread, list []comments.CommentRow) error {
	for _, one := range list {
		shown, err := p.shownComment(thread, one)
		switch {
		case err != nil:
			return err
		case one.IsWriteup:
			page.Writeup = &shown
		default:
			page.List = append(page.List, shown)
		}
	}
	return nil
}

// shownComment converts a comment for its page.
func (p *Submissions) shownComment(t comments.Thread, one comments.CommentRow) (shown views.Comment, err error) {
	shown = views.Comment{ID: one.ID, Author: site.PersonLink(one.UserID, one.UserName), IsAuthor: one.UserID == t.AuthorID(), Created: one.CreatedAt,
		Source: one.Body, Hidden: one.HiddenAt != nil, Why: one.HiddenReason}
	if one.EditedAt != nil {
		shown.Edited = *one.EditedAt
	}
	lines := ""
	if t.Submission != nil {
		lines = string(views.SourceURL(t.Submission.ID))
	}
	shown.HTML, err = p.highlighter.RenderComment(one.Body, lines)
	return shown, err
}

// CommentWrite adds a comment.
func (p *Submissions) CommentWrite(c *fiber.Ctx) error {
	return p.writeComment(c, "comment", p.site.Store.Comments.Add)
}

// WriteUpSave stores the write-up of a submission's author.
func (p *Submissions) WriteUpSave(c *fiber.Ctx) error {
	return p.writeComment(c, "writeup", p.site.Store.Comments.SetWriteup)
}

func (p *Submissions) writeComment(
	c *fiber.Ctx, act string,
	do func(context.Context, accounts.User, comments.Thread, string) (comments.Comment, error),
) error {
	thread, _, err := p.runs.CommentThread(c)
	if err != nil {
		return err
	}
	text := c.FormValue("text")
	made, err := do(c.UserContext(), site.Actor(c), thread, text)
	switch kind := db.KindOf(err); {
	case err == nil:
		return site.Redirect(c, views.CommentPlace(commentListURL(thread), made.ID, thread.CommentCount()))
	case kind != db.Invalid && kind != db.Conflict && kind != db.TooMany:
		return err
	}
	refused := site.FailureFromError(err)
	return p.showComments(c, refused.Status, views.CommentsPage{Problem: refused.Message, Act: act, Typed: text})
}

// CommentsLock closes a thread to everyone except moderators, or opens it again.
func (p *Submissions) CommentsLock(c *fiber.Ctx) error {
	thread, _, err := p.runs.CommentThread(c)
	if err == nil {
		err = p.site.Store.Comments.LockThread(c.UserContext(), site.Actor(c), thread, c.FormValue("locked") != "")
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, commentListURL(thread)+"?done=saved")
}

func commentListURL(t comments.Thread) templ.SafeURL {
	if t.Submission != nil {
		return views.CommentsURL("", t.Submission.ID)
	}
	return views.CommentsURL(t.Task.Slug, 0)
}

// Comment shows a comment with the actions that the viewer may perform.
func (p *Submissions) Comment(c *fiber.Ctx) error {
	return p.showComment(c, fiber.StatusOK, views.CommentPage{})
}

func (p *Submissions) showComment(c *fiber.Ctx, status int, page views.CommentPage) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	viewer := site.Actor(c)
	found, thread, err := p.site.Store.Comments.Comment(c.UserContext(), viewer, id)
	if err != nil {
		return err
	}
	if page.Comment, err = p.shownComment(thread, found); err != nil {
		return err
	}
	page.Page, page.Task = p.site.Page(c, fmt.Sprintf("Comment %d", id), "tasks"), site.TaskLink(thread.Task)
	if thread.Submission != nil {
		page.SubmissionID = thread.Submission.ID
	}
	moderates := thread.ModeratedBy(viewer)
	page.MayDelete = viewer.SignedIn() && found.UserID == viewer.ID
	page.MayReport = !moderates && viewer.CanPerform(accounts.ReportComment, accounts.OwnerIDs{OwnerID: found.UserID})
	page.MayHide, page.MayShow = moderates && !page.Hidden, moderates && page.Hidden
	if moderates {
		if page.Reports, err = p.site.Store.Comments.Reports(c.UserContext(), viewer, id); err != nil {
			return err
		}
	}
	return p.site.Render(c, status, views.CommentOptions(page))
}

// CommentReport reports a comment to moderators.
func (p *Submissions) CommentReport(c *fiber.Ctx) error {
	return p.actOnComment(c, "report", "reported", func(ctx context.Context, u accounts.User, id int64, why string) (comments.Thread, error) {
		return comments.Thread{}, p.site.Store.Comments.Report(ctx, u, id, why)
	})
}

// CommentHide hides a comment from everyone except its author and moderators.
func (p *Submissions) CommentHide(c *fiber.Ctx) error {
	return p.actOnComment(c, "hide", "saved", p.site.Store.Comments.Hide)
}

// CommentUnhide makes a hidden comment visible again.
func (p *Submissions) CommentUnhide(c *fiber.Ctx) error {
	return p.actOnComment(c, "show", "saved", p.site.Store.Comments.Unhide)
}

// CommentDismiss closes the reports of a comment without hiding it.
func (p *Submissions) CommentDismiss(c *fiber.Ctx) error {
	return p.actOnComment(c, "dismiss", "saved", p.site.Store.Comments.DismissReports)
}

// actOnComment calls do for the comment of the path with the reason in the form, and redirects with the notice done. It
// shows an error in the form.
func (p *Submissions) actOnComment(
	c *fiber.Ctx, name, done string, do func(context.Context, accounts.User, int64, string) (comments.Thread, error),
) error {
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
	refused := site.FailureFromError(err)
	return p.showComment(c, refused.Status, views.CommentPage{Problem: refused.Message, Act: name, Typed: why})
}

// CommentDelete deletes the viewer's own comment.
func (p *Submissions) CommentDelete(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	thread, err := p.site.Store.Comments.Remove(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	return site.Redirect(c, commentListURL(thread)+"?done=comment-gone")
}
