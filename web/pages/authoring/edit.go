package authoring

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/tasks"
	"warpboard/tasks/changes"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// editableTask returns the task of the path, if the viewer may edit it.
func (p *Authoring) editableTask(c *fiber.Ctx) (catalog.Task, error) {
	return p.editableTaskBySlug(c, c.Params("slug"))
}

func (p *Authoring) editableTaskBySlug(c *fiber.Ctx, slug string) (catalog.Task, error) {
	if _, err := site.RequireUser(c); err != nil {
		return catalog.Task{}, err
	}
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), slug)
	if err == nil && !task.EditableBy(site.Actor(c)) {
		err = site.Forbidden("edit", "Only the task's owner and admins may change it.")
	}
	return task, err
}

// newestBundle returns the task of the path, if the viewer may edit it, and the files of its unpublished version, or
// else of its current version.
func (p *Authoring) newestBundle(
	c *fiber.Ctx,
) (task catalog.Task, version catalog.TaskVersion, b *tasks.Bundle, err error) {
	if task, err = p.editableTask(c); err != nil {
		return task, version, nil, err
	}
	if version, err = p.site.Store.Catalog.NewestVersion(c.UserContext(), task); err != nil {
		return task, version, nil, err
	}
	b, err = p.site.Store.Catalog.BundleOf(c.UserContext(), task, version)
	return task, version, b, err
}

// storeVersion stores changed files so that only editors see them: in a draft, or as the unpublished version of a
// published task. It returns the version's ID.
func (p *Authoring) storeVersion(
	ctx context.Context, user accounts.User, task catalog.Task, b *tasks.Bundle,
) (int64, error) {
	if task.CurrentVisibility() != catalog.Hidden {
		v, err := p.site.Store.Catalog.StoreUnpublishedVersion(ctx, user, task.ID, b)
		return v.ID, err
	}
	v, _, err := p.site.Store.Catalog.Publish(ctx, user, task.ID, b, nil)
	return v.ID, err
}

// EditPage shows the settings of a task, and the actions that change or delete it.
func (p *Authoring) EditPage(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	return p.showEdit(c, task, task, nil)
}

// showEdit renders the edit page of a task. form has the values of the form; cause is the reason why the form was
// refused, or nil.
func (p *Authoring) showEdit(c *fiber.Ctx, task, form catalog.Task, cause error) error {
	ctx, status := c.UserContext(), fiber.StatusOK
	version, err := p.site.Store.Catalog.Version(ctx, task.VersionID)
	if err != nil {
		return err
	}
	page := views.TaskEditPage{
		Page: p.site.Page(c, "Edit "+task.Title, "tasks"), Task: site.TaskLink(task), Version: version.Number, LimitMiB: p.bundleLimit >> 20,
	}
	if page.Settings, err = p.settingsOf(ctx, form); err != nil {
		return err
	}
	if cause != nil {
		refused := site.FailureFromError(cause)
		if refused.Status >= 500 {
			return cause
		}
		page.Problem, status = refused.Message, refused.Status
	}
	return p.site.Render(c, status, views.TaskEdit(page))
}

