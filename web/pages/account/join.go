package account

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

// JoinForm shows the form for an invite code.
func (p *Account) JoinForm(c *fiber.Ctx) error {
	return p.site.Render(c, fiber.StatusOK, views.Join(p.joinPage(c, "")))
}

func (p *Account) joinPage(c *fiber.Ctx, code string) views.JoinPage {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return views.JoinPage{Page: p.site.Page(c, "Join a board", ""), Code: code}
}

// JoinPreview shows the tasks that the invite code in the path opens. It redirects people who can see all of them
// already.
func (p *Account) JoinPreview(c *fiber.Ctx) error {
	page := p.joinPage(c, c.Params("code"))
	offer, err := p.site.PreviewInvite(c, page.Code)
	switch {
	case err != nil:
		return p.showJoinRefusal(c, page, err)
	case offer.AllTasksVisible:
		return site.Redirect(c, views.TaskURL(offer.Task.Slug))
	}
	owner, err := p.site.Store.Accounts.User(c.UserContext(), offer.Task.OwnerID)
	if err != nil {
		return err
	}
	page.Title, page.Task, page.Owner = "Join "+offer.Task.Title, site.TaskLink(offer.Task), site.PersonLink(owner.ID, owner.Name)
	page.Others = offer.OtherTaskCount()
	return p.site.Render(c, fiber.StatusOK, views.Join(page))
}

// JoinTask makes the viewer a member with an invite code and redirects to its task.
func (p *Account) JoinTask(c *fiber.Ctx) error {
	code := strings.TrimSpace(c.FormValue("code"))
	code = code[strings.LastIndex(code, "/")+1:] // also accept a whole link, which ends with the code
	task, err := p.site.JoinTask(c, code)
	if err != nil {
		return p.showJoinRefusal(c, p.joinPage(c, code), err)
	}
	return site.Redirect(c, views.TaskURL(task.Slug)+"?done=joined")
}

// showJoinRefusal shows the form for another invite code, with the reason why this one was refused.
func (p *Account) showJoinRefusal(c *fiber.Ctx, page views.JoinPage, err error) error {
	why := site.FailureFromError(err)
	if why.Status >= fiber.StatusInternalServerError || why.RetryAfter > 0 {
		return err
	}
	page.Problem = why.Message
	return p.site.Render(c, why.Status, views.Join(page))
}

// LeaveTask ends the viewer's membership of a task.
func (p *Account) LeaveTask(c *fiber.Ctx) error {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err == nil {
		err = p.site.Store.Members.Leave(c.UserContext(), site.Actor(c), task)
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, "/tasks?done=left")
}
