package pages

import (
	"context"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/static"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const boardRows = 50 // entries on one page of a board

// Board shows a ranking: the page, or to htmx only its table.
func (p *Pages) Board(c *fiber.Ctx) error {
	task, version, err := p.BoardOf(c)
	if err != nil {
		return err
	}
	device, number := c.Params("device"), max(c.QueryInt("page", 1), 1)
	change, err := p.BoardChange(c.UserContext(), task, version.ID, device)
	if err != nil {
		return runs.LeadToSilicon(c, task, true, err)
	}
	if runs.Unchanged(c, p.boardTag(c, task, version, change)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	table, err := p.boardTable(c, task, version, number)
	if err != nil {
		return err
	}
	if table.LastPage > 0 && number > table.LastPage { // the board has become shorter, or somebody tried
		return c.Redirect(table.URL(table.LastPage), fiber.StatusSeeOther)
	}
	history, err := p.Store.History(c.UserContext(), version.ID, device)
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	if site.IsFragment(c) {
		return p.Render(c, fiber.StatusOK, views.BoardChanged(table, historySteps(history)))
	}
	return p.boardPage(c, task, version, table, historySteps(history))
}

// boardTag changes with everything that the page shows: the board, the task, who looks, the program, the look itself
// and, because the page says how long the deadline is off, the hour.
func (p *Pages) boardTag(c *fiber.Ctx, task models.Task, version models.TaskVersion, change int64) string {
	head := p.Page(c, "", "")
	return site.DeriveToken(fmt.Sprint(c.OriginalURL(), version.ID, change, task.UpdatedAt, task.VersionID, site.IsFragment(c),
		head.CSRF, head.Theme, head.SandboxOff, site.Actor(c).Name, site.Actor(c).Role, static.Version(), p.Version, p.Now().Format("2006010215")))
}

func (p *Pages) boardTable(c *fiber.Ctx, task models.Task, version models.TaskVersion, number int) (views.BoardTable, error) {
	board, err := p.Store.Board(c.UserContext(), version.ID, c.Params("device"), (number-1)*boardRows, boardRows)
	if err != nil {
		return views.BoardTable{}, err
	}
	table := views.BoardTable{
		Slug: task.Slug, Device: board.Device, Version: version.Number, Change: board.Change, Size: board.Size,
		FirstNS: board.FirstNS, PageNo: number, LastPage: int((board.Size + boardRows - 1) / boardRows),
		Confirming: board.Confirming, Epoch: board.Epoch.String(), ViewerID: site.Actor(c).ID, Current: version.ID == task.VersionID,
	}
	for _, st := range board.Standings {
		table.Entries = append(table.Entries, boardEntry(board.Board, st))
	}
	if err := p.addOwn(c, board, &table); err != nil {
		return table, err
	}
	return table, p.addProfiles(c.UserContext(), board, &table)
}

func boardEntry(board models.Board, st models.Standing) views.BoardEntry {
	return views.BoardEntry{
		Older: st.Older(board), Rank: st.Rank, Tied: st.Tied, Person: site.PersonOf(st.UserID, st.UserName), ScoreNS: st.ScoreNS, ErrNS: st.ErrNS,
		Interval:     runs.IntervalOf(st.Interval),
		Roof:         st.Roof,
		SubmissionID: st.SubmissionID, RunID: st.RunID, Achieved: st.AchievedAt,
	}
}

// addOwn puts the viewer's entry under a page that it is not on.
func (p *Pages) addOwn(c *fiber.Ctx, board models.BoardPage, table *views.BoardTable) error {
	own := func(st models.Standing) bool { return st.UserID == site.Actor(c).ID }
	if site.Viewer(c) == nil || slices.ContainsFunc(board.Standings, own) {
		return nil
	}
	st, err := p.Store.Place(c.UserContext(), board.VersionID, board.Device, site.Actor(c).ID)
	switch {
	case models.KindOf(err) == models.NotFound:
		return nil
	case err != nil:
		return err
	}
	entry := boardEntry(board.Board, st)
	table.Mine = &entry
	return nil
}

// addProfiles notes which entries have a profile, and the run that all can be compared with.
func (p *Pages) addProfiles(ctx context.Context, board models.BoardPage, table *views.BoardTable) error {
	if len(board.Leaders) > 0 {
		table.FirstRun = board.Leaders[0].RunID
	}
	ids := make([]int64, len(table.Entries))
	for i, e := range table.Entries {
		ids[i] = e.RunID
	}
	profiled, err := p.Store.Profiled(ctx, ids)
	for i := range table.Entries {
		table.Entries[i].Profiled = profiled[table.Entries[i].RunID]
	}
	return err
}

func (p *Pages) boardPage(c *fiber.Ctx, task models.Task, version models.TaskVersion, table views.BoardTable, history []views.HistoryStep) error {
	versions, err := p.Store.VersionNumbers(c.UserContext(), task.ID)
	if err != nil {
		return err
	}
	page := views.BoardPage{
		Page: p.Page(c, task.Title+" on "+table.Device, "tasks"), Task: site.TaskRef(task), Device: table.Device, Devices: task.Devices,
		Version: version.Number, Current: table.Current, Ranking: views.RankingName(version.Definition.RankingBy),
		Harness:  views.HarnessPhrase(version.Definition),
		Deadline: p.DeadlineOf(task), Board: table, SelfMeasured: version.Definition.OwnHarness,
		EventsURL: fmt.Sprintf("/boards/%d/%s/events?after=%d", version.ID, table.Device, table.Change),
	}
	page.Live = true
	page.Versions = slices.DeleteFunc(versions, func(number int) bool { return number == version.Number })
	page.History = history
	return p.Render(c, fiber.StatusOK, views.Board(page))
}

func historySteps(records []models.RecordHolder) []views.HistoryStep {
	steps := make([]views.HistoryStep, len(records))
	for i, r := range records {
		steps[i] = views.HistoryStep{When: r.AchievedAt, ScoreNS: r.ScoreNS, Person: site.PersonOf(r.UserID, r.UserName), SubmissionID: r.SubmissionID}
	}
	return steps
}