// settingsOf returns the form of a task's settings, with all known devices to choose from.
func (p *Authoring) settingsOf(ctx context.Context, task catalog.Task) (views.TaskSettings, error) {
	settings := views.TaskSettings{
		Slug: task.Slug, Title: task.Title, Deadline: runs.TimeOrZero(task.Deadline),
		Visibility: task.CurrentVisibility(),
		Practice:   task.AllowsPractice, Limits: task.Limits,
	}
	known, err := p.runs.DeviceList(ctx)
	if err != nil {
		return settings, err
	}
	names := make([]string, len(known))
	for i, d := range known {
		names[i] = d.Device
	}
	var others []string
	for _, name := range task.Devices {
		if !slices.Contains(names, name) && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	settings.Others = strings.Join(others, ", ")
	settings.Devices = runs.DeviceChoicesAmong(known, names, runs.ChosenDevices(task.Devices))
	return settings, nil
}

// SaveSettings stores the settings of a task.
func (p *Authoring) SaveSettings(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	settings, err := readSettings(c, 0)
	// ignore the visibility of an outdated form, which could publish the task
	if settings.Visibility == "" || task.CurrentVisibility() == catalog.Hidden {
		settings.Visibility = task.CurrentVisibility()
	}
	var saved catalog.Task
	if err == nil {
		saved, err = p.runs.UpdateTask(c.UserContext(), site.Actor(c), task.ID, settings)
	}
	switch {
	case err == nil && task.AcceptsSubmissions(p.site.Now()) && !saved.AcceptsSubmissions(p.site.Now()):
		return site.Redirect(c, views.TaskURL(task.Slug)+"?done=saved-closed")
	case err == nil:
		return site.Redirect(c, views.TaskURL(task.Slug)+"?done=saved")
	}
	form := task
	form.Title, form.Devices, form.Deadline = settings.Title, settings.Devices, settings.Deadline
	form.Visibility, form.AllowsPractice, form.Limits = settings.Visibility, settings.AllowsPractice, settings.Limits
	return p.showEdit(c, task, form, err)
}

// VersionPreview shows how an uploaded zip would change a task.
func (p *Authoring) VersionPreview(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	sent, err := p.readZip(c)
	if err != nil {
		return err
	}
	bundle, err := sent.singleTask(p.site.Now())
	if wrong := parse.ProblemsFromError(err); len(wrong) > 0 {
		return p.showUpload(c, site.TaskLink(task), problemSentences(wrong))
	}
	if err != nil {
		return err
	}
	return p.showVersion(c, task, bundle, nil)
}

// ChangesPage shows the differences between the unpublished version and the current one.
func (p *Authoring) ChangesPage(c *fiber.Ctx) error {
	task, version, bundle, err := p.newestBundle(c)
	if err != nil {
		return err
	}
	if version.WasPublished() {
		return site.Redirect(c, views.TaskPartURL(task.Slug, "files"))
	}
	asItIs := false
	return p.showVersion(c, task, bundle, &asItIs)
}

// DiscardUnpublished deletes the unpublished version.
func (p *Authoring) DiscardUnpublished(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	if err := p.site.Store.Catalog.DeleteUnpublishedVersion(c.UserContext(), site.Actor(c), task.ID); err != nil {
		return err
	}
	p.site.Hub.QueueChanged()
	return site.Redirect(c, views.TaskPartURL(task.Slug, "files")+"?done=discarded")
}

// showVersion shows how a bundle would change a task.
func (p *Authoring) showVersion(c *fiber.Ctx, task catalog.Task, bundle *tasks.Bundle, rehouse *bool) error {
	shown, err := p.showDraft(c.UserContext(), draft{
		TaskProposal:    tasks.TaskProposal{Name: task.Slug, Bundle: bundle},
		currentTask:     &task,
		standardHarness: rehouse,
	})
	if err != nil {
		return err
	}
	page := views.TaskPreviewPage{
		Page:   p.site.Page(c, "Check the changes", "tasks"),
		Task:   site.TaskLink(task),
		Hidden: task.CurrentVisibility() == catalog.Hidden,
		Drafts: []views.TaskDraft{shown},
	}
	return p.site.Render(c, fiber.StatusOK, views.TaskPreview(page))
}

// showChange adds to a preview how the draft would change its task, and returns the bundle that would be published. A
// task that uses Warpboard's harness keeps it, unless the form chooses otherwise.
func (p *Authoring) showChange(ctx context.Context, d draft, shown *views.TaskDraft) (*tasks.Bundle, error) {
	current, err := p.site.Store.Catalog.Bundle(ctx, d.currentTask.VersionID)
	if err != nil {
		return nil, err
	}
	bundle := d.Bundle
	if shown.StandardHarness || d.standardHarness == nil && !current.Definition.HasOwnHarness {
		if ours, err := bundle.WithWarpboardHarness(); err == nil {
			bundle, shown.StandardHarness = ours, true
		}
	}
	change, err := p.site.Store.Catalog.PublishEffect(ctx, d.currentTask.ID, bundle)
	if err != nil {
		return nil, err
	}
	// The form proposes the upload's title; the author can change it before publishing.
	if title := bundle.Definition.Title; d.formSettings == nil && title != "" && title != current.Definition.Title {
		shown.Settings.Title = title
	}
	shown.Updates, shown.NewVersion = site.TaskLink(*d.currentTask), change == catalog.ChangeVersion
	if change != catalog.ChangeNone {
		shown.Changes = taskChanges(current, bundle)
	}
	if before, after := deadlineText(d.currentTask.Deadline), deadlineText(d.task().Deadline); before != after {
		shown.Changes = append(shown.Changes, views.TaskChange{Key: "deadline", Lines: format.Diff(before, after)})
	}
	return bundle, nil
}

func deadlineText(at *time.Time) string {
	if at == nil {
		return "none"
	}
	return at.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// taskChanges lists the changes between two bundles, with the complete texts that changes.Between shortens.
func taskChanges(before, after *tasks.Bundle) []views.TaskChange {
	old, now := changes.TextsByKey(before), changes.TextsByKey(after)
	var list []views.TaskChange
	for _, change := range changes.ChangesBetween(before, after) {
		a, b := change.Old, change.New
		if text, ok := old[change.Key]; ok {
			a = text
		}
		if text, ok := now[change.Key]; ok {
			b = text
		}
		list = append(list, views.TaskChange{Key: change.Key, Breaks: change.BreaksScores, Lines: format.Diff(a, b)})
	}
	return list
}

// VersionPublish makes the previewed bundle the task's current version, or stores it for a trial or further edits. If
// the form chooses another harness than the preview, it shows a new preview instead.
func (p *Authoring) VersionPublish(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	d, err := p.readDraft(c, 0)
	if err != nil {
		return err
	}
	if *d.standardHarness != d.previewedStandardHarness {
		return p.showVersion(c, task, d.Bundle, d.standardHarness)
	}
	bundle, err := d.chosenBundle()
	if err != nil {
		return err
	}
	if do := c.FormValue("do"); do != "" {
		return p.storeAndRedirect(c, site.Actor(c), task, bundle)
	}
	_, done, err := p.publishVersion(c.UserContext(), site.Actor(c), task.ID, bundle, nil)
	if err != nil {
		return err
	}
	return site.Redirect(c, done)
}

// Delete deletes a task, if its slug was typed as a confirmation.
func (p *Authoring) Delete(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	if err := p.site.Store.Catalog.DeleteTask(c.UserContext(), site.Actor(c), task.ID, c.FormValue("confirm")); err != nil {
		return p.showEdit(c, task, task, err)
	}
	p.site.Hub.QueueChanged()
	return c.Redirect("/tasks?done=deleted", fiber.StatusSeeOther)
}
