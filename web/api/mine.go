package api

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/submissions"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const (
	submissionPageSize = 50 // submissions on one page of a list, unless the request asks for fewer
	// maxRunsWait limits the wait for the end of a submission. It must be shorter than site.RequestTimeout.
	maxRunsWait = 25 * time.Second
)

// ListSubmissions responds with the sender's own submissions, newest first. "next" is the cursor of the next page.
func (a *API) ListSubmissions(c *fiber.Ctx) error {
	user := site.Actor(c)
	filter := submissions.SubmissionFilter{
		UserID:   user.ID,
		BeforeID: int64(c.QueryInt("before")),
		Limit:    submissionPageSize,
	}
	if asked := c.QueryInt("limit"); asked > 0 {
		filter.Limit = min(asked, submissionPageSize)
	}
	if slug := c.Query("task"); slug != "" {
		task, err := a.runs.VisibleTask(c.UserContext(), user, slug)
		if err != nil {
			return err
		}
		filter.TaskID = task.ID
	}
	list, err := a.site.Store.Submissions.Submissions(c.UserContext(), user, filter)
	if err != nil {
		return err
	}
	answer := client.SubmissionList{Submissions: make([]client.Submission, len(list))}
	for i, one := range list {
		answer.Submissions[i] = a.submissionSummary(one)
	}
	if len(list) == filter.Limit {
		answer.NextBefore = list[len(list)-1].ID
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

// submissionSummary converts a submission for a list: its runs have no stages.
func (a *API) submissionSummary(s submissions.SubmissionSummary) client.Submission {
	answer := client.Submission{
		ID: s.ID, URL: fmt.Sprintf("%s/submissions/%d", a.site.Settings.BaseURL, s.ID), Task: s.TaskSlug, Version: s.VersionNumber, Mode: s.Mode,
		FileName: s.FileName, User: client.User{ID: s.UserID, Name: s.UserName}, CreatedAt: s.CreatedAt, Ended: true, Runs: []client.Run{},
	}
	for _, run := range s.Runs {
		answer.Runs = append(answer.Runs, runAnswer(run))
		answer.Ended = answer.Ended && run.State.IsFinal()
	}
	return answer
}

// SubmissionSource responds with the submitted files.
func (a *API) SubmissionSource(c *fiber.Ctx) error {
	seen, err := a.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	if !seen.MaySeeSource {
		return site.Forbidden("source", format.UpperFirst(runs.SourceHiddenReason(seen.Task))+".")
	}
	submitted, err := a.site.Store.Submissions.Source(c.UserContext(), seen.Submission)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(client.SourceFile{
		Name:  seen.Submission.FileName,
		Text:  string(submitted.Source),
		Files: submitted.FileTexts(),
	})
}

// waitForRuns returns when all runs of a submission have ended, after wait, or when the caller has disconnected. If too
// many requests wait, it returns at once.
func (a *API) waitForRuns(c *fiber.Ctx, id int64, wait time.Duration) error {
	end, ok := a.site.TryTakeWaitPermit(c)
	if !ok {
		return nil
	}
	defer end()
	ctx, cancel := context.WithTimeout(a.site.StreamContext, min(wait, maxRunsWait))
	defer cancel()
	defer site.OnDisconnect(c, cancel)()
	err := a.site.Hub.AwaitAnnouncement(ctx, site.RunTopic(id), func() (ended bool, err error) {
		live, err := a.site.Store.Work.HasUnfinishedRuns(ctx, id, false)
		return !live, err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
