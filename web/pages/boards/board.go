package boards

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/submissions"
	"warpboard/models/switches"
	"warpboard/static"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const boardRowsPerPage = 50 // entries on one page of a board

// Board shows a board. For htmx it renders only the table and the chart.
func (p *Boards) Board(c *fiber.Ctx) error {
	b, err := p.readRequestedBoard(c)
	if err != nil {
		return runs.RedirectToBoardOfDevice(c, b.task, true, err)
	}
	if runs.ClientHasVersion(c, p.boardETag(c, b)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if c.Query("find") != "" {
		if to, err := p.findOnBoard(c, b); to != "" || err != nil {
			return redirectOrFail(c, to, err)
		}
	}
	if err := b.readPage(c.UserContext()); err != nil {
		return err
	}
	// the page number is beyond the last page, perhaps because the board became shorter
	if last := b.LastPage; last > 0 && b.PageNo > last {
		return c.Redirect(b.URL(last), fiber.StatusSeeOther)
	}
	c.Vary("HX-Request")
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.BoardChanged(b.BoardTable))
	}
	return p.boardPage(c, b)
}

func redirectOrFail(c *fiber.Ctx, to string, err error) error {
	if err != nil {
		return err
	}
	return c.Redirect(to, fiber.StatusSeeOther)
}

// boardETag returns an ETag that changes with everything that the page shows: the board, the task, the viewer, the
// program's version, the design, and the hour, because the page shows the time until the deadline.
func (p *Boards) boardETag(c *fiber.Ctx, b *boardRequest) string {
	head := p.site.Page(c, "", "")
	var event views.EventBanner
	if head.EventBanner != nil {
		event = *head.EventBanner
		event.TimeToNext = 0
	}
	var freeze views.BoardFreeze
	if b.Freeze != nil {
		freeze = *b.Freeze
	}
	return site.DeriveToken(fmt.Sprint(c.OriginalURL(), event, freeze, b.version.ID, b.ChangeNumber, b.Offline, b.closedReason, b.task.UpdatedAt, b.task.VersionID, site.WantsFragment(c),
		head.CSRF, head.Theme, head.SandboxOff, site.Actor(c).Name, site.Actor(c).Role, site.Actor(c).UnreadNotices, static.Version(), p.site.Settings.Version, p.site.Now().Format("2006010215")))
}

func (p *Boards) boardPage(c *fiber.Ctx, b *boardRequest) error {
	task, version := b.task, b.version
	page := views.BoardPage{
		Page: p.site.Page(c, task.Title+" on "+b.Device, "tasks"), Task: site.TaskLink(task), Device: b.Device, Devices: task.Devices,
		Version: version.Number, Current: b.Current, Ranking: views.RankingName(version.Definition.RankingBy),
		Harness:  views.HarnessPhrase(version.Definition),
		Deadline: p.site.DeadlineOf(task), Board: b.BoardTable, SelfMeasured: version.Definition.HasOwnHarness, Past: b.pastDay,
		Found: c.Query("find"), Off: b.closedReason,
	}
	if b.Current && task.VisibleTo(accounts.User{}) {
		page.LinkPreview = p.site.LinkPreview(page.Title, boardSummaryText(b.BoardHead),
			string(views.BoardURL(task.Slug, b.Device)))
		page.LinkPreview.HiddenFromSearch = task.Visibility == catalog.Unlisted
	}
	if b.pastDay.IsZero() {
		page.HasStream = true
		page.EventsURL = fmt.Sprintf("/boards/%d/%s/events?after=%d", version.ID, b.Device, b.ChangeNumber)
	}
	var err error
	page.Versions, err = p.otherVersions(c.UserContext(), task, version)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Board(page))
}

// otherVersions returns the numbers of the task's other versions, newest first. Versions are numbered from 1 without
// gaps, so no query is needed if version is the current one.
func (p *Boards) otherVersions(
	ctx context.Context, task catalog.Task, version catalog.TaskVersion,
) (others []int, err error) {
	if version.ID == task.VersionID {
		for n := version.Number - 1; n > 0; n-- {
			others = append(others, n)
		}
		return others, nil
	}
	numbers, err := p.site.Store.Catalog.VersionNumbers(ctx, task.ID)
	return slices.DeleteFunc(numbers, func(n int) bool { return n == version.Number }), err
}

