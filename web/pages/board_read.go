package pages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/submissions"
	"warpboard/models/switches"
	"warpboard/views"
	"warpboard/web/site"
)

// board is the query of an address, and the data that was read for it.
type board struct {
	pages   *Pages
	task    catalog.Task
	version catalog.TaskVersion
	past    time.Time // the end of the day that it is asked for; zero: now
	off     string    // why the task takes no submissions for now; empty: it does
	views.BoardTable
}

// askedBoard reads which board an address means, and how it stands in short. With an
// error comes what is known by then.
func (p *Pages) askedBoard(c *fiber.Ctx) (*board, error) {
	b := &board{pages: p}
	var err error
	if b.task, b.version, err = p.runs.BoardOf(c); err != nil {
		return b, err
	}
	b.Slug, b.Version, b.Current = b.task.Slug, b.version.Number, b.version.ID == b.task.VersionID
	b.PageNo, b.ViewerID, b.Notes = site.PageNumber(c, "page"), site.Actor(c).ID, b.task.NotesOpen(p.site.Now())
	b.Sources = submissions.MaySeeSource(site.Actor(c), submissions.Submission{}, b.task, p.site.Now())
	if b.Head, err = p.runs.BoardHead(c.UserContext(), b.task, b.version.ID, c.Params("device")); err != nil {
		return b, err
	}
	if b.Current {
		if err = b.readOpen(c.UserContext()); err != nil {
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
		b.past = day.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return b, nil
}

// readOpen reads whether the task takes submissions, for which event the board is frozen, and whether a worker has the device.
func (b *board) readOpen(ctx context.Context) (err error) {
	s := b.pages.site
	if workers, ok := s.Store.Fleet.Lately(s.Now()); ok {
		slots := fleet.AllSlots(workers, s.Now())
		b.Offline = slots[b.Device].Usable == 0
	}
	if e, frozen := s.Store.Events.FreezeOf(b.task.ID); frozen {
		b.Freeze = &views.BoardFreeze{Slug: e.Slug, Title: e.Title, Since: *e.FrozenAt}
		if b.Size == 0 { // else the page has its most queries
			if b.Freeze.OwnNS, err = s.Store.FrozenBest(ctx, b.ViewerID, b.version.ID, b.Device); err != nil {
				return err
			}
		}
	}
	b.off, err = s.Store.Switches.Sentence(ctx, switches.Submissions, switches.Task(b.task.ID))
	return err
}

// read fills in the page of the board as it stands, or as it stood, and the viewer's entry wherever that is.
func (b *board) read(ctx context.Context) (err error) {
	if !b.past.IsZero() {
		return b.readPast(ctx)
	}
	part := boards.Part{Offset: (b.PageNo - 1) * boardRows, Limit: boardRows, Viewer: b.ViewerID,
		Before: b.pages.site.Now().UTC().Truncate(time.Hour).AddDate(0, 0, -7)}
	if b.Shown, b.Own, err = b.pages.site.Store.Boards.Show(ctx, b.Head, part); err != nil {
		return err
	}
	b.LastPage = int((b.Size + boardRows - 1) / boardRows)
	if len(b.Leaders) > 0 {
		b.FirstRun, b.FirstNS = b.Leaders[0].RunID, b.Leaders[0].ScoreNS
	}
	return nil
}

// readPast reads the board as it stood, and takes its page. Nothing of it is kept: few ask, and each for another day.
func (b *board) readPast(ctx context.Context) (err error) {
	store, version := b.pages.site.Store.Boards, b.version.ID
	list, bands, err := store.Past(ctx, version, b.Device, b.past)
	if err != nil {
		return err
	}
	// That newer software leads, and that a run waits for its confirmation, is only known of the board as it stands.
	b.At, b.Size, b.EpochID, b.Confirming, b.Bands = b.past.Format(time.DateOnly), int64(len(list)), 0, 0, bands
	b.LastPage = (len(list) + boardRows - 1) / boardRows
	if len(list) > 0 {
		b.FirstRun, b.FirstNS = list[0].RunID, list[0].ScoreNS
	}
	if i := slices.IndexFunc(list, func(e boards.Standing) bool { return e.UserID == b.ViewerID }); i >= 0 {
		b.Own = &list[i]
	}
	from := min((b.PageNo-1)*boardRows, len(list))
	b.Standings = list[from:min(from+boardRows, len(list))]
	if b.History, err = store.History(ctx, version, b.Device); err != nil {
		return err
	}
	b.History = slices.DeleteFunc(b.History, func(r boards.RecordHolder) bool { return r.AchievedAt.After(b.past) })
	for i := range b.History {
		b.History[i].Older = len(list) > 0 && b.History[i].Age > list[0].Age
	}
	b.Baselines, err = store.Baselines(ctx, version, b.Device)
	return err
}

// findOnBoard is the address of the row of the person that ?find= names, "me" being the viewer; empty: no one is.
// It finds them on the board as it stands.
func (p *Pages) findOnBoard(c *fiber.Ctx, b *board) (to string, err error) {
	text, viewer := strings.TrimSpace(c.Query("find")), site.Actor(c).ID
	var offset int
	if text == "me" && viewer != 0 {
		offset, err = p.site.Store.Boards.FindPerson(c.UserContext(), b.version.ID, b.Device, viewer)
	} else {
		offset, viewer, err = p.site.Store.Boards.Find(c.UserContext(), b.version.ID, b.Device, text)
	}
	if db.KindOf(err) == db.NotFound {
		return "", nil
	}
	return fmt.Sprintf("%s#entry-%d", views.BoardTable{Head: b.Head, Slug: b.Slug, Version: b.Version, Current: b.Current, Errors: b.Errors, Memory: b.Memory}.URL(offset/boardRows+1), viewer), err
}
