package submissions

import (
	"cmp"
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const (
	maxOfferedRuns    = 20 // offered runs of the viewer
	maxOfferedEntries = 10 // offered entries from the top of the board
)

// showRunPicker shows the page for choosing two runs to compare; one may be chosen already. as=A and bs=B select runs
// by submission number, because pages do not show run numbers.
func (p *Submissions) showRunPicker(c *fiber.Ctx) error {
	chosen, err := p.chosenRuns(c)
	if err != nil {
		return err
	}
	same := chosen[0].Run.ID != 0 && chosen[0].Run.ID == chosen[1].Run.ID
	if same {
		chosen[1] = runs.RunAccess{}
	}
	if chosen[0].Run.ID != 0 && chosen[1].Run.ID != 0 {
		return site.Redirect(c, views.CompareURL(chosen[0].Run.ID, chosen[1].Run.ID))
	}
	page := views.PickPage{
		Page: p.site.Page(c, "Compare two runs", "tasks"),
		A:    chosen[0].Run.ID,
		B:    chosen[1].Run.ID,
		Same: same,
	}
	base := chosen[0]
	if base.Run.ID == 0 {
		base = chosen[1]
	}
	if base.Run.ID == 0 {
		page.Offers, err = p.recentRuns(c.UserContext(), site.Actor(c))
	} else {
		page.Task, page.Device = site.TaskLink(base.Task), base.Run.Device
		page.Offers, err = p.runsToCompare(c, base)
	}
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Pick(page))
}

// chosenRuns reads the chosen runs A and B from the query. A missing one has the zero value.
func (p *Submissions) chosenRuns(c *fiber.Ctx) (chosen [2]runs.RunAccess, err error) {
	for i, name := range []string{"a", "b"} {
		if id := c.QueryInt(name); id > 0 && c.QueryInt(name+"s") <= 0 {
			if chosen[i], err = p.runs.RunByID(c.UserContext(), site.Actor(c), int64(id)); err != nil {
				return chosen, err
			}
		}
	}
	for i, name := range []string{"as", "bs"} {
		if id := c.QueryInt(name); id > 0 {
			if chosen[i], err = p.runOnDevice(c, int64(id), chosen[1-i].Run.Device); err != nil {
				return chosen, err
			}
		}
	}
	return chosen, nil
}

// runOnDevice returns a submission's run on a device, or its first run if it has none on that device.
func (p *Submissions) runOnDevice(c *fiber.Ctx, submission int64, device string) (seen runs.RunAccess, err error) {
	if seen.SubmissionAccess, err = p.runs.SubmissionByID(c.UserContext(), site.Actor(c), submission); err != nil {
		return seen, err
	}
	list, err := p.site.Store.Work.Runs(c.UserContext(), submission)
	if err != nil || len(list) == 0 {
		return seen, err
	}
	seen.Run = list[0]
	for _, run := range list {
		if run.Device == device {
			seen.Run = run
		}
	}
	return seen, nil
}

// runsToCompare lists candidates for a comparison: the run itself, the first ten entries of its board, the entry above
// the viewer's, and the viewer's own runs.
func (p *Submissions) runsToCompare(c *fiber.Ctx, base runs.RunAccess) ([]views.PickRow, error) {
	ctx, run, viewer := c.UserContext(), base.Run, site.Actor(c)
	of := runPicker{task: site.TaskLink(base.Task)}
	of.addRow("this run", boards.Standing{RankedEntry: boards.RankedEntry{Entry: boards.Entry{RunID: run.ID, SubmissionID: run.SubmissionID, Device: run.Device, AchievedAt: run.QueuedAt}}, UserName: base.Owner.Name}, run.ScoreNS)
	rivals, err := p.runs.Rivals(ctx, base, viewer.ID, maxOfferedEntries)
	if err != nil {
		return nil, err
	}
	for i, st := range rivals.LeadingEntries {
		note := ""
		if i == 0 {
			note = "the first"
		}
		of.addRow(note, st, &st.ScoreNS)
	}
	if above := rivals.EntryAbove; above != nil {
		of.addRow("one place above you", *above, &above.ScoreNS)
	}
	mine, err := p.site.Store.Boards.ValidRuns(ctx, run.VersionID, run.Device, viewer.ID, 0, maxOfferedRuns)
	if err != nil {
		return nil, err
	}
	for i, e := range mine {
		note := ""
		if i == 0 {
			note = "your best"
		}
		of.addRow(note, boards.Standing{RankedEntry: boards.RankedEntry{Entry: e}, UserName: viewer.Name}, &e.ScoreNS)
	}
	return of.pickRows, nil
}

// runPicker collects candidate runs without duplicates. A run that is added twice keeps both notes.
type runPicker struct {
	task     views.TaskRef
	pickRows []views.PickRow
}

func (o *runPicker) addRow(note string, st boards.Standing, score *float64) {
	for i, row := range o.pickRows {
		if row.RunID == st.RunID {
			if note != "" && row.Note != "" {
				note = row.Note + ", " + note
			}
			o.pickRows[i].Note = cmp.Or(note, row.Note)
			return
		}
	}
	o.pickRows = append(o.pickRows, views.PickRow{Note: note, RunID: st.RunID, SubmissionID: st.SubmissionID, Owner: st.UserName,
		Task: o.task, Device: st.Device, ScoreNS: score, When: st.AchievedAt})
}

// recentRuns returns the viewer's latest runs that have a score.
func (p *Submissions) recentRuns(ctx context.Context, viewer accounts.User) (rows []views.PickRow, err error) {
	if !viewer.SignedIn() {
		return nil, nil
	}
	list, err := p.site.Store.Submissions.Submissions(ctx, viewer, submissions.SubmissionFilter{
		UserID:           viewer.ID,
		Limit:            maxOfferedRuns,
		OnlyTableColumns: true,
	})
	for _, sub := range list {
		for _, run := range sub.Runs {
			if run.ScoreNS != nil {
				rows = append(rows, views.PickRow{RunID: run.ID, SubmissionID: sub.ID, Owner: sub.UserName,
					Task: views.TaskRef{Slug: sub.TaskSlug, Title: sub.TaskTitle}, Device: run.Device, ScoreNS: run.ScoreNS, When: run.QueuedAt})
			}
		}
	}
	return rows, err
}
