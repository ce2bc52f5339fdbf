package remeasure

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
)

// taskOf reads the task in the address, if the viewer may have it judged again.
func (r *Remeasure) taskOf(c *fiber.Ctx) (catalog.Task, error) {
	task, err := r.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return task, err
	}
	return task, site.Actor(c).Check(accounts.Rejudge, accounts.Of{AuthorID: task.OwnerID})
}

// Rejudge shows what was measured again of a task, and what that would change.
func (r *Remeasure) Rejudge(c *fiber.Ctx) error {
	task, err := r.taskOf(c)
	if err != nil {
		return err
	}
	page, err := r.rejudgePage(c, task)
	if err != nil {
		return err
	}
	return r.site.Render(c, fiber.StatusOK, views.Rejudge(page))
}

func (r *Remeasure) rejudgePage(c *fiber.Ctx, task catalog.Task) (views.RejudgePage, error) {
	page := views.RejudgePage{Page: r.site.Page(c, "Rejudge "+task.Title, "tasks"), Task: site.TaskRef(task)}
	last, err := r.site.Store.Rejudges.Last(c.UserContext(), task.VersionID)
	if db.KindOf(err) == db.NotFound {
		return page, nil
	}
	if err != nil {
		return page, err
	}
	page.Reason, page.Began, page.Ended = last.Reason, last.CreatedAt, last.EndedAt != nil
	page.Applied, page.Cancelled = last.AppliedAt != nil, last.Cancelled
	rows, err := r.site.Store.Rejudges.Reruns(c.UserContext(), []int64{last.ID}, site.Actor(c))
	for _, x := range rows {
		if x.EndedAt == nil {
			page.Waiting++
		}
	}
	page.Boards = boardsOf(rows)
	return page, err
}

// Begin has the task's boards measured again.
func (r *Remeasure) Begin(c *fiber.Ctx) error {
	return r.act(c, "queued", func(ctx context.Context, actor accounts.User, task catalog.Task) error {
		_, err := r.site.Store.Rejudge(ctx, actor, task.ID, c.FormValue("reason"))
		r.site.Dispatcher.Wake()
		r.site.Hub.QueueChanged()
		return err
	})
}

// Apply lets the new numbers count.
func (r *Remeasure) Apply(c *fiber.Ctx) error {
	return r.act(c, "applied", func(ctx context.Context, actor accounts.User, task catalog.Task) error {
		changes, err := r.site.Store.ApplyRejudge(ctx, actor, task.ID)
		for _, b := range changes {
			r.site.Hub.BoardChanged(b.VersionID, b.Device, b.Change)
		}
		return err
	})
}

// Cancel ends it without effect.
func (r *Remeasure) Cancel(c *fiber.Ctx) error {
	return r.act(c, "cancelled", func(ctx context.Context, actor accounts.User, task catalog.Task) error {
		return r.site.Dispatcher.CancelRejudge(ctx, actor, task.ID)
	})
}

// act does something for the task in the address. A refusal comes back with the page.
func (r *Remeasure) act(c *fiber.Ctx, done string, do func(context.Context, accounts.User, catalog.Task) error) error {
	task, err := r.taskOf(c)
	if err != nil {
		return err
	}
	err = do(c.UserContext(), site.Actor(c), task)
	if err == nil {
		return c.Redirect(string(views.TaskPartURL(task.Slug, "rejudge"))+"?done="+done, fiber.StatusSeeOther)
	}
	if kind := db.KindOf(err); kind != db.Invalid && kind != db.Conflict {
		return err
	}
	page, pageErr := r.rejudgePage(c, task)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureOf(err)
	page.Problem, page.Typed = refused.Message, c.FormValue("reason")
	return r.site.Render(c, refused.Status, views.Rejudge(page))
}
