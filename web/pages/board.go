package pages

import (
	"context"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/static"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const boardRows = 50 // entries on one page of a board

// Board shows a ranking: the page, or to htmx only its table and its picture.
func (p *Pages) Board(c *fiber.Ctx) error {
	b, err := p.askedBoard(c)
	if err != nil {
		return runs.RedirectToGPU(c, b.task, true, err)
	}
	if runs.Unchanged(c, p.boardTag(c, b)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if c.Query("find") != "" {
		if to, err := p.findOnBoard(c, b); to != "" || err != nil {
			return leadTo(c, to, err)
		}
	}
	if err := b.read(c.UserContext()); err != nil {
		return err
	}
	if last := b.LastPage; last > 0 && b.PageNo > last { // the board has become shorter, or someone tried
		return c.Redirect(b.URL(last), fiber.StatusSeeOther)
	}
	c.Vary("HX-Request")
	if site.IsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.BoardChanged(b.BoardTable))
	}
	return p.boardPage(c, b)
}

func leadTo(c *fiber.Ctx, to string, err error) error {
	if err != nil {
		return err
	}
	return c.Redirect(to, fiber.StatusSeeOther)
}

// boardTag changes with everything that the page shows: the board, the task, who looks, the program, the look itself
// and, because the page says how long the deadline is off, the hour.
func (p *Pages) boardTag(c *fiber.Ctx, b *board) string {
	head := p.site.Page(c, "", "")
	var event views.EventBanner
	if head.Event != nil {
		event = *head.Event
		event.In = 0
	}
	var freeze views.BoardFreeze
	if b.Freeze != nil {
		freeze = *b.Freeze
	}
	return site.DeriveToken(fmt.Sprint(c.OriginalURL(), event, freeze, b.version.ID, b.Change, b.Offline, b.off, b.task.UpdatedAt, b.task.VersionID, site.IsFragment(c),
		head.CSRF, head.Theme, head.SandboxOff, site.Actor(c).Name, site.Actor(c).Role, site.Actor(c).Unread, static.Version(), p.site.Settings.Version, p.site.Now().Format("2006010215")))
}

func (p *Pages) boardPage(c *fiber.Ctx, b *board) error {
	task, version := b.task, b.version
	page := views.BoardPage{
		Page: p.site.Page(c, task.Title+" on "+b.Device, "tasks"), Task: site.TaskRef(task), Device: b.Device, Devices: task.Devices,
		Version: version.Number, Current: b.Current, Ranking: views.RankingName(version.Definition.RankingBy),
		Harness:  views.HarnessPhrase(version.Definition),
		Deadline: p.site.DeadlineOf(task), Board: b.BoardTable, SelfMeasured: version.Definition.OwnHarness, Past: b.past,
		Found: c.Query("find"), Off: b.off,
	}
	if b.Current && task.VisibleTo(accounts.User{}) {
		page.Share = p.site.ShareOf(page.Title, boardAbout(b.Head), string(views.BoardURL(task.Slug, b.Device)))
		page.Share.Unlisted = task.Visibility == catalog.Unlisted
	}
	if b.past.IsZero() {
		page.Live = true
		page.EventsURL = fmt.Sprintf("/boards/%d/%s/events?after=%d", version.ID, b.Device, b.Change)
	}
	var err error
	page.Versions, err = p.otherVersions(c.UserContext(), task, version)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Board(page))
}

// otherVersions are numbers of the task's other versions, newest first. They count from 1: those before the current
// one are known without asking.
func (p *Pages) otherVersions(ctx context.Context, task catalog.Task, version catalog.TaskVersion) (others []int, err error) {
	if version.ID == task.VersionID {
		for n := version.Number - 1; n > 0; n-- {
			others = append(others, n)
		}
		return others, nil
	}
	numbers, err := p.site.Store.Catalog.VersionNumbers(ctx, task.ID)
	return slices.DeleteFunc(numbers, func(n int) bool { return n == version.Number }), err
}

// boardAbout describes a board in a sentence, for links to it.
func boardAbout(b boards.Head) string {
	if len(b.Leaders) == 0 {
		return "No entries yet. The first kernel that passes leads the board."
	}
	return fmt.Sprintf("Best of %s: %s.", format.Plural(int(b.Size), "person", "people"), format.Nanoseconds(b.Leaders[0].ScoreNS))
}
