package pages

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// TaskSubmit takes the submission of a task's page. What was refused comes back with its reason and
// everything that was typed.
func (p *Pages) TaskSubmit(c *fiber.Ctx) error {
	user, err := site.RequireUser(c)
	if err != nil {
		return err
	}
	in, err := readForm(c)
	if err != nil {
		return err
	}
	sub, _, err := p.Submit(c.UserContext(), *user, in)
	if err == nil {
		return site.Redirect(c, views.SubmissionURL(sub.ID))
	}
	return p.refuseSubmission(c, in, err)
}

// refuseSubmission shows the form again, also when the site is busy: what was typed is nowhere else. Where even
// that fails, why it was refused is the answer.
func (p *Pages) refuseSubmission(c *fiber.Ctx, in runs.SubmitRequest, why error) error {
	refused := site.FailureOf(why)
	if refused.Status == fiber.StatusInternalServerError {
		return why
	}
	task, err := p.VisibleTask(c.UserContext(), site.Actor(c), in.Task)
	if err != nil {
		return why
	}
	if refused.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	return p.showTask(c, task, refused.Status, views.SubmitForm{
		Source: string(in.Source), SentName: in.FileName, Devices: runs.ChosenDevices(in.Devices), Mode: string(in.Mode), Problem: refused.Message,
	})
}

// readForm reads the form: a chosen file goes before the text.
func readForm(c *fiber.Ctx) (runs.SubmitRequest, error) {
	in := runs.SubmitRequest{Task: c.Params("slug"), Mode: job.Mode(c.FormValue("mode")), Via: "web"}
	form, err := c.MultipartForm()
	if err != nil {
		return in, site.Invalid("form", "The form did not arrive whole; send it again.")
	}
	in.Devices = form.Value["device"]
	if files := form.File["file"]; len(files) > 0 && files[0].Filename != "" {
		in.FileName = files[0].Filename
		in.Source, err = site.ReadUpload(files[0], tasks.MaxSubmission)
		return in, err
	}
	// The editor may have been filled from a file.
	in.FileName = c.FormValue("filename")
	in.Source = []byte(strings.ReplaceAll(c.FormValue("source"), "\r\n", "\n")) // forms send lines so
	return in, nil
}

// submitForm fills in what a task's form offers.
func (p *Pages) submitForm(c *fiber.Ctx, page views.TaskPage, bundle *tasks.Bundle, form views.SubmitForm) (views.SubmitForm, error) {
	d := bundle.Definition
	form.Page, form.Task, form.Lang, form.Filename = page.Page, page.Task, d.Lang, d.SubmissionName()
	form.Modes = modesOf(d.Lang)
	if from := c.QueryInt("from"); from > 0 && form.Problem == "" {
		if err := p.fillAgain(c, int64(from), &form); err != nil {
			return form, err
		}
	}
	if form.Source == "" && form.Problem == "" {
		form.Source = firstTemplate(c.Query("template"), bundle)
	}
	names := make([]string, len(page.Boards))
	for i, board := range page.Boards {
		names[i] = board.Device
	}
	choices, err := p.DeviceChoices(c.UserContext(), names, form.Devices)
	for i, choice := range choices {
		page.Boards[i].Offline = choice.Offline
	}
	form.Devices = choices
	return form, err
}

// fillAgain puts an earlier submission to the task into the form, if the viewer may read it.
func (p *Pages) fillAgain(c *fiber.Ctx, id int64, form *views.SubmitForm) error {
	seen, err := p.SubmissionByID(c, id)
	if models.KindOf(err) == models.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if !seen.MaySeeSource || seen.Task.Slug != form.Task.Slug {
		return nil
	}
	text, err := p.Store.Source(c.UserContext(), seen.Sub)
	if err != nil {
		return err
	}
	runs, err := p.Store.Runs(c.UserContext(), id)
	if err != nil {
		return err
	}
	form.Source, form.Mode, form.From = string(text), string(seen.Sub.Mode), id
	if form.Remarks, err = p.remarks(c.UserContext(), seen.Sub); err != nil {
		return err
	}
	for _, run := range runs {
		form.Devices = append(form.Devices, views.DeviceChoice{Device: run.Device, Chosen: true})
	}
	return nil
}

// firstTemplate is the wished template's text, else the first one's.
func firstTemplate(label string, bundle *tasks.Bundle) string {
	if text, ok := bundle.Template(label); ok {
		return string(text)
	}
	for _, label := range slices.Sorted(maps.Keys(bundle.Definition.Templates)) {
		text, _ := bundle.Template(label)
		return string(text)
	}
	return ""
}

// modesOf lists what may be asked of a task; there are no hardware counters to profile on a CPU.
func modesOf(lang tasks.Lang) []string {
	modes := []string{string(job.ModeRanked), string(job.ModeBenchmark), string(job.ModeTest)}
	if lang != tasks.LangCPP {
		modes = append(modes, string(job.ModeProfile))
	}
	return modes
}
