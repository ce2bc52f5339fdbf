package web

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/views/format"
)

// submission shows a submission: its runs as they are stored, and the address of the stream that
// begins where this page ends.
func (p pages) submission(c *fiber.Ctx) error {
	seen, err := p.seenSubmission(c)
	if err != nil {
		return err
	}
	page, err := p.submissionPage(c, seen)
	if err != nil {
		return err
	}
	if page.Source = c.Query("tab") == "source"; page.Source {
		err = p.addSource(c.UserContext(), seen, &page)
	} else {
		err = p.addRuns(c, seen, &page)
	}
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.Submission(page))
}

func (p pages) submissionPage(c *fiber.Ctx, seen seenSubmission) (page views.SubmissionPage, err error) {
	owner, err := p.store.User(c.UserContext(), seen.sub.UserID)
	if err != nil {
		return page, err
	}
	version, err := p.store.Version(c.UserContext(), seen.sub.VersionID)
	if err != nil {
		return page, err
	}
	return views.SubmissionPage{
		Page: p.page(c, fmt.Sprintf("Submission %d", seen.sub.ID), "tasks"), ID: seen.sub.ID, Task: taskRef(seen.task),
		TaskVersion: version.Number, NewerVersion: version.ID != seen.task.VersionID,
		Owner: personOf(owner.ID, owner.Name), Mode: string(seen.sub.Mode), Created: seen.sub.CreatedAt,
	}, nil
}

// addRuns asks for the last event before it reads the runs: what happens in between is told again,
// and nothing is left out.
func (p pages) addRuns(c *fiber.Ctx, seen seenSubmission, page *views.SubmissionPage) error {
	last, err := p.store.LastEventID(c.UserContext(), seen.sub.ID)
	if err != nil {
		return err
	}
	runs, err := p.store.Runs(c.UserContext(), seen.sub.ID)
	if err != nil {
		return err
	}
	for _, run := range runs {
		card, err := p.runCard(c.UserContext(), seen.task, run, seen.source)
		if err != nil {
			return err
		}
		page.Runs = append(page.Runs, card)
		page.SelfMeasured = page.SelfMeasured || card.SelfMeasured
		page.CanCancel = page.CanCancel || !card.Over() && (actor(c).IsAdmin() || actor(c).ID == seen.sub.UserID)
		page.Charts = page.Charts || card.Over()
	}
	if page.Live, err = p.store.Unfinished(c.UserContext(), seen.sub.ID, true); err != nil {
		return err
	}
	if page.Live {
		page.EventsURL = fmt.Sprintf("/submissions/%d/events?after=%d", seen.sub.ID, last)
		page.Charts = true
	}
	return nil
}

func (p pages) addSource(ctx context.Context, seen seenSubmission, page *views.SubmissionPage) error {
	if !seen.source {
		page.SourceHidden = sourceHidden(seen.task)
		return nil
	}
	text, err := p.store.Source(ctx, seen.sub)
	if err != nil {
		return err
	}
	file, err := p.code.Source(seen.sub.FileName, "", text)
	if err != nil {
		return err
	}
	if file.Remarks, err = p.remarks(ctx, seen.sub); err != nil {
		return err
	}
	page.File = &file
	return nil
}

func sourceHidden(task models.Task) string {
	if task.Deadline == nil {
		return "the task has no deadline, so only its author and admins read this source"
	}
	return "the source can be read after the task's deadline"
}

// submissionSource downloads the submitted file.
func (p pages) submissionSource(c *fiber.Ctx) error {
	seen, err := p.seenSubmission(c)
	if err != nil {
		return err
	}
	if !seen.source {
		return forbidden("source", format.Capital(sourceHidden(seen.task)))
	}
	text, err := p.store.Source(c.UserContext(), seen.sub)
	if err != nil {
		return err
	}
	return attachment(c, seen.sub.FileName, text)
}

// run answers with one run's card, as this reader may see it.
func (p pages) run(c *fiber.Ctx) error {
	seen, err := p.seenSubmission(c)
	if err != nil {
		return err
	}
	id, err := idParam(c, "run")
	if err != nil {
		return err
	}
	run, err := p.store.Run(c.UserContext(), id)
	if err != nil {
		return err
	}
	if run.SubmissionID != seen.sub.ID {
		return notFound(c)
	}
	card, err := p.runCard(c.UserContext(), seen.task, run, seen.source)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.Run(card))
}

func (p pages) submissionCancel(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	seen, err := p.seenSubmission(c)
	if err != nil {
		return err
	}
	if err := p.cancel(c.UserContext(), actor(c), seen.sub.ID); err != nil {
		return err
	}
	return redirect(c, views.SubmissionURL(seen.sub.ID)+"?done=cancelled")
}
