package authoring

import (
	"context"
	"fmt"
	"slices"

	"github.com/a-h/templ"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/submissions"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site/runs"
)

// checked submits the task's template for a test if a worker serves one of its devices, so that a reference that does not
// compile is found before the first submission. It returns the address of the test, or of a page without one. A template may
// fail its tests; it only needs to compile.
func (p *Authoring) checked(ctx context.Context, author accounts.User, task catalog.Task, bundle *tasks.Bundle, notice templ.SafeURL) (templ.SafeURL, error) {
	if !task.Open(p.site.Now()) {
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
	sub, _, err := p.runs.Submit(ctx, author, submissions.NewSubmission{Task: task.Slug, Devices: []string{device}, Mode: job.ModeTest, Source: []byte(source), Via: "web"})
	if err != nil { // a limit, a deadline that has passed: the task is published all the same
		p.site.Log.Info("the task was not checked", "task", task.Slug, "err", err)
		return unchecked, nil
	}
	return views.SolveURL(task.Slug) + templ.SafeURL(fmt.Sprintf("?run=%d&done=%s-checked", sub.ID, notice)), nil
}
