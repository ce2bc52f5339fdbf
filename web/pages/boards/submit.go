package boards

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// TaskSubmit handles the submission form on a task's page. If it refuses the submission, it shows the form again with
// the reason.
func (p *Boards) TaskSubmit(c *fiber.Ctx) error {
	user := site.Actor(c)
	in, err := p.runs.ReadForm(c)
	if err != nil {
		return p.refuseSubmission(c, in, err)
	}
	sub, _, err := p.runs.Submit(c.UserContext(), user, in)
	if err != nil {
		return p.refuseSubmission(c, in, err)
	}
	return site.Redirect(c, views.SubmissionURL(sub.ID))
}

// refuseSubmission shows the submission form again with the input and the reason. If the viewer may not see
// the task, it returns only the reason.
func (p *Boards) refuseSubmission(c *fiber.Ctx, in submissions.NewSubmission, why error) error {
	refused := site.FailureFromError(why)
	if refused.Status == fiber.StatusInternalServerError {
		return why
	}
	if _, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), in.TaskSlug); err != nil {
		return why
	}
	if refused.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	return p.showTask(c, in.TaskSlug, refused.Status, runs.RefusedSubmitForm(in, refused.Message))
}
