package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
)

// seenSubmission is a submission with its task, and what the one who asks may see of it.
type seenSubmission struct {
	sub    models.Submission
	task   models.Task
	source bool // the source, and what compilers and programs print, which may quote it
}

// seenSubmission reads the submission in the address, if the one who asks may know of it.
func (s *Runs) seenSubmission(c *fiber.Ctx) (seen seenSubmission, err error) {
	id, err := idParam(c, "id")
	if err != nil {
		return seen, err
	}
	return s.seeSubmission(c, id)
}

func (s *Runs) seeSubmission(c *fiber.Ctx, id int64) (seen seenSubmission, err error) {
	if seen.sub, err = s.Store.Submission(c.UserContext(), id); err != nil {
		return seen, err
	}
	if seen.task, err = s.Store.TaskByID(c.UserContext(), seen.sub.TaskID); err != nil {
		return seen, err
	}
	if !seen.task.VisibleTo(actor(c)) && seen.sub.UserID != actor(c).ID {
		return seen, models.Errorf(models.NotFound, "There is no submission %d.", id)
	}
	seen.source = models.MaySeeSource(actor(c), seen.sub, seen.task, s.Now())
	return seen, nil
}

func sourceHidden(task models.Task) string {
	if task.Deadline == nil {
		return "the task has no deadline, so only its author and admins read this source"
	}
	return "the source can be read after the task's deadline"
}
