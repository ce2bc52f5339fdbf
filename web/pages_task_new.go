package web

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/tasks"
	"warpboard/views"
)

// taskNew asks for the zip of a new task.
func (p pages) taskNew(c *fiber.Ctx) error {
	if _, err := requireCreator(c); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.TaskUpload(p.uploadPage(c, views.TaskRef{}, nil)))
}

func requireCreator(c *fiber.Ctx) (*models.User, error) {
	user, err := requireUser(c)
	if err == nil && !user.MayCreate() {
		return nil, forbidden("creator", "Only creators and admins may make tasks; ask an admin for the role.")
	}
	return user, err
}

func (p pages) uploadPage(c *fiber.Ctx, task views.TaskRef, problems []string) views.TaskUploadPage {
	page := views.TaskUploadPage{
		Page: p.page(c, "New task", "new"), Task: task, Problems: problems, LimitMiB: p.cfg.BundleLimit >> 20,
	}
	if task.Slug != "" {
		page.Title, page.Section = "New version of "+task.Title, "tasks"
	}
	return page
}

// taskPreview shows what an uploaded zip would make; what is wrong with it is listed above the form.
func (p pages) taskPreview(c *fiber.Ctx) error {
	if _, err := requireCreator(c); err != nil {
		return err
	}
	sent, err := p.readZip(c)
	if err != nil {
		return err
	}
	list, err := sent.drafts(p.now())
	if problems := tasks.ProblemsIn(err); len(problems) > 0 {
		return p.render(c, fiber.StatusUnprocessableEntity, views.TaskUpload(p.uploadPage(c, views.TaskRef{}, sentences(problems))))
	}
	if err != nil {
		return err
	}
	page := views.TaskPreviewPage{Page: p.page(c, "Check the task", "new")}
	for _, d := range list {
		shown, err := p.showDraft(c.UserContext(), d)
		if err != nil {
			return err
		}
		page.Drafts = append(page.Drafts, shown)
	}
	return p.render(c, fiber.StatusOK, views.TaskPreview(page))
}

func sentences(problems []tasks.Problem) []string {
	list := make([]string, len(problems))
	for i, problem := range problems {
		list[i] = problem.Error()
	}
	return list
}

// readZip reads the uploaded file.
func (p pages) readZip(c *fiber.Ctx) (upload, error) {
	header, err := c.FormFile("zip")
	if err != nil {
		return upload{}, invalid("zip", "Choose a zip to upload.")
	}
	data, err := readUpload(header, int64(p.cfg.BundleLimit))
	if err == nil && len(data) > p.cfg.BundleLimit {
		err = invalid("zip", "%s is larger than %d MiB.", header.Filename, p.cfg.BundleLimit>>20)
	}
	return upload{name: header.Filename, data: data}, err
}

// readCarried reads the task that a preview's form has carried. It is read and checked as any upload.
func (p pages) readCarried(c *fiber.Ctx) (*tasks.Bundle, error) {
	data, err := base64.StdEncoding.DecodeString(c.FormValue("bundle"))
	if err != nil {
		return nil, invalid("bundle", "The upload did not arrive whole; upload the zip again.")
	}
	return upload{name: c.FormValue("bundle_name"), data: data}.single(p.now())
}

// rehoused tells whether the form asks for Warpboard's harness in place of the bundle's own, and
// gives the bundle with it.
func rehoused(c *fiber.Ctx, bundle *tasks.Bundle) (*tasks.Bundle, bool, error) {
	if c.FormValue("warpboard_harness") == "" {
		return bundle, false, nil
	}
	ours, err := bundle.WithWarpboardHarness()
	if err != nil {
		return nil, true, invalid("warpboard_harness", "%s.", views.Sentence(err.Error()))
	}
	return ours, true, nil
}

// notSlug tells the names below /tasks/ that mean something else.
func notSlug(name string) bool { return name == "new" || name == "publish" }

// taskPublish makes the task that the preview showed. Settings that do not work come back in the preview.
func (p pages) taskPublish(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	bundle, err := p.readCarried(c)
	if err != nil {
		return err
	}
	if bundle, _, err = rehoused(c, bundle); err != nil {
		return err
	}
	settings, err := readSettings(c)
	if slug := c.FormValue("slug"); err == nil && notSlug(models.Slug(slug)) {
		err = invalid("slug", "A task cannot be called %q: that address is taken. Choose another name.", slug)
	}
	var task models.Task
	if err == nil {
		task, err = p.store.CreateTask(c.UserContext(), *user, models.NewTask{Slug: c.FormValue("slug"), TaskSettings: settings, Bundle: bundle})
	}
	if err == nil {
		return redirect(c, views.TaskURL(task.Slug)+"?done=published")
	}
	return p.publishRefused(c, bundle, settings, err)
}

func (p pages) publishRefused(c *fiber.Ctx, bundle *tasks.Bundle, settings models.TaskSettings, cause error) error {
	refused := failureOf(cause)
	if refused.status >= 500 {
		return cause
	}
	shown, err := p.showDraft(c.UserContext(), draft{bundle: bundle})
	if err != nil {
		return errors.Join(cause, err)
	}
	form, err := p.settingsOf(c.UserContext(), models.Task{
		Slug: c.FormValue("slug"), Title: settings.Title, Devices: settings.Devices, Deadline: settings.Deadline, Visibility: settings.Visibility,
	})
	if err != nil {
		return errors.Join(cause, err)
	}
	shown.Settings, shown.Refused = form, refused.message
	page := views.TaskPreviewPage{Page: p.page(c, "Check the task", "new"), Drafts: []views.TaskDraft{shown}}
	return p.render(c, refused.status, views.TaskPreview(page))
}

// readSettings reads what a creator chose beside the zip.
func readSettings(c *fiber.Ctx) (models.TaskSettings, error) {
	in := models.TaskSettings{Title: c.FormValue("title"), Visibility: models.Public}
	if c.FormValue("hidden") != "" {
		in.Visibility = models.Hidden
	}
	names := append(formValues(c, "device"), strings.Split(c.FormValue("others"), ",")...)
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(in.Devices, name) {
			in.Devices = append(in.Devices, name)
		}
	}
	text := c.FormValue("deadline")
	if text == "" {
		return in, nil
	}
	at, err := time.Parse("2006-01-02T15:04", text[:min(len(text), len("2006-01-02T15:04"))]) // browsers may add seconds
	if err != nil {
		return in, invalid("deadline", "%q is no date and time like 2030-01-31T18:00.", text)
	}
	in.Deadline = &at
	return in, nil
}

// formValues are all values of a field, of either kind of form.
func formValues(c *fiber.Ctx, name string) []string {
	if form, err := c.MultipartForm(); err == nil {
		return slices.Clone(form.Value[name])
	}
	var values []string
	for _, value := range c.Context().PostArgs().PeekMulti(name) {
		values = append(values, string(value))
	}
	return values
}
