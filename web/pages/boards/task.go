package boards

import (
	"bytes"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

const maxOwnSubmissions = 20 // shown on a task's page

// Task shows a task.
func (p *Boards) Task(c *fiber.Ctx) error {
	return p.showTask(c, c.Params("slug"), fiber.StatusOK, views.SubmitForm{Mode: string(job.ModeRanked)})
}

// showTask renders the task's page. form has the input of a refused submission.
func (p *Boards) showTask(c *fiber.Ctx, slug string, status int, form views.SubmitForm) error {
	ctx := c.UserContext()
	posed, err := p.runs.FullTask(ctx, site.Actor(c), slug)
	if err != nil {
		return err
	}
	bundle, err := p.site.Store.Catalog.BundleOf(ctx, posed.Task, posed.Version)
	if err != nil {
		return err
	}
	page, err := p.taskPage(c, posed, bundle)
	if err != nil {
		return err
	}
	page.Form = form
	if err := p.runs.FillSubmitForm(c, page.Page, posed.Task, bundle, &page.Form); err != nil {
		return err
	}
	for i, choice := range page.Form.Devices {
		page.Boards[i].Offline = choice.Offline
	}
	return p.site.Render(c, status, views.Task(page))
}

// taskLinkPreview returns the description of a task for previews of links.
func (p *Boards) taskLinkPreview(task catalog.Task) *views.LinkPreview {
	address := string(views.TaskURL(task.Slug))
	return &views.LinkPreview{Title: task.Title, ImageURL: p.site.PreviewImageURL(), Description: "Write the fastest kernel for " + task.Title + ": on " + strings.Join(task.Devices, ", ") + ".",
		HiddenFromSearch: task.Visibility == catalog.Unlisted, URL: p.site.Settings.BaseURL + address, FeedURL: address + "/records.atom", JSONURL: "/api/v1/tasks/" + url.PathEscape(task.Slug)}
}

func (p *Boards) taskPage(c *fiber.Ctx, posed catalog.FullTask, bundle *tasks.Bundle) (page views.TaskPage, err error) {
	ctx, task, owner := c.UserContext(), posed.Task, posed.Owner
	if page, err = p.runs.TaskPage(p.highlighter, p.site.Page(c, task.Title, "tasks"), task, posed.Version.Number, bundle); err != nil {
		return page, err
	}
	page.EventSlug, page.EventTitle = posed.EventSlug, posed.EventTitle
	page.Owner, page.MayEdit = site.PersonLink(owner.ID, owner.Name), task.EditableBy(site.Actor(c))
	page.MayLeave = task.Visibility == catalog.Members && slices.Contains(site.Actor(c).JoinedTaskIDs, task.ID)
	if task.VisibleTo(accounts.User{}) {
		page.LinkPreview = p.taskLinkPreview(task)
	}
	if page.Boards, err = p.boardHeads(ctx, task); err != nil {
		return page, err
	}
	if user := site.Viewer(c); user != nil {
		page.Mine, err = p.runs.TaskSubmissions(ctx, *user, task, maxOwnSubmissions)
	}
	return page, err
}

// boardHeads returns a summary of each of a task's boards, in two queries.
func (p *Boards) boardHeads(ctx context.Context, task catalog.Task) ([]views.BoardChip, error) {
	summaries, err := p.site.Store.Boards.Summaries(ctx, []int64{task.VersionID})
	list := make([]views.BoardChip, len(task.Devices))
	for i, device := range task.Devices {
		list[i].BoardSummary = summaries[boards.BoardKey{VersionID: task.VersionID, Device: device}]
		list[i].Device = device
	}
	return list, err
}

// bundleOf reads the bundle of the current version of the path's task.
func (p *Boards) bundleOf(c *fiber.Ctx) (*tasks.Bundle, error) {
	_, version, err := p.runs.BoardOf(c)
	if err != nil {
		return nil, err
	}
	return p.site.Store.Catalog.Bundle(c.UserContext(), version.ID)
}

// TaskFile responds with one file of a task, by the name that it has in a run.
func (p *Boards) TaskFile(c *fiber.Ctx) error {
	bundle, err := p.bundleOf(c)
	if err != nil {
		return err
	}
	for _, f := range bundle.Definition.Files {
		if f.Name == c.Query("path") && !f.IsSubmission() {
			return site.SendAttachment(c, path.Base(f.Name), bundle.Files[f.Source])
		}
	}
	return site.NotFound(c)
}

// TaskTemplate responds with the template with a label. The file has the name that a submission needs.
func (p *Boards) TaskTemplate(c *fiber.Ctx) error {
	bundle, err := p.bundleOf(c)
	if err != nil {
		return err
	}
	text, ok := bundle.Template(c.Query("label"))
	if !ok {
		return site.NotFound(c)
	}
	return site.SendAttachment(c, bundle.Definition.SubmissionName(), text)
}

// TaskBundle responds with a whole task that can be uploaded again: a zip, or one file in the legacy format.
func (p *Boards) TaskBundle(c *fiber.Ctx) error {
	bundle, err := p.bundleOf(c)
	if err != nil {
		return err
	}
	if bundle.Definition.Protocol == tasks.ProtocolLegacy {
		name, text := site.LegacyFile(bundle)
		return site.SendAttachment(c, name, text)
	}
	var buf bytes.Buffer
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	if !task.EditableBy(site.Actor(c)) {
		bundle = bundle.WithoutSolutions()
	}
	if err := tasks.WriteZip(&buf, bundle); err != nil {
		return err
	}
	return site.SendAttachment(c, c.Params("slug")+".zip", buf.Bytes())
}

// Draws shows the drawn values of a task's ranges, except those that are secret.
func (p *Boards) Draws(c *fiber.Ctx) error {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	list, err := p.site.Store.Scores.NewestDraws(c.UserContext(), task, p.site.Now())
	if err != nil {
		return err
	}
	page := views.DrawsPage{Page: p.site.Page(c, "Drawn cases of "+task.Title, "tasks"), Task: site.TaskLink(task)}
	for _, d := range list {
		row := views.DrawRow{
			Version:  d.Version,
			Device:   d.Device,
			Software: d.Software.String(),
			Since:    d.Since,
			Secret:   d.Cases == nil,
		}
		if !row.Secret {
			row.Tests, row.Benchmarks = d.Cases.Tests, d.Cases.Benchmarks
		}
		page.Draws = append(page.Draws, row)
	}
	return p.site.Render(c, fiber.StatusOK, views.Draws(page))
}
