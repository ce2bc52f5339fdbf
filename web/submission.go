package web

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/client"
)

// seenSubmission is a submission with its task, and what the one who asks may see of it.
type seenSubmission struct {
	sub    models.Submission
	task   models.Task
	source bool // the source, and what compilers and programs print, which may quote it
}

// seenSubmission reads the submission in the address, if the one who asks may know of it.
func (s *Server) seenSubmission(c *fiber.Ctx) (seen seenSubmission, err error) {
	id, err := idParam(c, "id")
	if err != nil {
		return seen, err
	}
	return s.seeSubmission(c, id)
}

func (s *Server) seeSubmission(c *fiber.Ctx, id int64) (seen seenSubmission, err error) {
	if seen.sub, err = s.store.Submission(c.UserContext(), id); err != nil {
		return seen, err
	}
	if seen.task, err = s.store.TaskByID(c.UserContext(), seen.sub.TaskID); err != nil {
		return seen, err
	}
	if !seen.task.VisibleTo(actor(c)) && seen.sub.UserID != actor(c).ID {
		return seen, models.Errorf(models.NotFound, "There is no submission %d.", id)
	}
	seen.source = models.MaySeeSource(actor(c), seen.sub, seen.task, s.now())
	return seen, nil
}

// submissionAnswer reads all that is known of a submission.
func (s *Server) submissionAnswer(ctx context.Context, id int64, source bool) (client.Submission, error) {
	sub, err := s.store.Submission(ctx, id)
	if err != nil {
		return client.Submission{}, err
	}
	task, err := s.store.TaskByID(ctx, sub.TaskID)
	if err != nil {
		return client.Submission{}, err
	}
	version, err := s.store.Version(ctx, sub.VersionID)
	if err != nil {
		return client.Submission{}, err
	}
	user, err := s.store.User(ctx, sub.UserID)
	if err != nil {
		return client.Submission{}, err
	}
	answer := client.Submission{
		ID: sub.ID, URL: fmt.Sprintf("%s/submissions/%d", s.cfg.BaseURL, sub.ID),
		Task: task.Slug, Version: version.Number, Mode: sub.Mode, FileName: sub.FileName,
		User: client.User{ID: user.ID, Name: user.Name}, Created: sub.CreatedAt,
	}
	answer.Runs, answer.Ended, err = s.runAnswers(ctx, id, source)
	return answer, err
}

// runAnswers reads a submission's runs, and tells whether all have ended.
func (s *Server) runAnswers(ctx context.Context, id int64, source bool) (answers []client.Run, ended bool, err error) {
	runs, err := s.store.Runs(ctx, id)
	if err != nil {
		return nil, false, err
	}
	places, err := s.store.Places(ctx, id)
	if err != nil {
		return nil, false, err
	}
	ended = true
	for _, run := range runs {
		stages, err := s.store.Stages(ctx, run.ID)
		if err != nil {
			return nil, false, err
		}
		answer := runAnswer(run, stages, places[run.ID], source)
		if answer.Profile, err = s.profileAddress(ctx, run); err != nil {
			return nil, false, err
		}
		answers = append(answers, answer)
		ended = ended && run.State.Final()
	}
	return answers, ended, nil
}
