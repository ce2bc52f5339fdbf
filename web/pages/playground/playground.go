package playground

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/db"
	"warpboard/models/switches"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// Playground has the handlers of the pages that evaluate single kernels.
type Playground struct {
	site        *site.Site
	evaluations *evaluations.Evaluations
	highlighter *views.Highlighter
}

// New returns the handlers of the playground.
func New(site *site.Site, evals *evaluations.Evaluations, code *views.Highlighter) *Playground {
	return &Playground{site: site, evaluations: evals, highlighter: code}
}

const recentEvaluations = 10 // number of evaluations that the playground lists

// Form shows the form, filled with the example of ?example=NAME or the evaluation of ?from=ID.
func (p *Playground) Form(c *fiber.Ctx) error {
	form := newForm()
	if c.Query("from") == "" {
		form.fillFromExample(c.Query("example", defaultExample))
	}
	if id := c.Query("from"); id != "" {
		e, _, err := p.evaluations.ReadableEvaluation(c, id)
		if err != nil {
			return err
		}
		request, err := evaluations.DecodeRequest(e)
		if err != nil {
			return err
		}
		form.fillFrom(request)
	}
	return p.showPlayground(c, fiber.StatusOK, form)
}

// Evaluate submits the form as an evaluation. It shows problems beside their fields and keeps the input.
func (p *Playground) Evaluate(c *fiber.Ctx) error {
	form, err := readFields(c)
	if err != nil {
		return err
	}
	switch c.FormValue("do") {
	case "row":
		form.rowCount = min(form.rowCount+1, maxArguments)
		return p.showPlayground(c, fiber.StatusOK, form)
	case "json":
		form.writeContract()
		return p.showPlayground(c, form.responseStatus(), form)
	case "task":
		return p.previewTask(c, form)
	}
	if _, err := site.RequireUser(c); err != nil {
		return err
	}
	caller, err := p.evaluations.Caller(c)
	if err != nil {
		return err
	}
	if c.FormValue("do") == "compile" {
		return p.compileOnly(c, form, caller)
	}
	if request, ok := form.parseRequest(p.evaluations.EvalLimits.RequestLimits); ok {
		e, err := p.evaluations.Submit(c.UserContext(), caller, request, "")
		if err == nil {
			return p.showAccepted(c, e, caller)
		}
		if f := site.FailureFromError(err); !form.recordProblems(err) && f.Code == "internal" {
			return err
		}
	}
	return p.showRefusal(c, form)
}

func (p *Playground) showRefusal(c *fiber.Ctx, form *playgroundForm) error {
	if site.WantsFragment(c) {
		return p.site.Render(c, form.responseStatus(), views.PlaygroundRefused(form.problems))
	}
	return p.showPlayground(c, form.responseStatus(), form)
}

// compileOnly submits the form's kernel for compilation only.
func (p *Playground) compileOnly(c *fiber.Ctx, form *playgroundForm, caller evaluations.Caller) error {
	request := kernelrun.Request{Kind: kernelrun.KindCompile, CustomKernel: kernelrun.KernelCode{
		Source:     form.fields["kernel"],
		KernelType: form.trimmedField("kernel_type"),
	},
		GPUType: form.trimmedField("gpu_type"), Timeout: kernelrun.CompileTimeout}
	err := request.Check(p.evaluations.EvalLimits.RequestLimits)
	if request.CustomKernel.KernelType != "cuda" {
		err = &kernelrun.Refusal{Message: "Only CUDA kernels can be compiled without running them: choose the type cuda, or run it"}
	}
	if err == nil {
		var e work.Evaluation
		if e, err = p.evaluations.Compile(c.UserContext(), caller, request, nil); err == nil {
			return p.showAccepted(c, e, caller)
		}
	}
	if f := site.FailureFromError(err); !form.recordProblems(err) && f.Code == "internal" {
		return err
	}
	return p.showRefusal(c, form)
}

// showAccepted shows an evaluation beside its form, or redirects to its page if the browser has no JavaScript.
func (p *Playground) showAccepted(c *fiber.Ctx, e work.Evaluation, caller evaluations.Caller) error {
	if !site.WantsFragment(c) {
		return site.Redirect(c, views.EvaluationURL(e.ID))
	}
	page, err := p.evaluationPage(c, e, caller)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusCreated, views.PlaygroundResult(page))
}

