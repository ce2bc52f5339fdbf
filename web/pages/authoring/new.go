package authoring

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/quota"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/web/site"
)

// NewTaskPage asks for the zip of a new task.
func (p *Authoring) NewTaskPage(c *fiber.Ctx) error {
	if _, err := requireCreator(c); err != nil {
		return err
	}
	return p.showUpload(c, views.TaskRef{}, nil)
}

func requireCreator(c *fiber.Ctx) (*accounts.User, error) {
	user, err := site.RequireUser(c)
	if err == nil && !user.MayCreateTasks() {
		return nil, site.Forbidden("creator", "Only creators and admins can create tasks. Ask an admin for the creator role.")
	}
	return user, err
}

// showUpload renders the form for a zip, with the problems of the previous upload.
func (p *Authoring) showUpload(c *fiber.Ctx, task views.TaskRef, problems []string) error {
	status := fiber.StatusOK
	if len(problems) > 0 {
		status = fiber.StatusUnprocessableEntity
	}
	page := views.TaskUploadPage{
		Page: p.site.Page(c, "New task", "new"), Task: task, Problems: problems, LimitMiB: p.bundleLimit >> 20, Starters: starters(),
	}
	if task.Slug != "" {
		page.Title, page.HeaderSection = "New version of "+task.Title, "tasks"
	}
	var err error
	if page.Example, err = p.starterFiles(page.Starters[0]); err != nil {
		return err
	}
	return p.site.Render(c, status, views.TaskUpload(page))
}

// PreviewUpload shows the tasks that an uploaded zip would create, and the upload's problems.
func (p *Authoring) PreviewUpload(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	var proposals []tasks.TaskProposal
	sent, err := p.readZip(c)
	if err == nil {
		proposals, err = sent.readProposals(p.site.Now())
	}
	if wrong := parse.ProblemsFromError(err); len(wrong) > 0 {
		return p.showUpload(c, views.TaskRef{}, problemSentences(wrong))
	}
	if err != nil {
		return err
	}
	list, err := p.findDrafts(c.UserContext(), *user, proposals)
	if err != nil {
		return err
	}
	return p.showDrafts(c, fiber.StatusOK, list, nil)
}

// showDrafts renders the preview of an upload. Some of its tasks may have been published already.
func (p *Authoring) showDrafts(c *fiber.Ctx, status int, list []draft, published []views.TaskRef) error {
	page := views.TaskPreviewPage{Page: p.site.Page(c, "Check the task", "new"), Published: published}
	if len(list)+len(published) > 1 {
		page.Title = "Check the tasks"
	}
	for _, d := range list {
		shown, err := p.showDraft(c.UserContext(), d)
		if err != nil {
			return err
		}
		page.Drafts = append(page.Drafts, shown)
	}
	return p.site.Render(c, status, views.TaskPreview(page))
}

func problemSentences(wrong []parse.Problem) []string {
	list := make([]string, len(wrong))
	for i, problem := range wrong {
		list[i] = problem.Error()
	}
	return list
}

// readSettings reads the settings that the author chose for one of several drafts.
func readSettings(c *fiber.Ctx, number int) (catalog.TaskSettings, error) {
	field := func(name string) string { return c.FormValue(views.DraftField(number, name)) }
	limits, err := readLimits(field)
	in := catalog.TaskSettings{
		Title:          field("title"),
		Visibility:     catalog.Visibility(field("visibility")),
		AllowsPractice: field("practice") != "",
		Limits:         limits,
	}
	names := append(formValues(c, views.DraftField(number, "device")), strings.Split(field("others"), ",")...)
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(in.Devices, name) {
			in.Devices = append(in.Devices, name)
		}
	}
	text := field("deadline")
	if text == "" || err != nil {
		return in, err
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} { // browsers leave out seconds that are 0
		if at, err := time.Parse(layout, text); err == nil {
			in.Deadline = &at
			return in, nil
		}
	}
	return in, site.Invalid("deadline", "%q is not a date and time like 2030-01-31T18:00:00.", text)
}

// formValues returns all values of a form field, whether the form is URL-encoded or multipart.
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

// readLimits reads the submission limits of a task from a form. Empty fields and 0 mean no limit.
func readLimits(field func(name string) string) (limits []quota.TaskLimit, err error) {
	number := func(l quota.TaskLimit, what string) int {
		text := field(views.LimitField(l, what))
		n, wrong := strconv.Atoi(text)
		if text != "" && wrong != nil && err == nil {
			err = site.Invalid("limits", "The limit %q is not a whole number.", text)
		}
		return n
	}
	for _, mode := range quota.LimitModes() {
		for _, per := range quota.LimitPeriods() {
			l := quota.TaskLimit{Mode: mode, Period: per}
			l.MaxSubmissions, l.MaxGPUSeconds = number(l, views.LimitSubmissions), number(l, views.LimitSeconds)
			if l.MaxSubmissions != 0 || l.MaxGPUSeconds != 0 {
				limits = append(limits, l)
			}
		}
	}
	return limits, err
}
