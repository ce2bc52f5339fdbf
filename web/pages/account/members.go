package account

import (
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/catalog"
	"warpboard/models/membership"
	"warpboard/views"
	"warpboard/web/site"
)

const membersPerPage = 100 // on one page

// Members shows the invite codes and the members of a task.
func (p *Account) Members(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	return p.showMembers(c, task, fiber.StatusOK, "", "")
}

// editableTask returns the task of the path, if the viewer may edit it.
func (p *Account) editableTask(c *fiber.Ctx) (catalog.Task, error) {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err == nil && !task.EditableBy(site.Actor(c)) {
		err = site.Forbidden("edit", "Only the task's owner and admins may see its members.")
	}
	return task, err
}

// showMembers renders the page of members, with the invite code that was just created, or with the reason why creating
// one was refused.
func (p *Account) showMembers(c *fiber.Ctx, task catalog.Task, status int, code, problem string) error {
	number := site.PageNumber(c, "page")
	page := views.MembersPage{Page: p.site.Page(c, "Members of "+task.Title, "tasks"), Task: site.TaskLink(task), Visibility: task.Visibility,
		Problem: problem, Now: p.site.Now(), Number: number}
	if code != "" {
		page.NewLink = p.site.Settings.BaseURL + views.JoinPath + "/" + code
	}
	var err error
	if page.Invites, err = p.site.Store.Members.Invites(c.UserContext(), task.ID); err != nil {
		return err
	}
	if page.Members, page.More, err = p.site.Store.Members.List(c.UserContext(), task.ID, (number-1)*membersPerPage, membersPerPage); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, status, views.Members(page))
}

// InviteCreate creates an invite code and shows its link. Only this response contains the link.
func (p *Account) InviteCreate(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	in, err := readInvite(c)
	var code string
	if err == nil {
		code, _, err = p.site.Store.Members.CreateInvite(c.UserContext(), site.Actor(c), task.ID, in)
	}
	if why := site.FailureFromError(err); err != nil && why.Status < fiber.StatusInternalServerError {
		return p.showMembers(c, task, why.Status, "", why.Message)
	}
	if err != nil {
		return err
	}
	return p.showMembers(c, task, fiber.StatusOK, code, "")
}

// readInvite reads the form of an invite code. An empty field means no limit.
func readInvite(c *fiber.Ctx) (in membership.NewInvite, err error) {
	numbers := map[string]int{"most": 0, "days": 0}
	for name := range numbers {
		if text := c.FormValue(name); text != "" {
			if numbers[name], err = strconv.Atoi(text); err != nil || numbers[name] < 1 {
				return in, site.Invalid(name, "%q is not a whole number from 1 on. Leave the field empty for no limit.", text)
			}
		}
	}
	return membership.NewInvite{
		Note:      c.FormValue("note"),
		MaxPeople: numbers["most"],
		Lifetime:  time.Duration(min(numbers["days"], 1000)) * 24 * time.Hour,
	}, nil
}

// InviteRevoke revokes an invite code.
func (p *Account) InviteRevoke(c *fiber.Ctx) error {
	task, id, err := p.editableTaskAndID(c)
	if err == nil {
		err = p.site.Store.Members.RevokeInvite(c.UserContext(), site.Actor(c), task.ID, id)
	}
	return p.redirectToMembers(c, task, "code-gone", err)
}

// MemberRemove ends a person's membership of a task.
func (p *Account) MemberRemove(c *fiber.Ctx) error {
	task, id, err := p.editableTaskAndID(c)
	if err == nil {
		err = p.site.Store.Members.Remove(c.UserContext(), site.Actor(c), task.ID, id)
	}
	return p.redirectToMembers(c, task, "member-gone", err)
}

// editableTaskAndID returns the task of the path, if the viewer may edit it, and the ID in the path, of an invite code
// or a person.
func (p *Account) editableTaskAndID(c *fiber.Ctx) (task catalog.Task, id int64, err error) {
	if task, err = p.editableTask(c); err == nil {
		id, err = site.IDParam(c, "id")
	}
	return task, id, err
}

func (p *Account) redirectToMembers(c *fiber.Ctx, task catalog.Task, what string, err error) error {
	if err != nil {
		return err
	}
	return site.Redirect(c, views.TaskPartURL(task.Slug, "members")+templ.SafeURL("?done="+what))
}
