package moderation

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Run shows what was reported and decided about a run, with the forms for what the viewer may do.
func (m *Moderation) Run(c *fiber.Ctx) error {
	page, err := m.runPage(c)
	if err != nil {
		return err
	}
	return m.site.Render(c, fiber.StatusOK, views.RunReview(page))
}

// runOf reads the run in the address, if its submission may be seen.
func (m *Moderation) runOf(c *fiber.Ctx) (run work.Run, seen runs.Access, err error) {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return run, seen, err
	}
	if run, err = m.site.Store.Work.Run(c.UserContext(), id); err != nil {
		return run, seen, err
	}
	seen, err = m.runs.SubmissionByID(c, run.SubmissionID)
	return run, seen, err
}

func (m *Moderation) runPage(c *fiber.Ctx) (page views.RunReviewPage, err error) {
	run, seen, err := m.runOf(c)
	if err != nil {
		return page, err
	}
	viewer, of := site.Actor(c), accounts.Of{OwnerID: run.UserID, AuthorID: seen.Task.OwnerID}
	mayJudge := viewer.May(accounts.DisqualifyRun, of)
	page = views.RunReviewPage{
		Page: m.site.Page(c, fmt.Sprintf("Review of #%d", run.SubmissionID), "tasks"), Run: run, Task: site.TaskRef(seen.Task), Owner: site.PersonOf(seen.Owner.ID, seen.Owner.Name),
		SourceOpen: seen.MaySeeSource, MayReport: run.Valid() && !mayJudge && viewer.May(accounts.ReportRun, of), MayReview: viewer.May(accounts.ReviewRun, of),
		MayDisqualify: (run.Valid() || run.HeldWhy != "") && mayJudge,
		MayReinstate:  run.DisqualifiedAt != nil && mayJudge && viewer.May(accounts.ReinstateRun, accounts.Of{OwnerID: run.DisqualifiedBy}),
	}
	if err := m.addNote(c, run, seen, &page); err != nil {
		return page, err
	}
	if page.Decisions, err = m.site.Store.Accounts.Decisions(c.UserContext(), run.ID); err != nil {
		return page, err
	}
	if page.Flags, err = m.site.Store.Flags(c.UserContext(), viewer, run, seen.Task); err == nil {
		err = m.addSource(c, seen, &page)
	}
	for _, flag := range page.Flags {
		page.Open = page.Open || flag.ClosedAt == nil
		page.MayReport = page.MayReport && !(flag.ClosedAt == nil && flag.UserID == viewer.ID)
	}
	return page, err
}

// addSource fills in the source, for reviewers who may read it.
func (m *Moderation) addSource(c *fiber.Ctx, seen runs.Access, page *views.RunReviewPage) error {
	if !page.MayReview || !page.SourceOpen {
		return nil
	}
	submitted, err := m.site.Store.Submissions.Source(c.UserContext(), seen.Sub)
	if err != nil {
		return err
	}
	page.Files = runs.SubmittedFiles(m.code, seen.Sub, submitted)
	for _, flag := range page.Flags {
		for _, found := range flaggedLine.FindAllStringSubmatch(flag.Detail, -1) {
			line, _ := strconv.Atoi(found[1])
			page.Files[0].Remarks = append(page.Files[0].Remarks, views.Remark{Line: line, Text: flag.Detail})
		}
	}
	return nil
}

// flaggedLine finds the lines of the main file that a report or a hint names.
var flaggedLine = regexp.MustCompile(`(?i)\blines? (\d{1,6})`)

// addNote fills in the owner's note on a record, for viewers who may read it, and who may change it.
func (m *Moderation) addNote(c *fiber.Ctx, run work.Run, seen runs.Access, page *views.RunReviewPage) (err error) {
	viewer := site.Actor(c)
	page.NoteOpen = seen.Task.NotesOpen(m.site.Now())
	page.MayRemoveNote = viewer.May(accounts.RemoveNote, accounts.Of{AuthorID: seen.Task.OwnerID})
	own := viewer.SignedIn() && viewer.ID == run.UserID
	if page.NoteOpen || own || page.MayRemoveNote {
		page.Note = run.Note
	}
	if own && run.ScoreNS != nil {
		page.MayNote, err = m.site.Store.WasRecord(c.UserContext(), run)
	}
	return err
}

// Report asks for a review of a run.
func (m *Moderation) Report(c *fiber.Ctx) error {
	return m.act(c, "report", "reported", func(ctx context.Context, actor accounts.User, id int64, why string) ([]boards.Change, error) {
		return nil, m.site.Store.Report(ctx, actor, id, why)
	})
}

// Note stores or removes a person's note on their own record.
func (m *Moderation) Note(c *fiber.Ctx) error {
	return m.act(c, "note", "saved", m.site.Store.SetNote)
}

// Dismiss closes the flags of a run that is fine.
func (m *Moderation) Dismiss(c *fiber.Ctx) error {
	return m.act(c, "dismiss", "dismissed", m.site.Store.Dismiss)
}

// Disqualify takes a run off its board.
func (m *Moderation) Disqualify(c *fiber.Ctx) error {
	return m.act(c, "disqualify", "disqualified", m.site.Store.Disqualify)
}

// Reinstate lets a disqualified run count again.
func (m *Moderation) Reinstate(c *fiber.Ctx) error {
	return m.act(c, "reinstate", "reinstated", m.site.Store.Reinstate)
}

// act does something to the run in the address for the reason in the form. A refusal comes back with the form.
func (m *Moderation) act(c *fiber.Ctx, name, done string, do func(context.Context, accounts.User, int64, string) ([]boards.Change, error)) error {
	run, _, err := m.runOf(c)
	if err != nil {
		return err
	}
	why := c.FormValue("reason")
	changes, err := do(c.UserContext(), site.Actor(c), run.ID, why)
	switch kind := db.KindOf(err); {
	case err == nil:
		m.announce(changes)
		return c.Redirect(views.RunReviewURL(run.ID)+"?done="+done, fiber.StatusSeeOther)
	case kind != db.Invalid && kind != db.Conflict && kind != db.TooMany:
		return err
	}
	page, pageErr := m.runPage(c)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureOf(err)
	page.Problem, page.Act, page.Typed = refused.Message, name, why
	return m.site.Render(c, refused.Status, views.RunReview(page))
}
