package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// CreateSubmission accepts a submission as JSON, or as a form with the source as "file". Additional files follow in the
// form under the same name.
func (a *API) CreateSubmission(c *fiber.Ctx) error {
	user := site.Actor(c)
	in, err := readSubmission(c)
	if err != nil {
		return err
	}
	in.RequestKey = c.Get(client.IdempotencyHeader)
	sub, _, err := a.runs.Submit(c.UserContext(), user, in)
	if err != nil {
		return err
	}
	c.Location(fmt.Sprintf("/api/v1/submissions/%d", sub.ID))
	seen, err := a.runs.SubmissionByID(c.UserContext(), user, sub.ID)
	if err != nil {
		return err
	}
	return a.answerSubmission(c, fiber.StatusCreated, seen)
}

// GetSubmission responds with a submission and its runs. With ?wait=SECONDS it waits for the end of all runs, at most
// that long.
func (a *API) GetSubmission(c *fiber.Ctx) error {
	seen, err := a.runs.LoadSubmission(c)
	if wait := c.QueryInt("wait"); err == nil && wait > 0 {
		if err = a.waitForRuns(c, seen.Submission.ID, time.Duration(wait)*time.Second); err == nil {
			seen, err = a.runs.LoadSubmission(c) // the submission may have been deleted during the wait
		}
	}
	if err != nil {
		return err
	}
	return a.answerSubmission(c, fiber.StatusOK, seen)
}

// CancelSubmission ends the runs of a submission that have not ended.
func (a *API) CancelSubmission(c *fiber.Ctx) error {
	seen, err := a.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	if err := a.runs.Cancel(c.UserContext(), site.Actor(c), seen.Submission.ID); err != nil {
		return err
	}
	return a.answerSubmission(c, fiber.StatusOK, seen)
}

func (a *API) answerSubmission(c *fiber.Ctx, status int, seen runs.SubmissionAccess) error {
	read, err := a.runs.ReadSubmission(c.UserContext(), seen)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).JSON(a.submissionAnswer(read))
}

func readSubmission(c *fiber.Ctx) (submissions.NewSubmission, error) {
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEMultipartForm) {
		var in client.NewSubmission
		if err := readJSON(c, &in); err != nil {
			return submissions.NewSubmission{}, err
		}
		sent := tasks.SubmissionFromTexts(in.Source, in.Files)
		return submissions.NewSubmission{TaskSlug: in.Task, Devices: in.Devices, Mode: in.Mode,
			ProfileFilter: in.ProfileFilter, FileName: in.FileName, Source: sent.Source, AdditionalFiles: sent.Files, Via: clientKind(c), AddedByAdmin: submissions.AdminSubmission{PersonName: in.OnBehalfOf, Reason: in.AddedReason}}, nil
	}
	in := submissions.NewSubmission{TaskSlug: c.FormValue("task"), Mode: job.Mode(c.FormValue("mode")), Via: clientKind(c),
		AddedByAdmin: submissions.AdminSubmission{PersonName: c.FormValue("for"), Reason: c.FormValue("why")}}
	form, err := c.MultipartForm()
	if err != nil || len(form.File["file"]) == 0 {
		return in, site.Invalid("file", `The form must have a file under the name "file". If the task takes further files, they follow it under the same name.`)
	}
	for _, names := range append(form.Value["devices"], form.Value["device"]...) {
		in.Devices = append(in.Devices, strings.SplitN(names, ",", parse.MaxGPUs+1)...)
	}
	if in.ProfileFilter, err = runs.ReadProfileFilter(form.Value); err != nil {
		return in, err
	}
	all, err := runs.ReadUploads(form.File["file"])
	if err != nil {
		return in, err
	}
	main := form.File["file"][0].Filename
	in.FileName, in.Source = main, all[main]
	if delete(all, main); len(all) > 0 {
		in.AdditionalFiles = all
	}
	return in, nil
}

// clientKind returns "cli" or "api" for the page of the submission, from the User-Agent header.
func clientKind(c *fiber.Ctx) string {
	if strings.HasPrefix(c.Get(fiber.HeaderUserAgent), client.UserAgent) {
		return "cli"
	}
	return "api"
}

// SubmissionEvents streams the events of a submission's runs as JSON.
func (a *API) SubmissionEvents(c *fiber.Ctx) error {
	return a.runs.StreamEvents(c, site.FormatJSON, func(e work.RunEvent) []byte {
		text, err := json.Marshal(eventAnswer(e))
		if err != nil {
			a.site.Log.Error("event is not JSON", "event", e.ID, "err", err)
			return nil
		}
		return conns.FormatEvent(e.ID, "", text)
	})
}