func (p *Playground) showPlayground(c *fiber.Ctx, status int, form *playgroundForm) error {
	workers, err := p.site.Store.Fleet.Workers(c.UserContext())
	if err != nil {
		return err
	}
	page := views.PlaygroundPage{Page: p.site.Page(c, "Playground", "playground"), Fields: form.fields,
		Rows:     form.rowCount,
		Problems: form.problems, Examples: exampleNames()}
	page.HasStream, page.FullWidth = page.Viewer != nil, true
	for _, u := range evaluations.Devices(workers, p.site.Now()) {
		page.Devices = append(page.Devices, u.Name)
	}
	if page.Off, err = p.site.Store.Switches.FirstOffSentence(c.UserContext(), switches.EvaluationsSwitch); err != nil {
		return err
	}
	if user := site.Viewer(c); user != nil {
		if page.Recent, err = p.site.Store.Work.Evaluations(c.UserContext(), work.Requester{User: *user}, 0, recentEvaluations); err != nil {
			return err
		}
	}
	return p.site.Render(c, status, views.Playground(page))
}

// Evaluation shows an evaluation. For htmx it renders only the part that changes.
func (p *Playground) Evaluation(c *fiber.Ctx) error {
	e, caller, err := p.evaluations.ReadableEvaluation(c, c.Params("id"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store") // no cache may show it after its owner has stopped sharing it
	page, err := p.evaluationPage(c, e, caller)
	if err != nil {
		return err
	}
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.EvaluationState(page))
	}
	if page.Sources, err = p.evaluationSources(e); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Evaluation(page))
}

func (p *Playground) evaluationPage(
	c *fiber.Ctx, e work.Evaluation, caller evaluations.Caller,
) (views.EvaluationPage, error) {
	page := views.EvaluationPage{
		Page: p.site.Page(c, views.EvaluationTitle(e), "playground"),
		Of:   e,
		Mine: caller.MayChange(e),
	}
	if e.HasRequest() && !e.IsLarge() {
		page.Request = indentJSON(e.Request)
	}
	var err error
	if page.Lack, err = p.evaluations.MissingWorkerText(c.UserContext(), e); err != nil {
		return page, err
	}
	page.HasStream, page.NeedsChartStyle = !e.State.IsFinal(), e.Kind == string(kernelrun.KindCompile)
	if e.Result != nil {
		result, err := evaluations.DecodeResult(e)
		if err != nil {
			return page, err
		}
		page.Result = &result
	}
	if page.NeedsChartStyle && page.Request != "" {
		request, err := evaluations.DecodeRequest(e)
		if err != nil {
			return page, err
		}
		submitted, err := tasks.UnpackSubmission([]byte(request.CustomKernel.Source))
		if err != nil {
			return page, err
		}
		page.Compiled = strings.Split(strings.TrimSuffix(string(submitted.Source), "\n"), "\n")
	}
	return page, nil
}

// evaluationSources returns the highlighted sources of an evaluation.
func (p *Playground) evaluationSources(e work.Evaluation) (list []views.EvaluationSource, err error) {
	if !e.HasRequest() || e.IsLarge() {
		return nil, nil
	}
	request, err := evaluations.DecodeRequest(e)
	if err != nil || request.Kind == kernelrun.KindCompile { // the result of a compilation already has the source
		return nil, err
	}
	page := p.highlighter.NewSourceLimiter()
	add := func(title string, code kernelrun.KernelCode) {
		name := strings.ToLower(title)
		extension := ".py"
		if code.KernelType == "cuda" {
			extension = ".cu"
		}
		file := page.ColorFile(name+extension, name+"-", []byte(code.Source))
		list = append(list, views.EvaluationSource{Title: title, Type: code.KernelType, File: file})
		for _, beside := range slices.Sorted(maps.Keys(code.Files)) {
			file := page.ColorFile(beside, name+"-"+beside+"-", []byte(code.Files[beside]))
			list = append(list, views.EvaluationSource{Title: title + ": " + beside, Type: code.KernelType, File: file})
		}
	}
	add("Kernel", request.CustomKernel)
	if request.RefKernel != nil {
		add("Reference", *request.RefKernel)
	}
	return list, nil
}

// EvaluationCancel cancels an evaluation.
func (p *Playground) EvaluationCancel(c *fiber.Ctx) error {
	e, err := p.evaluations.ChangeableEvaluation(c, c.Params("id"))
	if err != nil {
		return err
	}
	err = p.site.Dispatcher.CancelEvaluation(c.UserContext(), e.ID, "It was cancelled.")
	if err != nil && db.KindOf(err) != db.Conflict { // a conflict means that it has just ended
		return err
	}
	return site.Redirect(c, views.EvaluationURL(e.ID))
}

// EvaluationShare turns sharing of an evaluation on or off.
func (p *Playground) EvaluationShare(c *fiber.Ctx) error {
	e, err := p.evaluations.ChangeableEvaluation(c, c.Params("id"))
	if err != nil {
		return err
	}
	if _, err := p.evaluations.SetShared(c.UserContext(), e.ID, c.FormValue("shared") == "true"); err != nil {
		return err
	}
	return site.Redirect(c, views.EvaluationURL(e.ID))
}
