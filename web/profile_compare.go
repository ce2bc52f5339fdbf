package web

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/models"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/views/diff"
	"warpboard/views/format"
)

// comparedRun is one side of a comparison.
type comparedRun struct {
	seenRun
	owner   models.User
	cases   []job.CaseResult // timed
	profile runProfile
}

// compare lays two runs side by side.
func (p pages) compare(c *fiber.Ctx) error {
	a, b, err := p.comparedRuns(c)
	if err != nil {
		return err
	}
	index := charts.ReadQuery(queryOf(c)).Case
	vm := charts.CompareVM{A: sideOf(a), B: sideOf(b), Cases: pairCases(a.cases, b.cases)}
	of := fmt.Sprintf("?a=%d&b=%d&case=%d", a.run.ID, b.run.ID, index)
	vm.JSON, vm.CSV = "/compare.json"+of, "/compare.csv"+of
	if vm.Pairs, vm.NoProfile, err = p.comparedReports(a, b, index); err != nil {
		return err
	}
	if vm.Files, vm.NoCode, err = p.comparedCode(c.UserContext(), a, b); err != nil {
		return err
	}
	page := views.ComparePage{
		Page: p.page(c, fmt.Sprintf("Run %d and run %d", a.run.ID, b.run.ID), "tasks"), Task: taskRef(a.task),
		A: a.run.ID, B: b.run.ID, Case: index, Cases: tabsOf(a.profile, b.profile), Compare: vm,
	}
	page.Charts = true
	return p.render(c, fiber.StatusOK, views.Compare(page))
}

func (p pages) comparedRuns(c *fiber.Ctx) (a, b comparedRun, err error) {
	if a, err = p.comparedRun(c, "a"); err != nil {
		return a, b, err
	}
	b, err = p.comparedRun(c, "b")
	return a, b, err
}

func (p pages) comparedRun(c *fiber.Ctx, name string) (r comparedRun, err error) {
	id := c.QueryInt(name)
	if id <= 0 {
		return r, invalid("run", "Say which two runs to compare, as /compare?a=RUN&b=RUN; %s names none.", name)
	}
	if r.seenRun, err = p.seeRun(c, int64(id)); err != nil {
		return r, err
	}
	if r.owner, err = p.store.User(c.UserContext(), r.sub.UserID); err != nil {
		return r, err
	}
	stages, err := p.store.Stages(c.UserContext(), r.run.ID)
	if err != nil {
		return r, err
	}
	r.cases = measuredStage(stagesOfAttempt(r.run, stages)).Cases
	for i := range r.cases {
		r.cases[i].Times = nil
	}
	r.profile, err = p.profileOf(c.UserContext(), r.run)
	return r, err
}

func sideOf(r comparedRun) charts.Side {
	s := charts.Side{
		Name: fmt.Sprintf("Submission %d by %s", r.sub.ID, r.owner.Name), URL: string(views.SubmissionURL(r.sub.ID)),
		Note: fmt.Sprintf("%s on %s, %s", r.task.Title, r.run.Device, r.run.QueuedAt.UTC().Format("2 Jan 2006, 15:04 UTC")),
	}
	if r.run.ScoreNS != nil {
		s.Score = format.Nanoseconds(*r.run.ScoreNS).String()
	}
	return s
}

// pairCases puts equal cases beside each other, in A's order, and then what only B ran.
func pairCases(a, b []job.CaseResult) []charts.CasePair {
	var pairs []charts.CasePair
	at := map[string]int{}
	for i := range a {
		at[a[i].Spec] = len(pairs)
		pairs = append(pairs, charts.CasePair{Spec: a[i].Spec, A: &a[i]})
	}
	for i := range b {
		if k, both := at[b[i].Spec]; both {
			pairs[k].B = &b[i]
			continue
		}
		pairs = append(pairs, charts.CasePair{Spec: b[i].Spec, B: &b[i]})
	}
	return pairs
}

// tabsOf are the cases of which there is a report on either side.
func tabsOf(profiles ...runProfile) []charts.CaseTab {
	var tabs []charts.CaseTab
	seen := map[int]bool{}
	for _, p := range profiles {
		for _, c := range p.cases {
			if !seen[c.Index] {
				seen[c.Index] = true
				tabs = append(tabs, charts.CaseTab{Index: c.Index, Spec: caseSpec(c.Spec)})
			}
		}
	}
	return tabs
}

// comparedReports compares every kernel of the case; why says what is missing for that.
func (p pages) comparedReports(a, b comparedRun, index int) (pairs []ncu.Pair, why string, err error) {
	reports := make([]*ncu.Report, 2)
	for i, r := range []comparedRun{a, b} {
		if reports[i], err = p.report(r.profile, index); err != nil {
			return nil, "", err
		}
		if reports[i] == nil {
			return nil, fmt.Sprintf("%s has no profile of this case: %s", []string{"A", "B"}[i], r.profile.whyNot(index)), nil
		}
	}
	return ncu.Compare(reports[0], reports[1]), "", nil
}

// comparedCode compares the submitted files, for who may see both.
func (p pages) comparedCode(ctx context.Context, a, b comparedRun) ([]charts.FileDiff, string, error) {
	for _, r := range []comparedRun{a, b} {
		if !r.source {
			return nil, fmt.Sprintf("The code is not shown: of submission %d, %s.", r.sub.ID, sourceHidden(r.task)), nil
		}
	}
	was, err := p.store.Source(ctx, a.sub)
	if err != nil {
		return nil, "", err
	}
	is, err := p.store.Source(ctx, b.sub)
	if err != nil {
		return nil, "", err
	}
	name := a.sub.FileName
	if b.sub.FileName != name {
		name += " → " + b.sub.FileName
	}
	return []charts.FileDiff{{Name: name, Lines: diff.Lines(string(was), string(is))}}, "", nil
}
