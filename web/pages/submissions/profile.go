package submissions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/internal/gpuname"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Profile shows the profile of a run for one benchmark case.
func (p *Submissions) Profile(c *fiber.Ctx) error {
	seen, err := p.runs.LoadRun(c)
	if err != nil {
		return err
	}
	return p.showProfile(c, seen, fiber.StatusOK, views.ProfileAgain{})
}

// ProfileAgain profiles the source of a run again with a filter. It shows a refused form again with the reason.
func (p *Submissions) ProfileAgain(c *fiber.Ctx) error {
	seen, err := p.runs.LoadRun(c)
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(c.Body()))
	if err != nil {
		return site.Invalid("form", "The form is incomplete. Send it again.")
	}
	filter, err := runs.ReadProfileFilter(form)
	if err == nil {
		var sub submissions.Submission
		if sub, err = p.runs.ProfileAgain(c.UserContext(), site.Actor(c), seen, filter); err == nil {
			return site.Redirect(c, views.SubmissionURL(sub.ID))
		}
	}
	refused := site.FailureFromError(err)
	if refused.Status == fiber.StatusInternalServerError || !seen.IsOwner {
		return err
	}
	if refused.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	return p.showProfile(c, seen, refused.Status, views.ProfileAgain{Filter: filter, Problem: refused.Message})
}

// showProfile renders the page of a profile. again is the form for another profile, or nil if the viewer may not start
// one.
func (p *Submissions) showProfile(c *fiber.Ctx, seen runs.RunAccess, status int, again views.ProfileAgain) error {
	details, first, err := p.renderProfileCharts(c, seen)
	if err != nil {
		return err
	}
	page := views.ProfilePage{
		Page: p.site.Page(c, fmt.Sprintf("Profile of submission %d", seen.Submission.ID), "tasks"), Task: site.TaskLink(seen.Task),
		Owner: site.PersonLink(seen.Owner.ID, seen.Owner.Name), Run: seen.Run, Compare: views.CompareURL(first, seen.Run.ID), Details: details,
		Filter: seen.ProfileFilter().String(), ScoreBy: seen.Version.Definition.RankingBy,
	}
	if seen.IsOwner && seen.MaySeeTask && seen.Run.Device != gpuname.CPU && !seen.Version.Definition.DisableProfile {
		page.Again = &again
	}
	page.NeedsChartStyle, page.FullWidth = true, true
	address := string(views.ProfileURL(seen.Submission.ID, seen.Run.ID))
	page.LinkPreview = &views.LinkPreview{Title: fmt.Sprintf("Profile of %s by %s on %s", seen.Task.Title, seen.Owner.Name, seen.Run.Device),
		URL: p.site.Settings.BaseURL + address, ImageURL: p.site.PreviewImageURL(), JSONURL: address + ".json"}
	return p.site.Render(c, status, views.Profile(page))
}

// renderProfileCharts renders the charts of a profile, and selects the run that the page offers for a comparison.
func (p *Submissions) renderProfileCharts(c *fiber.Ctx, seen runs.RunAccess) (templ.Component, int64, error) {
	vm, of, leader, err := p.readProfile(c, seen)
	if err != nil {
		return nil, 0, err
	}
	of.ShownView = vm
	of.ShownView.Report = nil // the key has its hash instead
	if vm.PinnedProfile != nil {
		of.ShownView.PinnedProfile = &charts.PinView{Name: vm.PinnedProfile.Name, Note: vm.PinnedProfile.Note}
	}
	return p.cachedCharts(of, func(context.Context) (templ.Component, error) { return charts.Details(vm), nil }), leader, nil
}

// profileData has the data for the charts of a profile.
type profileData struct {
	ShownView       charts.ProfileView // without reports, but with SourceHiddenReason
	Report, PinHash string             // hashes of the report and of the baseline's report
	PinHidden       bool               // the source of the pinned run is hidden
}

