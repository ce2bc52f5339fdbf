package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/comments"
	"warpboard/views"
	"warpboard/web/site"
)

const commentPageSize = 50

// Comments lists the comments on the task or the submission of the path.
func (a *API) Comments(c *fiber.Ctx) error {
	thread, _, err := a.runs.CommentThread(c)
	if err != nil {
		return err
	}
	list, err := a.site.Store.Comments.List(c.UserContext(), site.Actor(c), thread, int64(c.QueryInt("after")), commentPageSize)
	if err != nil {
		return err
	}
	answer := client.CommentList{Comments: make([]client.Comment, len(list))}
	for i, one := range list {
		answer.Comments[i] = a.commentAnswer(one)
	}
	if len(list) == commentPageSize {
		answer.NextAfter = list[len(list)-1].ID
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

func (a *API) commentAnswer(one comments.CommentRow) client.Comment {
	answer := client.Comment{ID: one.ID, URL: a.site.Settings.BaseURL + string(views.CommentURL(one.ID)), User: client.User{ID: one.UserID, Name: one.UserName},
		Writeup: one.IsWriteup, Text: one.Body, CreatedAt: one.CreatedAt, EditedAt: one.EditedAt}
	if one.HiddenAt != nil {
		answer.HiddenReason = one.HiddenReason
	}
	return answer
}

// AddComment writes a comment, or the write-up.
func (a *API) AddComment(c *fiber.Ctx) error {
	var in client.NewComment
	if err := readJSON(c, &in); err != nil {
		return err
	}
	thread, _, err := a.runs.CommentThread(c)
	if err != nil {
		return err
	}
	add, user := a.site.Store.Comments.Add, site.Actor(c)
	if in.Writeup {
		add = a.site.Store.Comments.SetWriteup
	}
	made, err := add(c.UserContext(), user, thread, in.Text)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(a.commentAnswer(comments.CommentRow{Comment: made, UserName: user.Name}))
}

// DeleteComment deletes one's own comment.
func (a *API) DeleteComment(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err == nil {
		_, err = a.site.Store.Comments.Remove(c.UserContext(), site.Actor(c), id)
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// ReportComment asks moderators to review a comment.
func (a *API) ReportComment(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	var in client.NewReport
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if err := a.site.Store.Comments.Report(c.UserContext(), site.Actor(c), id, in.Reason); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