// boardSummaryText returns a sentence about a board, for previews of links.
func boardSummaryText(b boards.BoardHead) string {
	if len(b.Leaders) == 0 {
		return "No entries yet. The first kernel that passes leads the board."
	}
	return fmt.Sprintf("Best of %s: %s.", format.Plural(int(b.PeopleCount), "person", "people"), format.Nanoseconds(b.Leaders[0].ScoreNS))
}

// boardRequest has the parameters of a request for a board, and the data read for it.
type boardRequest struct {
	handlers     *Boards
	task         catalog.Task
	version      catalog.TaskVersion
	pastDay      time.Time // end of the requested day; zero for now
	closedReason string    // reason why the task accepts no submissions now; empty if it does
	views.BoardTable
}

// readRequestedBoard reads the board of the request and its summary. If it returns an error, board has the data that
// was read before it.
func (p *Boards) readRequestedBoard(c *fiber.Ctx) (*boardRequest, error) {
	b := &boardRequest{handlers: p}
	var err error
	if b.task, b.version, err = p.runs.BoardOf(c); err != nil {
		return b, err
	}
	b.Slug, b.Version, b.Current = b.task.Slug, b.version.Number, b.version.ID == b.task.VersionID
	b.PageNo, b.ViewerID, b.Notes = site.PageNumber(c, "page"), site.Actor(c).ID, b.task.NotesArePublic(p.site.Now())
	b.Sources = submissions.MaySeeSource(site.Actor(c), submissions.Submission{}, b.task, p.site.Now())
	if b.BoardHead, err = p.runs.BoardHead(c.UserContext(), b.task, b.version.ID, c.Params("device")); err != nil {
		return b, err
	}
	if b.Current {
		if err = b.readOpenState(c.UserContext()); err != nil {
			return b, err
		}
	}
	switch columns := c.Query("columns"); columns {
	case "", "error", "memory":
		b.Errors, b.Memory = columns == "error", columns == "memory"
	default:
		return b, site.Invalid("columns", "There is no column %q to add: write error or memory.", columns)
	}
	if at := c.Query("at"); at != "" {
		day, err := time.Parse(time.DateOnly, at)
		if err != nil {
			return b, site.Invalid("at", "%q is not a date: write it like 2026-11-01.", at)
		}
		b.pastDay = day.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return b, nil
}

// readOpenState reads whether the task accepts submissions, the event that freezes the board, and whether a connected
// worker has the device.
func (b *boardRequest) readOpenState(ctx context.Context) (err error) {
	s := b.handlers.site
	if workers, ok := s.Store.Fleet.RecentWorkers(s.Now()); ok {
		slots := fleet.CountAllSlots(workers, s.Now())
		b.Offline = slots[b.Device].AcceptingJobs == 0
	}
	if e, frozen := s.Store.Events.FrozenEventOfTask(b.task.ID); frozen {
		b.Freeze = &views.BoardFreeze{Slug: e.Slug, Title: e.Title, FrozenSince: *e.FrozenAt}
		if b.PeopleCount == 0 { // only then, because a board with entries already makes the most queries
			if b.Freeze.ViewerBestNS, err = s.Store.BestFrozenScore(ctx, b.ViewerID, b.version.ID,
				b.Device); err != nil {
				return err
			}
		}
	}
	b.closedReason, err = s.Store.Switches.FirstOffSentence(ctx, switches.SubmissionsSwitch,
		switches.TaskSwitchName(b.task.ID))
	return err
}

// readPage reads the requested page of the board, now or at the requested past day, and the viewer's entry.
func (b *boardRequest) readPage(ctx context.Context) (err error) {
	if !b.pastDay.IsZero() {
		return b.readPastPage(ctx)
	}
	part := boards.BoardPartQuery{Offset: (b.PageNo - 1) * boardRowsPerPage, Limit: boardRowsPerPage,
		ViewerID:        b.ViewerID,
		CompareWithTime: b.handlers.site.Now().UTC().Truncate(time.Hour).AddDate(0, 0, -7)}
	if b.BoardContent, b.Own, err = b.handlers.site.Store.Boards.ReadCachedPart(ctx, b.BoardHead, part); err != nil {
		return err
	}
	b.LastPage = int((b.PeopleCount + boardRowsPerPage - 1) / boardRowsPerPage)
	if len(b.Leaders) > 0 {
		b.FirstRun, b.FirstNS = b.Leaders[0].RunID, b.Leaders[0].ScoreNS
	}
	return nil
}

// readPastPage reads the board at an earlier date and selects one page of it. The result is not cached, because it is
// rarely requested.
func (b *boardRequest) readPastPage(ctx context.Context) (err error) {
	store, version := b.handlers.site.Store.Boards, b.version.ID
	list, bands, err := store.StandingsAt(ctx, version, b.Device, b.pastDay)
	if err != nil {
		return err
	}
	// An earlier board has no epoch and no run that waits for confirmation.
	b.At, b.PeopleCount, b.EpochID, b.RunBeingConfirmed, b.Bands = b.pastDay.Format(time.DateOnly), int64(len(list)), 0, 0, bands
	b.LastPage = (len(list) + boardRowsPerPage - 1) / boardRowsPerPage
	if len(list) > 0 {
		b.FirstRun, b.FirstNS = list[0].RunID, list[0].ScoreNS
	}
	if i := slices.IndexFunc(list, func(e boards.Standing) bool { return e.UserID == b.ViewerID }); i >= 0 {
		b.Own = &list[i]
	}
	from := min((b.PageNo-1)*boardRowsPerPage, len(list))
	b.Standings = list[from:min(from+boardRowsPerPage, len(list))]
	if b.History, err = store.RecordHistory(ctx, version, b.Device); err != nil {
		return err
	}
	b.History = slices.DeleteFunc(b.History, func(r boards.RecordWithHolder) bool { return r.AchievedAt.After(b.pastDay) })
	for i := range b.History {
		b.History[i].HasOlderSoftware = len(list) > 0 && b.History[i].EpochSortKey > list[0].EpochSortKey
	}
	b.Baselines, err = store.Baselines(ctx, []int64{version}, b.Device)
	return err
}

// findOnBoard returns the URL of the row of the person named by ?find= ("me" means the viewer), or "". It searches only
// the current board.
func (p *Boards) findOnBoard(c *fiber.Ctx, b *boardRequest) (to string, err error) {
	text, viewer := strings.TrimSpace(c.Query("find")), site.Actor(c).ID
	var offset int
	if text == "me" && viewer != 0 {
		offset, err = p.site.Store.Boards.FindPerson(c.UserContext(), b.version.ID, b.Device, viewer)
	} else {
		offset, viewer, err = p.site.Store.Boards.FindEntryByName(c.UserContext(), b.version.ID, b.Device, text)
	}
	if db.KindOf(err) == db.NotFound {
		return "", nil
	}
	return fmt.Sprintf("%s#entry-%d", views.BoardTable{BoardHead: b.BoardHead, Slug: b.Slug, Version: b.Version, Current: b.Current, Errors: b.Errors, Memory: b.Memory}.URL(offset/boardRowsPerPage+1), viewer), err
}

// BoardEvents sends the new change number of a board to its open pages, which then reload the table.
func (p *Boards) BoardEvents(c *fiber.Ctx) error {
	versionID, err := site.IDParam(c, "version")
	if err != nil {
		return err
	}
	device, last := c.Params("device"), conns.LastEventID(c)
	if err := p.mayWatchBoard(c, versionID, device); err != nil {
		return err
	}
	send := func(out *conns.Writer, change int64) error {
		if change <= last {
			return nil
		}
		last = change
		_, err := out.Write(conns.FormatEvent(change, "board", fmt.Append(nil, change)))
		return err
	}
	stored := func(ctx context.Context, out *conns.Writer) error {
		change, err := p.site.Store.Boards.ChangeNumber(ctx, versionID, device)
		if err != nil {
			return err
		}
		return send(out, change)
	}
	return p.site.Stream(c, conns.StreamSource{
		Topic: site.BoardTopic(versionID, device), WriteBacklog: stored,
		WriteMessage: func(ctx context.Context, m conns.Message, out *conns.Writer) error {
			if m.ChangeNumber == 0 { // the hub dropped a message, so read the number from the database
				return stored(ctx, out)
			}
			return send(out, m.ChangeNumber)
		},
	})
}

func (p *Boards) mayWatchBoard(c *fiber.Ctx, versionID int64, device string) error {
	version, err := p.site.Store.Catalog.Version(c.UserContext(), versionID)
	if err != nil {
		return err
	}
	task, err := p.site.Store.Catalog.TaskByID(c.UserContext(), version.TaskID)
	if err == nil && !task.VisibleTo(site.Actor(c)) {
		err = db.Errorf(db.NotFound, "There is no version %d.", versionID)
	}
	if err != nil {
		return err
	}
	_, err = p.runs.BoardChangeNumber(c.UserContext(), task, versionID, device)
	return err
}