// readProfile reads the data for a profile's page, and the run that the page offers for a comparison.
func (p *Submissions) readProfile(
	c *fiber.Ctx, seen runs.RunAccess,
) (vm charts.ProfileView, of profileData, leader int64, err error) {
	path := string(views.ProfileURL(seen.Submission.ID, seen.Run.ID))
	vm = charts.ProfileView{PagePath: path, Query: charts.ReadQuery(queryValues(c))}
	evidence, err := p.runs.StagesAndProfileOf(c.UserContext(), seen)
	if err != nil {
		return vm, of, 0, err
	}
	profile := evidence[seen.Run.ID].Profile
	vm.Query.Case = profile.CaseIndexOrFirst(vm.Query.Case)
	vm.Cases, vm.CaseTimeNS = caseTabs(profile), caseTime(seen.Run, evidence[seen.Run.ID].Stages, vm.Query.Case)
	of.Report = profile.ReportHash(vm.Query.Case)
	if vm.Report, err = p.runs.ReportForViewer(seen.SubmissionAccess, profile, vm.Query.Case); err != nil {
		return vm, of, 0, err
	}
	if vm.Report == nil {
		vm.Failure = profile.MissingReason(vm.Query.Case)
		leader, err = p.runs.BoardLeader(c.UserContext(), seen)
		return vm, of, leader, err
	}
	if vm.OtherDots, leader, err = p.runs.BoardRooflineDots(c.UserContext(), seen, vm.Query.Case); err != nil {
		return vm, of, 0, err
	}
	for _, dot := range vm.OtherDots {
		vm.PinChoices = append(vm.PinChoices, charts.PinChoice{RunID: dot.RunID, Name: dot.Name})
	}
	if err := p.addPin(c, &vm, &of); err != nil {
		return vm, of, 0, err
	}
	query := fmt.Sprintf("?case=%d", vm.Query.Case)
	vm.JSONURL, vm.CSVURL = path+".json"+query, path+".csv"+query
	addSourceLinks(seen, profile, &vm)
	return vm, of, leader, nil
}

// caseTime returns the time of a case that counts in a ranked run (CaseResult.Time), in nanoseconds. It returns 0 if the
// run has no score or the case did not pass.
func caseTime(run work.Run, stages []job.StageResult, index int) float64 {
	if run.ScoreNS == nil {
		return 0
	}
	for _, c := range runs.StageOfScore(stages).Cases {
		if c.Index == index && c.Status == job.StatusPass {
			return c.Time()
		}
	}
	return 0
}

// addPin adds the profile that the viewer chose as a baseline (?pin=).
func (p *Submissions) addPin(c *fiber.Ctx, vm *charts.ProfileView, of *profileData) error {
	id := int64(vm.Query.PinnedRun)
	if id == 0 {
		return nil
	}
	other, err := p.runs.RunByID(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	pin := &charts.PinView{Name: fmt.Sprintf("#%d by %s", other.Submission.ID, other.Owner.Name)}
	profile, err := p.runs.ProfileOf(c.UserContext(), other)
	if err != nil {
		return err
	}
	of.PinHash, of.PinHidden = profile.ReportHash(vm.Query.Case), !other.MaySeeSource
	if pin.Report, err = p.runs.ReportForViewer(other.SubmissionAccess, profile, vm.Query.Case); err != nil {
		return err
	}
	if pin.Report == nil {
		pin.Note = fmt.Sprintf("%s has no profile of this case: %s", pin.Name, profile.MissingReason(vm.Query.Case))
	}
	if !slices.ContainsFunc(vm.PinChoices, func(choice charts.PinChoice) bool { return choice.RunID == id }) {
		vm.PinChoices = append(vm.PinChoices, charts.PinChoice{RunID: id, Name: pin.Name})
	}
	vm.PinnedProfile = pin
	return nil
}

// addSourceLinks adds links to the source files and to ncu's report file, which contains them, if the viewer may see
// the source.
func addSourceLinks(seen runs.RunAccess, profile runs.Profile, vm *charts.ProfileView) {
	if !seen.MaySeeSource {
		vm.SourceHiddenReason = runs.SourcePrivateText("SASS", seen.Task)
		return
	}
	if written, kept := profile.ReportFile(vm.Query.Case); kept {
		vm.DownloadCases = written.LastCase - written.FirstCase + 1
		vm.DownloadURL = fmt.Sprintf("%s.ncu-rep?case=%d", vm.PagePath, vm.Query.Case)
	}
	vm.PTXURL = vm.PagePath + ".ptx"
	vm.DownloadNote = profile.ReportNote(vm.Query.Case)
	vm.SourceURLs = sourceLinks(string(views.SourceURL(seen.Submission.ID))+"#", seen, vm.Report)
}

// sourceLinks returns the links from a report to the submitted files.
func sourceLinks(source string, seen runs.RunAccess, report *ncu.Report) map[string]string {
	def, links := seen.Version.Definition, map[string]string{seen.Submission.FileName: source}
	for _, f := range def.Files {
		if f.IsSubmission() {
			links[f.Name] = source
		}
	}
	if report == nil || len(def.SubmissionFiles) == 0 {
		return links
	}
	for _, kernel := range report.Kernels {
		if kernel.Source == nil {
			continue
		}
		for _, line := range kernel.Source.Lines {
			if name := path.Base(line.SourceFile); links[name] == "" && def.AllowsSubmittedFile(name) {
				links[name] = source + name + "-"
			}
		}
	}
	return links
}

// queryValues returns the request's query as url.Values.
func queryValues(c *fiber.Ctx) url.Values {
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return url.Values{} // invalid values get their defaults
	}
	return values
}

