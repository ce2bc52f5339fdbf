package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models"
	"warpboard/views"
)

const recentEvaluations = 10 // that the playground lists

// playground shows the form: empty, with ?from=ID as it was for an evaluation, or with ?example=NAME.
func (p pages) playground(c *fiber.Ctx) error {
	form := newPlayground()
	form.example(c.Query("example"))
	if id := c.Query("from"); id != "" {
		e, _, err := p.readable(c, id)
		if err != nil {
			return err
		}
		request, err := requestIn(e)
		if err != nil {
			return err
		}
		form.fill(request)
	}
	return p.showPlayground(c, fiber.StatusOK, form)
}

// playgroundRun takes the form. What is wrong in it comes back at its field, with all that was typed.
func (p pages) playgroundRun(c *fiber.Ctx) error {
	form := readPlayground(c)
	switch c.FormValue("do") {
	case "row":
		form.rows = min(form.rows+1, mostArguments)
		return p.showPlayground(c, fiber.StatusOK, form)
	case "json":
		form.writeContract()
		return p.showPlayground(c, form.status(), form)
	}
	if _, err := requireUser(c); err != nil {
		return err
	}
	caller, err := p.caller(c)
	if err != nil {
		return err
	}
	if request, ok := form.request(p.cfg.EvalLimits.Bounds); ok {
		e, err := p.submitEvaluation(c.UserContext(), caller, request)
		if err == nil {
			return redirect(c, views.EvaluationURL(e.ID))
		}
		if f := failureOf(err); !form.refuse(err) && f.code == "internal" {
			return err
		}
	}
	return p.showPlayground(c, form.status(), form)
}

func (p pages) showPlayground(c *fiber.Ctx, status int, form *playground) error {
	workers, err := p.store.Workers(c.UserContext())
	if err != nil {
		return err
	}
	page := views.PlaygroundPage{Page: p.page(c, "Playground", "playground"), Fields: form.fields, Rows: form.rows,
		Problems: form.problems, Examples: exampleNames()}
	for _, u := range evalUnits(workers, p.now()) {
		page.Devices = append(page.Devices, u.device)
	}
	if user := viewer(c); user != nil {
		if page.Recent, err = p.recent(c, *user); err != nil {
			return err
		}
	}
	return p.render(c, status, views.Playground(page))
}

// recent are the newest evaluations of a person.
func (p pages) recent(c *fiber.Ctx, user models.User) (list []views.RecentEvaluation, err error) {
	found, err := p.store.Evaluations(c.UserContext(), models.Asker{User: user}, 0, recentEvaluations)
	for _, e := range found {
		list = append(list, views.RecentEvaluation{
			ID: e.ID, Title: evaluationTitle(e), State: string(e.State), Device: e.Device, Shared: e.Shared, Created: e.QueuedAt})
	}
	return list, err
}

// evaluation shows an evaluation; htmx gets the part that changes.
func (p pages) evaluation(c *fiber.Ctx) error {
	e, caller, err := p.readable(c, c.Params("id"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store") // what is shared no more is not shown from a cache
	page := views.EvaluationPage{
		Page: p.page(c, evaluationTitle(e), "playground"), ID: e.ID, Compare: e.Kind == string(kernelrun.Compare),
		State: string(e.State), Ended: e.State.Final(), Device: e.Device, Worker: e.Worker, Created: e.QueuedAt,
		Failure: e.Failure, Mine: caller.MayChange(e), Shared: e.Shared, Request: indented(e.Request),
	}
	page.Live = !page.Ended
	if e.Result != nil {
		result, err := resultOf(e)
		if err != nil {
			return err
		}
		page.Result = &result
	}
	if isFragment(c) {
		return p.render(c, fiber.StatusOK, views.EvaluationState(page))
	}
	if page.Sources, err = p.evaluationSources(e); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.Evaluation(page))
}

// evaluationSources are the coloured sources of an evaluation's kernelrun.
func (p pages) evaluationSources(e models.Evaluation) (list []views.EvaluationSource, err error) {
	request, err := requestIn(e)
	if err != nil {
		return nil, err
	}
	add := func(title string, code kernelrun.Code) {
		name := "kernel.py"
		if code.Type == "cuda" {
			name = "kernel.cu"
		}
		file, failed := p.code.Source(name, strings.ToLower(title)+"-", []byte(code.Source))
		list, err = append(list, views.EvaluationSource{Title: title, Type: code.Type, File: file}), cmp.Or(err, failed)
	}
	add("Kernel", request.Custom)
	if request.Ref != nil {
		add("Reference", *request.Ref)
	}
	return list, err
}

// requestIn reads what an evaluation was asked for.
func requestIn(e models.Evaluation) (request kernelrun.Request, err error) {
	if err = json.Unmarshal(e.Request, &request); err != nil {
		err = fmt.Errorf("read the request of evaluation %s: %w", e.ID, err)
	}
	return request, err
}

func evaluationTitle(e models.Evaluation) string {
	if e.Kind == string(kernelrun.Compare) {
		return "Comparison " + short(e.ID)
	}
	return "Evaluation " + short(e.ID)
}

// short is as much of an id as tells it from others at a glance.
func short(id string) string { return id[:min(len(id), 8)] }

func (p pages) evaluationCancel(c *fiber.Ctx) error {
	e, err := p.changeable(c, c.Params("id"))
	if err != nil {
		return err
	}
	err = p.cfg.Dispatcher.CancelEvaluation(c.UserContext(), e.ID, "It was cancelled.")
	if err != nil && models.KindOf(err) != models.Conflict { // it may have ended just now
		return err
	}
	return redirect(c, views.EvaluationURL(e.ID))
}

// evaluationShare takes the switch of an evaluation's page.
func (p pages) evaluationShare(c *fiber.Ctx) error {
	e, err := p.changeable(c, c.Params("id"))
	if err != nil {
		return err
	}
	if _, err := p.shareEvaluation(c.UserContext(), e.ID, c.FormValue("shared") == "true"); err != nil {
		return err
	}
	return redirect(c, views.EvaluationURL(e.ID))
}
