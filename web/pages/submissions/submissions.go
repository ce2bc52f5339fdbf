package submissions

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/internal/cache"
	"warpboard/models/accounts"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/site/runs"
)

// Submissions has the handlers of the pages of submissions, runs, profiles, and comments.
type Submissions struct {
	site        *site.Site
	runs        *runs.Runs
	evaluations *evaluations.Evaluations
	highlighter *views.Highlighter
	chartCache  *cache.Cache[[sha256.Size]byte, []byte] // HTML of charts, see cachedCharts
	renderSlots chan struct{}                           // semaphore: at most one request per CPU core renders charts
}

// New returns the handlers of the pages of submissions.
func New(site *site.Site, runs *runs.Runs, evals *evaluations.Evaluations, code *views.Highlighter) *Submissions {
	return &Submissions{site: site, runs: runs, evaluations: evals, highlighter: code,
		chartCache: cache.New[[sha256.Size]byte, []byte](maxCachedHTML), renderSlots: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Submission shows a submission with its runs. The page contains the URL of a stream that begins with the first event
// after the page's data.
func (p *Submissions) Submission(c *fiber.Ctx) error {
	seen, err := p.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	page := p.submissionPage(c, seen)
	if page.Source = c.Query("tab") == "source"; page.Source {
		err = p.addSource(c.UserContext(), seen, &page)
	} else {
		page.LiveRuns, err = p.runs.LiveRunsOf(c, seen)
		page.HasStream = page.EventsURL != ""
		page.NeedsChartStyle = page.HasStream || slices.ContainsFunc(page.Runs, views.RunCard.HasEnded)
	}
	if err != nil {
		return err
	}
	// lets the page send a timeline to the Perfetto window that it opens
	c.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
	if len(page.Runs) > 0 {
		page.LinkPreview = &views.LinkPreview{Title: fmt.Sprintf("%s by %s", page.Task.Title, page.Owner.Name),
			URL: p.site.Settings.BaseURL + string(views.SubmissionURL(page.ID)), ImageURL: p.site.PreviewImageURL()}
		if first := page.Runs[0]; first.Valid() {
			page.LinkPreview.Description = fmt.Sprintf("%s on %s.", format.Nanoseconds(*first.ScoreNS), first.Device)
		}
	}
	return p.site.Render(c, fiber.StatusOK, views.Submission(page))
}

func (p *Submissions) submissionPage(c *fiber.Ctx, seen runs.SubmissionAccess) views.SubmissionPage {
	return views.SubmissionPage{
		Page: p.site.Page(c, fmt.Sprintf("Submission %d", seen.Submission.ID), "tasks"), ID: seen.Submission.ID, Task: site.TaskLink(seen.Task),
		TaskVersion: seen.Version.Number, NewerVersion: seen.Version.ID != seen.Task.VersionID,
		Owner: site.PersonLink(seen.Owner.ID, seen.Owner.Name), Mode: string(seen.Submission.Mode), Created: seen.Submission.CreatedAt, AddedWhy: seen.Submission.AdminAddedReason, Filter: seen.ProfileFilter().String(),
		Comments: seen.Submission.CommentCount, CommentsOpen: seen.MaySeeTask && seen.Submission.IsSourcePublic(seen.Task, p.site.Now()),
		MayDelete: site.Actor(c).CanPerform(accounts.DeleteSubmission, accounts.OwnerIDs{OwnerID: seen.Submission.UserID}),
	}
}

func (p *Submissions) addSource(ctx context.Context, seen runs.SubmissionAccess, page *views.SubmissionPage) error {
	if !seen.MaySeeSource {
		page.SourceHidden = runs.SourceHiddenReason(seen.Task)
		return nil
	}
	submitted, err := p.site.Store.Submissions.Source(ctx, seen.Submission)
	if err != nil {
		return err
	}
	remarks, err := p.runs.Remarks(ctx, seen, submitted.Names())
	if err != nil {
		return err
	}
	page.Files = runs.SubmittedFiles(p.highlighter, seen.Submission, submitted)
	page.Files[0].Remarks = views.RemarksOnFile(remarks, "")
	for i, name := range submitted.Names() {
		page.Files[i+1].Remarks = views.RemarksOnFile(remarks, name)
	}
	return nil
}

// SubmissionSource responds with the submitted files.
func (p *Submissions) SubmissionSource(c *fiber.Ctx) error {
	seen, err := p.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	if !seen.MaySeeSource {
		return site.Forbidden("source", format.UpperFirst(runs.SourceHiddenReason(seen.Task)))
	}
	submitted, err := p.site.Store.Submissions.Source(c.UserContext(), seen.Submission)
	if err != nil {
		return err
	}
	return runs.SendSource(c, seen.Submission, submitted)
}

// Run responds to htmx with the card of one run, without parts that the viewer may not see.
func (p *Submissions) Run(c *fiber.Ctx) error {
	seen, err := p.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	id, err := site.IDParam(c, "run")
	if err != nil {
		return err
	}
	run, err := p.site.Store.Work.Run(c.UserContext(), id)
	if err != nil {
		return err
	}
	if run.SubmissionID != seen.Submission.ID {
		return site.NotFound(c)
	}
	if !site.WantsFragment(c) { // a browser opened the URL as a page
		return site.Redirect(c, views.SubmissionURL(seen.Submission.ID)+templ.SafeURL(fmt.Sprintf("#run-%d", run.ID)))
	}
	card, err := p.runs.CardForViewer(c, runs.RunAccess{SubmissionAccess: seen, Run: run})
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	return p.site.Render(c, fiber.StatusOK, views.Run(card))
}

// RunAgain submits the source of a run again and redirects to the new submission, or to the workbench if the request
// came from there.
func (p *Submissions) RunAgain(c *fiber.Ctx) error {
	seen, err := p.runs.LoadRun(c)
	if err != nil {
		return err
	}
	sub, err := p.runs.SubmitAgain(c.UserContext(), site.Actor(c), seen)
	if err != nil {
		return err
	}
	solve := views.WorkbenchURL(seen.Task.Slug)
	if from, err := url.Parse(c.Get(fiber.HeaderReferer)); err == nil && strings.HasSuffix(from.Path, string(solve)) {
		return site.Redirect(c, solve+templ.SafeURL(fmt.Sprintf("?run=%d", sub.ID)))
	}
	return site.Redirect(c, views.SubmissionURL(sub.ID))
}

// SubmissionCancel cancels the unfinished runs of a submission.
func (p *Submissions) SubmissionCancel(c *fiber.Ctx) error {
	seen, err := p.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	if err := p.runs.Cancel(c.UserContext(), site.Actor(c), seen.Submission.ID); err != nil {
		return err
	}
	return site.Redirect(c, views.SubmissionURL(seen.Submission.ID)+"?done=cancelled")
}

// RedirectToRun redirects from a run to its card on its submission's page.
func (p *Submissions) RedirectToRun(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	run, err := p.site.Store.Work.Run(c.UserContext(), id)
	if err == nil {
		_, err = p.runs.SubmissionByID(c.UserContext(), site.Actor(c), run.SubmissionID)
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, views.SubmissionURL(run.SubmissionID))
}
