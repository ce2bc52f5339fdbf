package operation

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const reviewRowsPerPage = 50 // on one page, and in one decision

// ReviewQueue lists the runs that wait for a review, filtered by the query.
func (p *Operation) ReviewQueue(c *fiber.Ctx) error {
	page := views.ReviewPage{
		Page:             p.site.Page(c, "Runs to review", "moderation"),
		Filter:           reviewFilter(c.Query),
		PreselectedGroup: c.Query("tick"),
	}
	page.Filter.AfterFlagID, page.Filter.Limit = int64(c.QueryInt("after")), reviewRowsPerPage+1
	var err error
	if page.Rows, err = p.site.Store.ReviewQueue(c.UserContext(), site.Actor(c), page.Filter); err != nil {
		return err
	}
	if page.Counts, err = p.site.Store.ReviewCounts(c.UserContext(), site.Actor(c)); err != nil {
		return err
	}
	if len(page.Rows) > reviewRowsPerPage {
		page.Rows, page.NextFlagID = page.Rows[:reviewRowsPerPage], page.Rows[reviewRowsPerPage-1].OldestFlagID
	}
	if page.Comments, err = p.site.Store.Comments.ReportedComments(c.UserContext(), site.Actor(c),
		reviewRowsPerPage); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Review(page))
}

// reviewFilter reads the filter of the list from a query or a form.
func reviewFilter(field func(string, ...string) string) models.ReviewFilter {
	return models.ReviewFilter{
		Task:     field("task"),
		Kind:     review.FlagKind(field("kind")),
		Priority: views.ReviewPriorityByName(field("priority")),
	}
}

// ReviewDismiss closes the flags of several runs with one reason.
func (p *Operation) ReviewDismiss(c *fiber.Ctx) error {
	return p.decideRuns(c, "dismissed", p.site.Store.DismissFlags)
}

// ReviewDisqualify disqualifies several runs with one reason. It first asks for confirmation.
func (p *Operation) ReviewDisqualify(c *fiber.Ctx) error {
	if c.FormValue("confirmed") == "" {
		return p.askDisqualify(c)
	}
	return p.decideRuns(c, "disqualified", p.site.Store.Disqualify)
}

