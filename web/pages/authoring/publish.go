package authoring

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// maxDrafts limits the drafts in one form. It exceeds the number of tasks that an upload may have.
const maxDrafts = 512

// submittedDraft is a draft as the preview's form submits it.
type submittedDraft struct {
	draft
	sentSettings             catalog.TaskSettings
	settingsError            error // reason why the settings cannot be read
	isChosen                 bool
	previewedStandardHarness bool // the preview showed the draft with Warpboard's harness
}

// Publish creates or updates the tasks that were selected in the preview. It shows the preview again for those that
// fail.
func (p *Authoring) Publish(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	sent, err := p.readDrafts(c)
	if err != nil {
		return err
	}
	alone := len(sent) == 1 && c.FormValue("last") == "0"
	if alone {
		sent[0].isChosen = true // the form of a single draft has no checkbox
	}
	try := alone && sent[0].currentTask == nil && c.FormValue("do") == buttonTry
	if try {
		sent[0].sentSettings.Visibility = catalog.Hidden
	}
	out, err := p.publishChosen(c.UserContext(), *user, sent)
	if err != nil {
		return err
	}
	if try && len(out.published) == 1 {
		return p.startTrial(c, *user, out.lastPublished, out.lastPublished.VersionID, sent[0].Bundle)
	}
	if alone && len(out.published) == 1 {
		return site.Redirect(c, out.lastPageURL)
	}
	return p.showDrafts(c, out.lastRefusalStatus, out.remainingDrafts, out.published)
}

// publishResult has the tasks that were published from a form, and the drafts that failed.
type publishResult struct {
	remainingDrafts   []draft // failed drafts and those not selected
	published         []views.TaskRef
	lastPublished     catalog.Task
	lastPageURL       templ.SafeURL // page of the last task
	lastRefusalStatus int           // status of the last refusal
}

func (p *Authoring) publishChosen(
	ctx context.Context, user accounts.User, sent []submittedDraft,
) (publishResult, error) {
	out := publishResult{lastRefusalStatus: fiber.StatusOK}
	for _, d := range sent {
		if !d.isChosen {
			out.remainingDrafts = append(out.remainingDrafts, d.draft)
			continue
		}
		task, done, err := p.publishDraft(ctx, user, d)
		if err == nil {
			out.published, out.lastPublished, out.lastPageURL = append(out.published, site.TaskLink(task)), task, done
			continue
		}
		refused := site.FailureFromError(err)
		if refused.Status >= 500 {
			return publishResult{}, err
		}
		d.refusalReason, out.lastRefusalStatus = refused.Message, refused.Status
		out.remainingDrafts = append(out.remainingDrafts, d.draft)
	}
	return out, nil
}

// reservedSlug reports whether a slug cannot be used because /tasks/SLUG is another page.
func reservedSlug(name string) bool {
	return slices.Contains([]string{"new", "publish", "check"}, name)
}

// publishDraft creates or updates one task, and returns the URL of a page that shows the result.
func (p *Authoring) publishDraft(
	ctx context.Context, user accounts.User, d submittedDraft,
) (task catalog.Task, done templ.SafeURL, err error) {
	if d.settingsError != nil {
		return task, "", d.settingsError
	}
	bundle, err := d.chosenBundle()
	if err != nil {
		return task, "", err
	}
	if d.currentTask == nil {
		if reservedSlug(d.formSettings.Slug) {
			return task, "", site.Invalid("slug", "A task cannot have the address /tasks/%s. Type another one.", d.formSettings.Slug)
		}
		task, err = p.runs.CreateTask(ctx, user, catalog.NewTask{
			Slug:         d.formSettings.Slug,
			TaskSettings: d.sentSettings,
			Bundle:       bundle,
		})
		if err == nil && task.CurrentVisibility() == catalog.Hidden {
			return task, views.TaskPartURL(task.Slug, "trial"), nil
		}
		if err == nil {
			done, err = p.submitTemplateTest(ctx, user, task, bundle, "published")
		}
		return task, done, err
	}
	if *d.standardHarness != d.previewedStandardHarness {
		return task, "", site.Invalid("warpboard_harness", "Another harness changes what is measured. Check the differences, then publish.")
	}
	return p.publishVersion(ctx, user, d.currentTask.ID, bundle, &d.sentSettings)
}

// publishVersion makes a bundle the task's current version, changes its settings unless they are nil, and returns the
// URL of a page that shows the changes.
func (p *Authoring) publishVersion(
	ctx context.Context, user accounts.User, id int64, bundle *tasks.Bundle, settings *catalog.TaskSettings,
) (task catalog.Task, done templ.SafeURL, err error) {
	_, change, err := p.runs.PublishTask(ctx, user, id, bundle, settings)
	if err == nil {
		task, err = p.site.Store.Catalog.TaskByID(ctx, id)
	}
	switch {
	case err != nil:
		return task, "", err
	case change == catalog.ChangeVersion:
		done, err = p.submitTemplateTest(ctx, user, task, bundle, "version")
		return task, done, err
	case change == catalog.ChangeTexts:
		return task, views.TaskURL(task.Slug) + "?done=texts", nil
	}
	return task, views.TaskURL(task.Slug) + "?done=saved", nil
}

