package web

import (
	"fmt"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/ncu"
	"warpboard/models"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/views/format"
)

// profileRoutes lists the pages about a run's profile and times, each with the same data for programs.
func (p pages) profileRoutes(r fiber.Router) {
	r.Get("/submissions/:id/runs/:run/profile", p.profileDetails)
	r.Get("/submissions/:id/runs/:run/profile.json", p.profileJSON)
	r.Get("/submissions/:id/runs/:run/profile.csv", p.profileCSV)
	r.Get("/submissions/:id/runs/:run/profile.ncu-rep", p.profileFile)
	r.Get("/compare", p.compare)
	r.Get("/compare.json", p.compareJSON)
	r.Get("/compare.csv", p.compareCSV)
	r.Get("/runs/:id/trace.json", p.trace)
}

// profileDetails shows the profile of one benchmark case of a run.
func (p pages) profileDetails(c *fiber.Ctx) error {
	seen, err := p.seenRunOf(c)
	if err != nil {
		return err
	}
	details, err := p.details(c, seen)
	if err != nil {
		return err
	}
	owner, err := p.store.User(c.UserContext(), seen.sub.UserID)
	if err != nil {
		return err
	}
	first, err := p.firstOf(c.UserContext(), seen.run)
	if err != nil {
		return err
	}
	page := views.ProfilePage{
		Page: p.page(c, fmt.Sprintf("Profile of submission %d", seen.sub.ID), "tasks"), Task: taskRef(seen.task),
		SubmissionID: seen.sub.ID, Owner: personOf(owner.ID, owner.Name), Device: seen.run.Device, ScoreNS: seen.run.ScoreNS,
		Made: seen.run.QueuedAt, Compare: views.CompareURL(first, seen.run.ID), Details: details,
	}
	page.Charts = true
	return p.render(c, fiber.StatusOK, views.Profile(page))
}

func (p pages) details(c *fiber.Ctx, seen seenRun) (vm charts.DetailsVM, err error) {
	path := string(views.ProfileURL(seen.sub.ID, seen.run.ID))
	vm = charts.DetailsVM{Path: path, Query: charts.ReadQuery(queryOf(c))}
	profile, err := p.profileOf(c.UserContext(), seen.run)
	if err != nil {
		return vm, err
	}
	for _, one := range profile.cases {
		vm.Cases = append(vm.Cases, charts.CaseTab{Index: one.Index, Spec: caseSpec(one.Spec)})
	}
	if vm.Report, err = p.report(profile, vm.Query.Case); err != nil {
		return vm, err
	}
	if vm.Report == nil {
		vm.Failure = profile.whyNot(vm.Query.Case)
		return vm, nil
	}
	if vm.Others, err = p.otherEntries(c.UserContext(), seen.run, vm.Query.Case); err != nil {
		return vm, err
	}
	of := fmt.Sprintf("?case=%d", vm.Query.Case)
	vm.JSON, vm.CSV = path+".json"+of, path+".csv"+of
	return vm, p.addSourceLinks(c, seen, profile, &vm)
}

// addSourceLinks leads to the source and the report file, which holds it, those who may see it; from
// others it takes the instructions, too.
func (p pages) addSourceLinks(c *fiber.Ctx, seen seenRun, profile runProfile, vm *charts.DetailsVM) error {
	if !seen.source {
		hideSource(vm.Report)
		vm.SourceHidden = format.Capital("instructions are hidden like the source: "+sourceHidden(seen.task)) + "."
		return nil
	}
	if _, kept := profile.reportFile(vm.Query.Case); kept {
		vm.Download = fmt.Sprintf("%s.ncu-rep?case=%d", vm.Path, vm.Query.Case)
	}
	vm.DownloadNote = profile.notes[reportFileName(vm.Query.Case)]
	version, err := p.store.Version(c.UserContext(), seen.sub.VersionID)
	if err != nil {
		return err
	}
	source := string(views.SourceURL(seen.sub.ID))
	vm.Sources = map[string]string{seen.sub.FileName: source}
	for _, f := range version.Definition.Files {
		if f.IsSubmission() {
			vm.Sources[f.Name] = source
		}
	}
	return nil
}

// queryOf is the request's query in the standard library's form.
func queryOf(c *fiber.Ctx) url.Values {
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return url.Values{} // what cannot be read gets its default
	}
	return values
}

// seenReport reads the report of the case in the address, as far as the one who asks may see it.
func (p pages) seenReport(c *fiber.Ctx) (seen seenRun, index int, report *ncu.Report, err error) {
	if seen, err = p.seenRunOf(c); err != nil {
		return seen, 0, nil, err
	}
	index = charts.ReadQuery(queryOf(c)).Case
	profile, err := p.profileOf(c.UserContext(), seen.run)
	if err != nil {
		return seen, index, nil, err
	}
	if report, err = p.report(profile, index); err == nil && report == nil {
		err = models.Errorf(models.NotFound, "%s", profile.whyNot(index))
	}
	if report != nil && !seen.source {
		hideSource(report)
	}
	return seen, index, report, err
}

func (p pages) profileJSON(c *fiber.Ctx) error {
	seen, index, report, err := p.seenReport(c)
	if err != nil {
		return err
	}
	views := make([]ncu.Views, len(report.Kernels))
	for i := range report.Kernels {
		views[i] = ncu.Derive(&report.Kernels[i])
	}
	return c.JSON(fiber.Map{
		"submission": seen.sub.ID, "run": seen.run.ID, "device": seen.run.Device, "case": index,
		"report": report, "views": views,
	})
}

func (p pages) profileCSV(c *fiber.Ctx) error {
	_, _, report, err := p.seenReport(c)
	if err != nil {
		return err
	}
	return sendCSV(c, report.Table())
}
