package web

import (
	"context"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/static"
	"warpboard/views"
)

const boardRows = 50 // entries on one page of a board

// board shows a ranking: the page, or to htmx only its table.
func (p *Pages) board(c *fiber.Ctx) error {
	task, version, err := p.boardOf(c)
	if err != nil {
		return err
	}
	device, number := c.Params("device"), max(c.QueryInt("page", 1), 1)
	change, err := p.boardChange(c.UserContext(), task, version.ID, device)
	if err != nil {
		return err
	}
	if unchanged(c, p.boardTag(c, task, version, change)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	table, err := p.boardTable(c, task, version, number)
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	if isFragment(c) {
		return p.render(c, fiber.StatusOK, views.Ranking(table))
	}
	return p.boardPage(c, task, version, table)
}

// boardTag changes with everything that the page shows: the board, the task, who looks, the look itself
// and, because the page says how long the deadline is off, the hour.
func (p *Pages) boardTag(c *fiber.Ctx, task models.Task, version models.TaskVersion, change int64) string {
	head := p.page(c, "", "")
	return tokenOf(fmt.Sprint(c.OriginalURL(), version.ID, change, task.UpdatedAt, task.VersionID, isFragment(c),
		head.CSRF, head.Theme, head.SandboxOff, actor(c).Name, actor(c).Role, static.Version(), p.Now().Format("2006010215")))
}

func (p *Pages) boardTable(c *fiber.Ctx, task models.Task, version models.TaskVersion, number int) (views.BoardTable, error) {
	board, err := p.Store.Board(c.UserContext(), version.ID, c.Params("device"), (number-1)*boardRows, boardRows)
	if err != nil {
		return views.BoardTable{}, err
	}
	table := views.BoardTable{
		Slug: task.Slug, Device: board.Device, Version: version.Number, Change: board.Change, Size: board.Size,
		FirstNS: board.FirstNS, PageNo: number, LastPage: int((board.Size + boardRows - 1) / boardRows),
		ViewerID: actor(c).ID, Current: version.ID == task.VersionID,
	}
	for _, st := range board.Standings {
		table.Entries = append(table.Entries, boardEntry(st))
	}
	if err := p.addOwn(c, board, &table); err != nil {
		return table, err
	}
	return table, p.addProfiles(c.UserContext(), board, &table)
}

func boardEntry(st models.Standing) views.BoardEntry {
	return views.BoardEntry{
		Rank: st.Rank, Person: personOf(st.UserID, st.UserName), ScoreNS: st.ScoreNS, ErrNS: st.ErrNS,
		SubmissionID: st.SubmissionID, RunID: st.RunID, Achieved: st.AchievedAt,
	}
}

// addOwn puts the viewer's entry under a page that it is not on.
func (p *Pages) addOwn(c *fiber.Ctx, board models.BoardPage, table *views.BoardTable) error {
	own := func(st models.Standing) bool { return st.UserID == actor(c).ID }
	if viewer(c) == nil || slices.ContainsFunc(board.Standings, own) {
		return nil
	}
	st, err := p.Store.Place(c.UserContext(), board.VersionID, board.Device, actor(c).ID)
	switch {
	case models.KindOf(err) == models.NotFound:
		return nil
	case err != nil:
		return err
	}
	entry := boardEntry(st)
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

func (p *Pages) boardPage(c *fiber.Ctx, task models.Task, version models.TaskVersion, table views.BoardTable) error {
	history, err := p.Store.History(c.UserContext(), version.ID, table.Device)
	if err != nil {
		return err
	}
	versions, err := p.Store.VersionNumbers(c.UserContext(), task.ID)
	if err != nil {
		return err
	}
	page := views.BoardPage{
		Page: p.page(c, task.Title+" on "+table.Device, "tasks"), Task: taskRef(task), Device: table.Device, Devices: task.Devices,
		Version: version.Number, Current: table.Current, Ranking: views.RankingName(version.Definition.RankingBy),
		Harness:  views.HarnessPhrase(version.Definition),
		Deadline: p.deadlineOf(task), Board: table, SelfMeasured: version.Definition.OwnHarness,
		EventsURL: fmt.Sprintf("/boards/%d/%s/events?after=%d", version.ID, table.Device, table.Change),
	}
	page.Live = true
	page.Versions = slices.DeleteFunc(versions, func(number int) bool { return number == version.Number })
	page.History = historySteps(history)
	return p.render(c, fiber.StatusOK, views.Board(page))
}

func historySteps(records []models.RecordHolder) []views.HistoryStep {
	steps := make([]views.HistoryStep, len(records))
	for i, r := range records {
		steps[i] = views.HistoryStep{When: r.AchievedAt, ScoreNS: r.ScoreNS, Person: personOf(r.UserID, r.UserName), SubmissionID: r.SubmissionID}
	}
	return steps
}
