package operation

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

const peopleRowsPerPage = 50 // on one page

// People lists all accounts.
func (p *Operation) People(c *fiber.Ctx) error {
	search, number := strings.TrimSpace(c.Query("q")), site.PageNumber(c, "page")
	list, err := p.site.Store.Accounts.Users(c.UserContext(), site.Actor(c), search, (number-1)*peopleRowsPerPage, peopleRowsPerPage+1)
	if err != nil {
		return err
	}
	page := views.PeoplePage{Page: p.site.Page(c, "People", "moderation"), SearchText: search, PageNumber: number,
		Rows: list}
	if page.HasMore = len(list) > peopleRowsPerPage; page.HasMore {
		page.Rows = list[:peopleRowsPerPage]
	}
	return p.site.Render(c, fiber.StatusOK, views.People(page))
}

// UserRename changes the name of a person. Only the person and admins may do that.
func (p *Operation) UserRename(c *fiber.Ctx) error {
	user := site.Actor(c)
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	changes, err := p.site.Store.RenameUser(c.UserContext(), user, id, c.FormValue("name"))
	if err != nil {
		return err
	}
	p.announceBoards(changes)
	if id == user.ID {
		return site.Redirect(c, "/me?done=saved")
	}
	return site.Redirect(c, views.UserURL(id)+"?done=saved")
}

// SubmissionDelete deletes a submission with its runs and results.
func (p *Operation) SubmissionDelete(c *fiber.Ctx) error {
	user := site.Actor(c)
	seen, err := p.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	if err := p.runs.Delete(c.UserContext(), user, seen.Submission.ID, c.FormValue("reason")); err != nil {
		return err
	}
	return site.Redirect(c, views.UserURL(seen.Submission.UserID)+"?done=removed")
}

const auditRowsPerPage = 50 // on one page

// AuditLog shows the audit log: actions with person, time, and reason.
func (p *Operation) AuditLog(c *fiber.Ctx) error {
	search := strings.TrimSpace(c.Query("q"))
	list, err := p.site.Store.Accounts.AuditLog(c.UserContext(), site.Actor(c), search, int64(c.QueryInt("before")), auditRowsPerPage+1)
	if err != nil {
		return err
	}
	page := views.AuditPage{Page: p.site.Page(c, "Audit log", "moderation"), Search: search, Rows: list}
	if len(list) > auditRowsPerPage {
		page.Rows, page.OlderThanID = list[:auditRowsPerPage], list[auditRowsPerPage-1].ID
	}
	return p.site.Render(c, fiber.StatusOK, views.Audit(page))
}