// visibleReport reads the profile report of the case in the path, without parts that the viewer may not see.
func (p *Submissions) visibleReport(c *fiber.Ctx) (seen runs.RunAccess, index int, report *ncu.Report, err error) {
	if seen, err = p.runs.LoadRun(c); err != nil {
		return seen, 0, nil, err
	}
	profile, err := p.runs.ProfileOf(c.UserContext(), seen)
	if err != nil {
		return seen, 0, nil, err
	}
	index = profile.CaseIndexOrFirst(charts.ReadQuery(queryValues(c)).Case)
	if report, err = p.runs.ReportForViewer(seen.SubmissionAccess, profile, index); err == nil && report == nil {
		err = db.Errorf(db.NotFound, "%s", profile.MissingReason(index))
	}
	return seen, index, report, err
}

// ProfileJSON responds with the report of one case, and values derived from it, as JSON.
func (p *Submissions) ProfileJSON(c *fiber.Ctx) error {
	seen, index, report, err := p.visibleReport(c)
	if err != nil {
		return err
	}
	views := make([]ncu.DerivedViews, len(report.Kernels))
	for i := range report.Kernels {
		views[i] = ncu.ViewsOf(&report.Kernels[i])
	}
	return c.JSON(fiber.Map{
		"submission": seen.Submission.ID, "run": seen.Run.ID, "device": seen.Run.Device, "case": index,
		"report": report, "views": views,
	})
}

// ProfileCSV responds with the metrics of one case as CSV.
func (p *Submissions) ProfileCSV(c *fiber.Ctx) error {
	_, _, report, err := p.visibleReport(c)
	if err != nil {
		return err
	}
	return site.SendCSV(c, report.MetricTable())
}

// ProfileText responds with the report of one case as text for terminals and agents.
func (p *Submissions) ProfileText(c *fiber.Ctx) error {
	seen, index, report, err := p.visibleReport(c)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	fmt.Fprintf(c, "Profile of submission %d on %s, benchmark case %d\n", seen.Submission.ID, seen.Run.Device, index)
	if filter := seen.ProfileFilter(); !filter.Empty() {
		fmt.Fprintf(c, "Filter: %s\n", filter)
	}
	fmt.Fprintln(c)
	report.WriteText(c)
	return nil
}

// maxCachedHTML limits the cached HTML of charts, in bytes. A profile has about 60 kB, a comparison 90 kB.
const maxCachedHTML = 32 << 20

// cachedCharts returns a component with charts that are rendered once per key. key must contain everything that the
// charts depend on: the hashes of reports and sources, and the viewer's rights. So cached charts are never outdated.
// make renders charts that are not cached, concurrently at most one per CPU core. If key cannot be encoded as JSON (an
// infinite number), the charts are not cached.
func (p *Submissions) cachedCharts(made any, make func(context.Context) (templ.Component, error)) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		text, err := json.Marshal(made)
		key := sha256.Sum256(text)
		if html, ok := p.chartCache.Get(key); ok && err == nil {
			_, err := w.Write(html)
			return err
		}
		select {
		case p.renderSlots <- struct{}{}:
			defer func() { <-p.renderSlots }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		// another request has rendered the same charts while this one waited
		if html, ok := p.chartCache.Get(key); ok && err == nil {
			_, err := w.Write(html)
			return err
		}
		component, failed := make(ctx)
		if failed != nil {
			return failed
		}
		var html bytes.Buffer
		// The size limit of w also limits the size of html.
		if failed := component.Render(ctx, io.MultiWriter(w, &html)); failed != nil || err != nil {
			return failed
		}
		p.chartCache.Put(key, html.Bytes(), int64(html.Len()))
		return nil
	})
}
