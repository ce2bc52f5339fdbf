package api

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/tasks/changes"
	"warpboard/web/site"
)

// PublishTask creates a task from the zip or reference file in the body, or updates the task with the slug of the path.
// With ?dry_run=true it only reports the changes.
func (a *API) PublishTask(c *fiber.Ctx) error {
	user := site.Actor(c)
	if !user.MayCreateTasks() {
		return site.Forbidden("creator", "Only creators and admins can create tasks. Ask an admin for the creator role.")
	}
	p, err := a.readProposal(c)
	if err != nil {
		return err
	}
	task, err := a.site.Store.Catalog.Task(c.UserContext(), db.Slug(c.Params("slug")))
	answer := client.Published{
		Change:   client.ChangeCreated,
		DryRun:   c.QueryBool("dry_run"),
		Warnings: append(p.Notes, p.Bundle.Warnings...),
		Version:  1,
	}
	switch {
	case db.KindOf(err) == db.NotFound:
		task, err = a.createTask(c, user, p, answer.DryRun)
	case err == nil && !task.EditableBy(user):
		err = site.Forbidden("task", "The task "+task.Slug+" belongs to another person.")
	case err == nil:
		err = a.updateTask(c, user, task, p, &answer)
	}
	if err != nil {
		return err
	}
	answer.Task, answer.URL = task.Slug, a.site.Settings.BaseURL+"/tasks/"+task.Slug
	return c.JSON(answer)
}

// readProposal reads the body of a request as an upload of exactly one task.
func (a *API) readProposal(c *fiber.Ctx) (p tasks.TaskProposal, err error) {
	name := c.Query("file", c.Params("slug")+".zip")
	upload, err := tasks.OpenFile(name, c.Body())
	if err != nil {
		return p, err
	}
	list, err := upload.Proposals(a.site.Now())
	switch {
	case err != nil:
		return p, err
	case len(list) != 1:
		return p, site.Invalid("tasks", "This needs an upload with exactly one task; %s holds %d.", name, len(list))
	}
	return list[0], nil
}

// createTask creates a task from a proposal.
func (a *API) createTask(c *fiber.Ctx, user accounts.User, p tasks.TaskProposal, dry bool) (task catalog.Task,
	err error) {
	slug := db.Slug(c.Params("slug"))
	if slug == "new" || slug == "publish" {
		return task, site.Invalid("slug", "A task cannot be called %q: that address is taken. Choose another name.", slug)
	}
	in := catalog.NewTask{Slug: slug, Bundle: p.Bundle}
	if in.Devices = p.GPUs; c.Query("devices") != "" {
		in.Devices = strings.Split(c.Query("devices"), ",")
	}
	if in.Deadline, _, err = requestDeadline(c, p); err != nil {
		return task, err
	}
	in.Visibility = catalog.Visibility(c.Query("visibility"))
	if len(in.Devices) == 0 {
		return task, site.Invalid("devices", "The task names no device: add gpus to its task.yml, or ?devices=A,B to the request.")
	}
	if dry {
		return catalog.Task{Slug: slug}, nil
	}
	return a.runs.CreateTask(c.UserContext(), user, in)
}

// requestDeadline returns the deadline from the query or the upload; nil means no deadline. given reports whether the
// request contains one, "none" included.
func requestDeadline(c *fiber.Ctx, p tasks.TaskProposal) (at *time.Time, given bool, err error) {
	switch text := c.Query("deadline"); {
	case text == "none":
		return nil, true, nil
	case text != "":
		given, err := tasks.ParseDeadline(text)
		if err != nil {
			return nil, false, site.Invalid("deadline", "The deadline %v, or none.", err)
		}
		return &given, true, nil
	case p.Deadline.IsZero():
		return nil, false, nil
	}
	return &p.Deadline, !p.HasAssumedDeadline, nil
}

// updateTask makes an uploaded bundle the current version of a task, or with ?dry_run=true reports what would change.
// Of the task's settings it changes only the title and the deadline, if the request contains them.
func (a *API) updateTask(
	c *fiber.Ctx, user accounts.User, task catalog.Task, p tasks.TaskProposal, answer *client.Published,
) error {
	ctx, bundle := c.UserContext(), p.Bundle
	deadline, given, err := requestDeadline(c, p)
	if err != nil {
		return err
	}
	version, err := a.site.Store.Catalog.Version(ctx, task.VersionID)
	if err != nil {
		return err
	}
	old, err := a.site.Store.Catalog.Bundle(ctx, version.ID)
	if err != nil {
		return err
	}
	for _, d := range changes.ChangesBetween(old, bundle) {
		answer.Differences = append(answer.Differences, client.Difference(d))
		if d.Key == "gpus" {
			answer.Warnings = append(answer.Warnings, "gpus: the task keeps its devices, "+strings.Join(task.Devices, ", ")+": change them on its page.")
		}
	}
	var settings *catalog.TaskSettings
	if old, now := deadlineText(task.Deadline), deadlineText(deadline); given && old != now {
		answer.Differences = append(answer.Differences, client.Difference{Key: "deadline", Old: old, New: now})
		settings = task.SettingsWithDeadline(deadline)
	}
	change, err := a.site.Store.Catalog.PublishEffect(ctx, task.ID, bundle)
	if err == nil && !answer.DryRun {
		version, change, err = a.runs.PublishTask(ctx, user, task.ID, bundle, settings)
	}
	answer.Version, answer.Change = version.Number, string(change)
	if settings != nil && change == catalog.ChangeNone {
		answer.Change = client.ChangeSettings
	}
	return err
}

// deadlineText formats a deadline for an answer; "" for nil.
func deadlineText(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
