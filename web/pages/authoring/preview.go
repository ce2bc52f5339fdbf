package authoring

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// TaskPreview answers with the page that the task will have, of files that are not saved. It stores and runs nothing.
func (p *Authoring) TaskPreview(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	if !p.previews.Allows(user.ID, p.site.Now()) {
		return site.TooMany("Too many previews in a row. Wait a moment.", checkEvery)
	}
	page, err := readPage(c)
	if err != nil {
		return err
	}
	task, version, err := p.previewed(c, page)
	if err != nil {
		return err
	}
	bundle, wrong, err := p.bundleOf(task.Slug, page.Files)
	if err != nil {
		return err
	}
	if page.Problems = append(page.Problems, sentences(wrong)...); len(page.Problems) > 0 {
		return site.Invalid("files", "The preview cannot be shown: %s", strings.Join(page.Problems, " "))
	}
	return p.showPreview(c, task, version, bundle)
}

// previewed is the task that the files are of, and the number of its version: a new one where the form names none.
func (p *Authoring) previewed(c *fiber.Ctx, page views.TaskFilesPage) (task catalog.Task, version int, err error) {
	slug := c.FormValue("task")
	if slug == "" {
		return catalog.Task{Slug: cmp.Or(slugOf(page), unnamed), Visibility: catalog.Hidden}, 1, nil
	}
	if task, err = p.editableNamed(c, slug); err != nil {
		return task, 0, err
	}
	shown, err := p.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	return task, shown.Number, err
}

func (p *Authoring) showPreview(c *fiber.Ctx, task catalog.Task, version int, b *tasks.Bundle) error {
	if task.ID == 0 {
		task.Title = cmp.Or(b.Definition.Title, "Task without a title")
		task.Devices = draft{Proposal: tasks.Proposal{Name: b.Name, Bundle: b}}.task().Devices
	} else if b.Definition.Title != "" {
		task.Title = b.Definition.Title
	}
	base := p.site.Page(c, task.Title, "tasks")
	base.Notice = "This is a preview. Nothing is saved."
	page, err := p.runs.ShownTask(p.code, base, task, version, b)
	if err != nil {
		return err
	}
	page.Owner = site.PersonOf(base.Viewer.ID, base.Viewer.Name)
	for _, device := range task.Devices {
		page.Boards = append(page.Boards, views.BoardChip{})
		page.Boards[len(page.Boards)-1].Device = device
	}
	page.Form.Mode = string(job.ModeRanked)
	if err := p.runs.FillForm(c, page.Page, task, b, &page.Form); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, fiber.StatusOK, views.Task(page))
}