// askDisqualify asks for confirmation to disqualify the selected runs, except those already reviewed.
func (p *Operation) askDisqualify(c *fiber.Ctx) error {
	ids, err := selectedRuns(c)
	if err != nil {
		return err
	}
	rows, err := p.site.Store.ReviewQueue(c.UserContext(), site.Actor(c), models.ReviewFilter{
		RunIDs: ids,
		Limit:  reviewRowsPerPage,
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return site.Invalid("run", "None of these runs is waiting for your review.")
	}
	title := fmt.Sprintf("Disqualify %s?", format.Plural(len(rows), "run", "runs"))
	return p.site.Render(c, fiber.StatusOK, views.ReviewConfirm(views.ReviewPage{
		Page: p.site.Page(c, title, "moderation"), Filter: reviewFilter(c.FormValue), Rows: rows,
	}, c.FormValue("reason")))
}

// selectedRuns returns the IDs of the runs that are selected in a form.
func selectedRuns(c *fiber.Ctx) (ids []int64, err error) {
	ticked := c.Request().PostArgs().PeekMulti("run")
	if len(ticked) == 0 || len(ticked) > reviewRowsPerPage {
		return nil, site.Invalid("run", "Select at least one run, and at most %d.", reviewRowsPerPage)
	}
	for _, text := range ticked {
		id, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil, site.Invalid("run", "A run is given by its number, not by %.20q.", text)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// decideRuns calls decide for the selected runs, except those that another person has reviewed since the page was
// loaded.
func (p *Operation) decideRuns(
	c *fiber.Ctx, done string, decide func(context.Context, accounts.User, int64, string) ([]boards.ChangedBoard, error),
) error {
	ids, err := selectedRuns(c)
	if err != nil {
		return err
	}
	for _, id := range ids {
		changes, err := decide(c.UserContext(), site.Actor(c), id, c.FormValue("reason"))
		if err != nil && db.KindOf(err) != db.Conflict {
			return err
		}
		p.announceBoards(changes)
	}
	return c.Redirect(views.ReviewURL(reviewFilter(c.FormValue), "done", done), fiber.StatusSeeOther)
}

// RunReview shows the reports and decisions about a run, with forms for the decisions that the viewer may make.
func (p *Operation) RunReview(c *fiber.Ctx) error {
	page, err := p.runPage(c)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.RunReview(page))
}

// runOfPath reads the run of the path, if the viewer may see its submission.
func (p *Operation) runOfPath(c *fiber.Ctx) (run work.Run, seen runs.SubmissionAccess, err error) {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return run, seen, err
	}
	if run, err = p.site.Store.Work.Run(c.UserContext(), id); err != nil {
		return run, seen, err
	}
	seen, err = p.runs.SubmissionByID(c.UserContext(), site.Actor(c), run.SubmissionID)
	return run, seen, err
}

func (p *Operation) runPage(c *fiber.Ctx) (page views.RunReviewPage, err error) {
	run, seen, err := p.runOfPath(c)
	if err != nil {
		return page, err
	}
	viewer, of := site.Actor(c), accounts.OwnerIDs{OwnerID: run.UserID, AuthorID: seen.Task.OwnerID}
	mayJudge := viewer.CanPerform(accounts.DisqualifyRun, of)
	page = views.RunReviewPage{
		Page: p.site.Page(c, fmt.Sprintf("Review of #%d", run.SubmissionID), "tasks"), Run: run, Task: site.TaskLink(seen.Task), Owner: site.PersonLink(seen.Owner.ID, seen.Owner.Name),
		MayReadSource: seen.MaySeeSource, MayReport: run.Valid() && !mayJudge && viewer.CanPerform(accounts.ReportRun, of), MayReview: viewer.CanPerform(accounts.ReviewRun, of),
		MayDisqualify: (run.Valid() || run.HeldReason != "") && mayJudge,
		MayReinstate:  run.DisqualifiedAt != nil && mayJudge && viewer.CanPerform(accounts.ReinstateRun, accounts.OwnerIDs{OwnerID: run.DisqualifiedBy}),
	}
	if err := p.addNote(c, run, seen, &page); err != nil {
		return page, err
	}
	if page.Decisions, err = p.site.Store.Accounts.RunDecisions(c.UserContext(), run.ID); err != nil {
		return page, err
	}
	if page.Flags, err = p.site.Store.Flags(c.UserContext(), viewer, run, seen.Task); err == nil {
		err = p.addSource(c, seen, &page)
	}
	for _, flag := range page.Flags {
		page.HasOpenFlag = page.HasOpenFlag || flag.ClosedAt == nil
		page.MayReport = page.MayReport && !(flag.ClosedAt == nil && flag.ReporterID == viewer.ID)
	}
	return page, err
}

// addSource adds the source of the run, if the viewer may read it.
func (p *Operation) addSource(c *fiber.Ctx, seen runs.SubmissionAccess, page *views.RunReviewPage) error {
	if !page.MayReview || !page.MayReadSource {
		return nil
	}
	submitted, err := p.site.Store.Submissions.Source(c.UserContext(), seen.Submission)
	if err != nil {
		return err
	}
	page.Files = runs.SubmittedFiles(p.highlighter, seen.Submission, submitted)
	for _, flag := range page.Flags {
		for _, found := range flaggedLinePattern.FindAllStringSubmatch(flag.Detail, -1) {
			line, _ := strconv.Atoi(found[1])
			page.Files[0].Remarks = append(page.Files[0].Remarks, views.Remark{Line: line, Text: flag.Detail})
		}
	}
	return nil
}

// flaggedLinePattern matches line numbers of the main file in a report or a flag.
var flaggedLinePattern = regexp.MustCompile(`(?i)\blines? (\d{1,6})`)

// addNote adds the owner's note on a record, if the viewer may read it, and the form if the viewer may change it.
func (p *Operation) addNote(
	c *fiber.Ctx, run work.Run, seen runs.SubmissionAccess, page *views.RunReviewPage,
) (err error) {
	viewer := site.Actor(c)
	page.NoteIsPublic = seen.Task.NotesArePublic(p.site.Now())
	page.MayRemoveNote = viewer.CanPerform(accounts.RemoveRunNote, accounts.OwnerIDs{AuthorID: seen.Task.OwnerID})
	own := viewer.SignedIn() && viewer.ID == run.UserID
	if page.NoteIsPublic || own || page.MayRemoveNote {
		page.Note = run.Note
	}
	if own && run.ScoreNS != nil {
		page.MayNote, err = p.site.Store.IsOrWasRecord(c.UserContext(), run)
	}
	return err
}

// RunReport reports a run for review.
func (p *Operation) RunReport(c *fiber.Ctx) error {
	return p.decideRun(c, "report", "reported", func(ctx context.Context, actor accounts.User, id int64, why string) ([]boards.ChangedBoard, error) {
		return nil, p.site.Store.ReportRun(ctx, actor, id, why)
	})
}

// RunNote stores or deletes the owner's note on a record.
func (p *Operation) RunNote(c *fiber.Ctx) error {
	return p.decideRun(c, "note", "saved", p.site.Store.SetRunNote)
}

// RunDismiss closes the flags of a run without disqualifying it.
func (p *Operation) RunDismiss(c *fiber.Ctx) error {
	return p.decideRun(c, "dismiss", "dismissed", p.site.Store.DismissFlags)
}

// RunDisqualify disqualifies a run.
func (p *Operation) RunDisqualify(c *fiber.Ctx) error {
	return p.decideRun(c, "disqualify", "disqualified", p.site.Store.Disqualify)
}

// RunReinstate revokes the disqualification of a run.
func (p *Operation) RunReinstate(c *fiber.Ctx) error {
	return p.decideRun(c, "reinstate", "reinstated", p.site.Store.Reinstate)
}

// decideRun calls do for the run of the path with the reason in the form, and redirects with the notice done. It shows
// an error in the form.
func (p *Operation) decideRun(
	c *fiber.Ctx, name, done string, do func(context.Context, accounts.User, int64, string) ([]boards.ChangedBoard,
		error),
) error {
	run, _, err := p.runOfPath(c)
	if err != nil {
		return err
	}
	why := c.FormValue("reason")
	changes, err := do(c.UserContext(), site.Actor(c), run.ID, why)
	switch kind := db.KindOf(err); {
	case err == nil:
		p.announceBoards(changes)
		return c.Redirect(views.RunReviewURL(run.ID)+"?done="+done, fiber.StatusSeeOther)
	case kind != db.Invalid && kind != db.Conflict && kind != db.TooMany:
		return err
	}
	page, pageErr := p.runPage(c)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureFromError(err)
	page.RefusalReason, page.RefusedFormName, page.RefusedText = refused.Message, name, why
	return p.site.Render(c, refused.Status, views.RunReview(page))
}

// SimilarSources lists similar sources of different people on a task's boards.
func (p *Operation) SimilarSources(c *fiber.Ctx) error {
	ctx, viewer := c.UserContext(), site.Actor(c)
	task, err := p.runs.VisibleTask(ctx, viewer, c.Params("slug"))
	if err != nil {
		return err
	}
	if err := viewer.CheckPermission(accounts.ReviewRun, accounts.OwnerIDs{AuthorID: task.OwnerID}); err != nil {
		return err
	}
	given, err := p.site.Store.Catalog.CurrentBundle(ctx, task)
	if err != nil {
		return err
	}
	found, err := p.site.Store.Likeness.FindSimilarPairs(ctx, viewer, task, given)
	if err != nil {
		return err
	}
	page := views.SimilarPage{Page: p.site.Page(c, "Similar sources", "tasks"), Task: site.TaskLink(task), Found: found}
	return p.site.Render(c, fiber.StatusOK, views.Similar(page))
}

// announceBoards notifies open pages of changed boards.
func (p *Operation) announceBoards(changes []boards.ChangedBoard) {
	for _, b := range changes {
		p.site.Hub.BoardChanged(b.VersionID, b.Device, b.ChangeNumber)
	}
}