// chosenBundle returns the bundle of a draft, with Warpboard's harness if the form chose it.
func (d submittedDraft) chosenBundle() (*tasks.Bundle, error) {
	if !*d.standardHarness {
		return d.Bundle, nil
	}
	ours, err := d.Bundle.WithWarpboardHarness()
	if err != nil {
		return nil, site.Invalid("warpboard_harness", "%s.", format.UpperFirst(err.Error()))
	}
	return ours, nil
}

// readDrafts reads the drafts that the preview's form submits. The form has no fields for drafts that were invalid.
func (p *Authoring) readDrafts(c *fiber.Ctx) ([]submittedDraft, error) {
	last, _ := strconv.Atoi(c.FormValue("last"))
	var list []submittedDraft
	for number := 0; number <= min(last, maxDrafts); number++ {
		if c.FormValue(views.DraftField(number, "bundle")) == "" {
			continue
		}
		d, err := p.readDraft(c, number)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		return nil, site.Invalid("bundle", "The upload is incomplete. Upload it again.")
	}
	return list, nil
}

// readDraft reads the draft with a number from a form. It checks the encoded task like an upload.
func (p *Authoring) readDraft(c *fiber.Ctx, number int) (submittedDraft, error) {
	field := func(name string) string { return c.FormValue(views.DraftField(number, name)) }
	data, err := base64.StdEncoding.DecodeString(field("bundle"))
	if err != nil {
		return submittedDraft{}, site.Invalid("bundle", "The upload is incomplete. Upload it again.")
	}
	bundle, err := upload{name: field("bundle_name"), data: data}.singleTask(p.site.Now())
	if err != nil {
		return submittedDraft{}, err
	}
	rehouse := field("warpboard_harness") != ""
	d := submittedDraft{isChosen: field("chosen") != "", previewedStandardHarness: field("rehoused") != ""}
	d.draft = draft{
		TaskProposal:    tasks.TaskProposal{Name: bundle.Name, Bundle: bundle},
		number:          number,
		standardHarness: &rehouse,
	}
	d.sentSettings, d.settingsError = readSettings(c, number)
	d.formSettings = &catalog.Task{
		Slug: db.Slug(field("slug")), Title: d.sentSettings.Title, Devices: d.sentSettings.Devices, Deadline: d.sentSettings.Deadline, Visibility: d.sentSettings.Visibility,
		AllowsPractice: d.sentSettings.AllowsPractice, Limits: d.sentSettings.Limits,
	}
	if slug := field("updates"); slug != "" {
		task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), slug)
		if err != nil {
			return submittedDraft{}, err
		}
		d.currentTask, d.formSettings.Slug = &task, task.Slug
	}
	return d, nil
}

// submitTemplateTest submits the task's template in test mode if a connected worker has one of the task's devices, so
// that a reference that does not compile is found before the first submission. It returns the URL of the test, or of
// the task's page. The template may fail the test; it only needs to compile.
func (p *Authoring) submitTemplateTest(
	ctx context.Context, author accounts.User, task catalog.Task, bundle *tasks.Bundle, notice templ.SafeURL,
) (templ.SafeURL, error) {
	if !task.AcceptsSubmissions(p.site.Now()) {
		return views.TaskURL(task.Slug) + "?done=" + notice + "-closed", nil
	}
	unchecked := views.TaskURL(task.Slug) + "?done=" + notice + "-unchecked"
	choices, err := p.runs.DeviceChoices(ctx, task.Devices, nil)
	if err != nil {
		return "", err
	}
	choices = slices.DeleteFunc(choices, func(d views.DeviceChoice) bool { return d.Offline })
	source := runs.FirstTemplate("", bundle)
	if len(choices) == 0 || source == "" {
		return unchecked, nil
	}
	device := choices[0].Device
	if slices.ContainsFunc(choices, func(d views.DeviceChoice) bool { return d.Device == gpuname.CPU }) {
		device = gpuname.CPU
	}
	sub, _, err := p.runs.Submit(ctx, author, submissions.NewSubmission{
		TaskSlug: task.Slug,
		Devices:  []string{device},
		Mode:     job.ModeTest,
		Source:   []byte(source),
		Via:      "web",
	})
	if err != nil { // for example a submission limit; the task is published anyway
		p.site.Log.Info("the task was not checked", "task", task.Slug, "err", err)
		return unchecked, nil
	}
	return views.WorkbenchURL(task.Slug) + templ.SafeURL(fmt.Sprintf("?run=%d&done=%s-checked", sub.ID, notice)), nil
}
