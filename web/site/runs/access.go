package runs

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/site"
)

// LoadSubmission is a submission with its task, and what the one who asks may see of it.
type Access struct {
	Sub          models.Submission
	Task         models.Task
	MaySeeSource bool // the source, and what compilers and programs print, which may quote it
}

// LoadSubmission reads the submission in the address, if the one who asks may know of it.
func (s *Runs) LoadSubmission(c *fiber.Ctx) (seen Access, err error) {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return seen, err
	}
	return s.SubmissionByID(c, id)
}

func (s *Runs) SubmissionByID(c *fiber.Ctx, id int64) (seen Access, err error) {
	if seen.Sub, err = s.Store.Submission(c.UserContext(), id); err != nil {
		return seen, err
	}
	if seen.Task, err = s.Store.TaskByID(c.UserContext(), seen.Sub.TaskID); err != nil {
		return seen, err
	}
	if !seen.Task.VisibleTo(site.Actor(c)) && seen.Sub.UserID != site.Actor(c).ID {
		return seen, models.Errorf(models.NotFound, "There is no submission %d.", id)
	}
	seen.MaySeeSource = models.MaySeeSource(site.Actor(c), seen.Sub, seen.Task, s.Now())
	return seen, nil
}

func SourceHidden(task models.Task) string {
	if task.Deadline == nil {
		return "the task has no deadline, so only its author and admins read this source"
	}
	return "the source can be read after the task's deadline"
}
