package web

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

// user shows a person to everybody.
func (p pages) user(c *fiber.Ctx) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	user, err := p.store.User(c.UserContext(), id)
	if err != nil {
		return err
	}
	page := views.UserPage{
		Page: p.page(c, user.Name, ""), Person: personOf(user.ID, user.Name), Role: string(user.Role), Since: user.CreatedAt,
		Blocked: user.BlockedAt != nil, MayManage: actor(c).IsAdmin() && actor(c).ID != user.ID,
	}
	filter := models.SubmissionFilter{UserID: user.ID, Before: int64(c.QueryInt("before")), Limit: accountSubmissions}
	if page.Submissions, err = p.submissionRows(c.UserContext(), actor(c), filter); err != nil {
		return err
	}
	if n := len(page.Submissions); n == accountSubmissions {
		page.Older = page.Submissions[n-1].ID
	}
	if page.Places, err = p.places(c.UserContext(), actor(c), user); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.User(page))
}

// places are the person's entries on the current boards that the viewer may see.
func (p pages) places(ctx context.Context, viewer, user models.User) ([]views.PlaceRow, error) {
	list, err := p.store.Tasks(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var rows []views.PlaceRow
	for _, task := range list {
		for _, device := range task.Devices {
			st, err := p.store.Place(ctx, task.VersionID, device, user.ID)
			if models.KindOf(err) == models.NotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			rows = append(rows, views.PlaceRow{Task: taskRef(task), Device: device, Rank: st.Rank, ScoreNS: st.ScoreNS, ID: st.SubmissionID})
		}
	}
	return rows, nil
}

// userRole lets an admin change what somebody may do.
func (p pages) userRole(c *fiber.Ctx) error {
	return p.manage(c, func(ctx context.Context, admin models.User, id int64) error {
		return p.store.SetRole(ctx, admin, id, models.Role(c.FormValue("role")))
	})
}

// userBlock lets an admin shut somebody out, or in again.
func (p pages) userBlock(c *fiber.Ctx) error {
	return p.manage(c, func(ctx context.Context, admin models.User, id int64) error {
		return p.store.SetBlocked(ctx, admin, id, c.FormValue("blocked") == "1")
	})
}

func (p pages) manage(c *fiber.Ctx, change func(ctx context.Context, admin models.User, id int64) error) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	if err := change(c.UserContext(), actor(c), id); err != nil {
		return err
	}
	return redirect(c, views.UserURL(id)+"?done=saved")
}
