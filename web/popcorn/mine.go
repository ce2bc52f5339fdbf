package popcorn

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const (
	defaultListLength = 50 // default length of a list
	maxListLength     = 100
)

// ListSubmissions lists the sender's submissions, newest first.
func (p *Popcorn) ListSubmissions(c *fiber.Ctx) error {
	user := site.Actor(c)
	filter := submissions.SubmissionFilter{
		UserID: user.ID,
		Offset: boundedNumber(c, "offset", 0, maxOffset),
		Limit:  max(boundedNumber(c, "limit", defaultListLength, maxListLength), 1),
	}
	if name := c.Query("leaderboard"); name != "" {
		task, err := p.runs.VisibleTask(c.UserContext(), user, db.Slug(name))
		if err != nil {
			return err
		}
		filter.TaskID = task.ID
	}
	list, err := p.site.Store.Submissions.Submissions(c.UserContext(), user, filter)
	if err != nil {
		return err
	}
	answer := make([]listedSubmission, len(list))
	for i, sub := range list {
		answer[i] = listedSubmissionOf(sub)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

func listedSubmissionOf(sub submissions.SubmissionSummary) listedSubmission {
	s := listedSubmission{
		ID: sub.ID, LeaderboardName: sub.TaskSlug, FileName: sub.FileName, SubmissionTime: sub.CreatedAt,
		Done: haveAllEnded(sub.Runs), Runs: []runSummary{},
	}
	for _, run := range sub.Runs {
		s.Runs = append(s.Runs, runSummary{run.Device, optionalSeconds(run.ScoreNS)})
	}
	return s
}

// ShowSubmission responds with one of the sender's submissions.
func (p *Popcorn) ShowSubmission(c *fiber.Ctx) error {
	seen, err := p.ownSubmission(c)
	if err != nil {
		return err
	}
	answer, err := p.readSubmission(c.UserContext(), seen)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

// DeleteSubmission deletes one of the sender's submissions.
func (p *Popcorn) DeleteSubmission(c *fiber.Ctx) error {
	seen, err := p.ownSubmission(c)
	if err != nil {
		return err
	}
	if err := p.runs.Delete(c.UserContext(), site.Actor(c), seen.Submission.ID, ""); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"status": "ok"})
}

// ownSubmission reads the submission of the path. It returns a not-found error for other people's submissions.
func (p *Popcorn) ownSubmission(c *fiber.Ctx) (seen runs.SubmissionAccess, err error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id <= 0 {
		return seen, db.Errorf(db.NotFound, "%q is not the number of a submission.", c.Params("id"))
	}
	seen, err = p.runs.SubmissionByID(c.UserContext(), site.Actor(c), id)
	if err == nil && seen.Submission.UserID != site.Actor(c).ID {
		err = db.Errorf(db.NotFound, "You have no submission %d.", id)
	}
	return seen, err
}

// readSubmission reads a submission with its runs, as its owner may see it.
func (p *Popcorn) readSubmission(ctx context.Context, seen runs.SubmissionAccess) (submissionDetails, error) {
	sub := seen.Submission
	answer := submissionDetails{ID: sub.ID, LeaderboardID: seen.Task.ID, LeaderboardName: seen.Task.Slug, FileName: sub.FileName,
		UserID: strconv.FormatInt(sub.UserID, 10), SubmissionTime: sub.CreatedAt, Runs: []leaderboardRow{}}
	source, err := p.site.Store.Submissions.Source(ctx, sub)
	if err != nil {
		return answer, err
	}
	all, err := p.runsWithResults(ctx, seen)
	if err != nil {
		return answer, err
	}
	answer.Code, answer.Done, answer.Job = string(source.Source), haveAllEnded(runsOf(all)),
		p.jobStatusOf(sub, runsOf(all))
	for _, e := range all {
		answer.Runs = append(answer.Runs, e.stageRows()...)
		if e.State == work.StateQueued && answer.Queue == nil {
			answer.Queue = runnerQueueOf(e.deviceQueue, e.Device)
		}
	}
	return answer, nil
}

// runWithResults is a run with the stages of its last attempt so far, and its profile.
type runWithResults struct {
	work.Run
	stages      attemptStages
	profile     runs.Profile
	deviceQueue []client.Device // queues of the run's device, if the run waits
}

// runsWithResults reads the requested runs with their results so far.
func (p *Popcorn) runsWithResults(ctx context.Context, seen runs.SubmissionAccess) ([]runWithResults, error) {
	read, err := p.runs.ReadSubmission(ctx, seen)
	all := make([]runWithResults, len(read.Runs))
	for i, run := range read.Runs {
		all[i] = runWithResults{Run: run.Run, stages: run.Stages, profile: run.Profile}
		if run.QueuedDevice != nil {
			all[i].deviceQueue = []client.Device{*run.QueuedDevice}
		}
	}
	return all, err
}

func runsOf(all []runWithResults) []work.Run {
	list := make([]work.Run, len(all))
	for i, e := range all {
		list[i] = e.Run
	}
	return list
}

func haveAllEnded(list []work.Run) bool {
	for _, run := range list {
		if !run.State.IsFinal() {
			return false
		}
	}
	return true
}
