package profiles

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
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// comparedRun is one side of a comparison.
type comparedRun struct {
	runs.RunAccess
	owner   models.User
	cases   []job.CaseResult // timed
	profile runs.Profile
}

// Compare lays two runs side by side, or asks which.
func (p *Profiles) Compare(c *fiber.Ctx) error {
	if c.QueryInt("a") <= 0 || c.QueryInt("b") <= 0 || c.QueryInt("as") > 0 || c.QueryInt("bs") > 0 {
		return p.pick(c)
	}
	a, b, err := p.comparedRuns(c)
	if err != nil {
		return err
	}
	index := charts.ReadQuery(queryOf(c)).Case
	vm := charts.CompareVM{A: sideOf(a), B: sideOf(b), Cases: pairCases(a.cases, b.cases)}
	of := fmt.Sprintf("?a=%d&b=%d&case=%d", a.Run.ID, b.Run.ID, index)
	vm.JSON, vm.CSV = "/compare.json"+of, "/compare.csv"+of
	if vm.Pairs, vm.NoProfile, err = p.comparedReports(a, b, index); err != nil {
		return err
	}
	if vm.Files, vm.NoCode, err = p.comparedCode(c.UserContext(), a, b); err != nil {
		return err
	}
	page := views.ComparePage{
		Page: p.Page(c, fmt.Sprintf("Run %d and run %d", a.Run.ID, b.Run.ID), "tasks"), Task: site.TaskRef(a.Task),
		A: a.Run.ID, B: b.Run.ID, Case: index, Cases: tabsOf(a.profile, b.profile), Compare: vm,
	}
	page.Charts = true
	if page.Best, err = p.ownBest(c, a, b); err != nil {
		return err
	}
	return p.Render(c, fiber.StatusOK, views.Compare(page))
}

// ownBest is the viewer's entry on A's board, when it is neither of the two; else 0.
func (p *Profiles) ownBest(c *fiber.Ctx, a, b comparedRun) (int64, error) {
	st, err := p.Store.Place(c.UserContext(), a.Run.VersionID, a.Run.Device, site.Actor(c).ID)
	if models.KindOf(err) == models.NotFound || st.RunID == a.Run.ID || st.RunID == b.Run.ID {
		return 0, nil
	}
	return st.RunID, err
}

func (p *Profiles) comparedRuns(c *fiber.Ctx) (a, b comparedRun, err error) {
	if a, err = p.comparedRun(c, "a"); err != nil {
		return a, b, err
	}
	b, err = p.comparedRun(c, "b")
	return a, b, err
}

func (p *Profiles) comparedRun(c *fiber.Ctx, name string) (r comparedRun, err error) {
	id := c.QueryInt(name)
	if id <= 0 {
		return r, site.Invalid("run", "Say which two runs to compare, as /compare?a=RUN&b=RUN; %s names none.", name)
	}
	if r.RunAccess, err = p.RunByID(c, int64(id)); err != nil {
		return r, err
	}
	if r.owner, err = p.Store.User(c.UserContext(), r.Sub.UserID); err != nil {
		return r, err
	}
	stages, err := p.Store.Stages(c.UserContext(), r.Run.ID)
	if err != nil {
		return r, err
	}
	r.cases = runs.MeasuredStage(runs.StagesOfAttempt(r.Run, stages)).Cases
	for i := range r.cases {
		r.cases[i].Times = nil
	}
	r.profile, err = p.ProfileOf(c.UserContext(), r.Run)
	return r, err
}

func sideOf(r comparedRun) charts.Side {
	s := charts.Side{
		Name: fmt.Sprintf("Submission %d by %s", r.Sub.ID, r.owner.Name), URL: string(views.SubmissionURL(r.Sub.ID)),
		Note: fmt.Sprintf("%s on %s, %s", r.Task.Title, r.Run.Device, r.Run.QueuedAt.UTC().Format("2 Jan 2006, 15:04 UTC")),
	}
	if r.Run.ScoreNS != nil {
		s.Score = format.Nanoseconds(*r.Run.ScoreNS).String()
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
func tabsOf(profiles ...runs.Profile) []charts.CaseTab {
	var tabs []charts.CaseTab
	seen := map[int]bool{}
	for _, p := range profiles {
		for _, c := range p.Cases {
			if !seen[c.Index] {
				seen[c.Index] = true
				tabs = append(tabs, charts.CaseTab{Index: c.Index, Spec: runs.CaseSpec(c.Spec)})
			}
		}
	}
	return tabs
}

// comparedReports compares every kernel of the case; why says what is missing for that.
func (p *Profiles) comparedReports(a, b comparedRun, index int) (pairs []ncu.Pair, why string, err error) {
	reports := make([]*ncu.Report, 2)
	for i, r := range []comparedRun{a, b} {
		if reports[i], err = p.Report(r.profile, index); err != nil {
			return nil, "", err
		}
		if reports[i] == nil {
			return nil, fmt.Sprintf("%s has no profile of this case: %s", []string{"A", "B"}[i], r.profile.MissingReason(index)), nil
		}
	}
	return ncu.Compare(reports[0], reports[1]), "", nil
}

// comparedCode compares the submitted files, for who may see both.
func (p *Profiles) comparedCode(ctx context.Context, a, b comparedRun) ([]charts.FileDiff, string, error) {
	for _, r := range []comparedRun{a, b} {
		if !r.MaySeeSource {
			return nil, fmt.Sprintf("The code is not shown: of submission %d, %s.", r.Sub.ID, runs.SourceHidden(r.Task)), nil
		}
	}
	was, err := p.Store.Source(ctx, a.Sub)
	if err != nil {
		return nil, "", err
	}
	is, err := p.Store.Source(ctx, b.Sub)
	if err != nil {
		return nil, "", err
	}
	name := a.Sub.FileName
	if b.Sub.FileName != name {
		name += " → " + b.Sub.FileName
	}
	return []charts.FileDiff{{Name: name, Lines: diff.Lines(string(was), string(is))}}, "", nil
}
