package pages

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/views"
	"warpboard/views/charts/picture"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// board is what an address asks to see of a board, and what was read of it.
type board struct {
	pages   *Pages
	task    catalog.Task
	version catalog.TaskVersion
	head    boards.Head
	number  int       // of the page
	past    time.Time // the end of the day that it is asked for; zero: now
	table   views.BoardTable
	picture views.BoardPicture
}

// askedBoard reads which board an address means, and how it stands in short. With an
// error comes what is known by then.
func (p *Pages) askedBoard(c *fiber.Ctx) (*board, error) {
	b := &board{pages: p, number: site.PageNumber(c, "page")}
	var err error
	if b.task, b.version, err = p.runs.BoardOf(c); err != nil {
		return b, err
	}
	if b.head, err = p.runs.BoardHead(c.UserContext(), b.task, b.version.ID, c.Params("device")); err != nil {
		return b, err
	}
	if b.table.ByEnergy, err = site.ByEnergy(c); err != nil {
		return b, err
	}
	switch columns := c.Query("columns"); columns {
	case "", "error":
		b.table.Errors = columns != ""
	default:
		return b, site.Invalid("columns", "There is no column %q to add: write error.", columns)
	}
	if at := c.Query("at"); at != "" && !b.table.ByEnergy {
		day, err := time.Parse(time.DateOnly, at)
		if err != nil {
			return b, site.Invalid("at", "%q is not a date: write it like 2026-11-01.", at)
		}
		b.past = day.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return b, nil
}

// readAnew asks the store: four questions.
func (b *board) readAnew(ctx context.Context, viewer int64) error {
	b.table = views.BoardTable{
		Slug: b.task.Slug, Device: b.head.Device, Version: b.version.Number, Change: b.head.Change, Size: b.head.Size, PageNo: b.number, Epoch: b.head.Epoch.String(),
		ViewerID: viewer, Current: b.version.ID == b.task.VersionID, Errors: b.table.Errors, ByEnergy: b.table.ByEnergy,
	}
	history, err := b.pages.site.Store.Boards.History(ctx, b.version.ID, b.head.Device)
	if err != nil {
		return err
	}
	var bands []boards.Band
	if b.past.IsZero() {
		bands, err = b.readNow(ctx)
	} else {
		history = slices.DeleteFunc(history, func(r boards.RecordHolder) bool { return r.AchievedAt.After(b.past) })
		bands, err = b.readPast(ctx)
	}
	if err != nil {
		return err
	}
	if !b.table.ByEnergy {
		b.table.LastPage = int((b.table.Size + boardRows - 1) / boardRows)
	}
	b.picture = views.BoardPicture{History: historySteps(history, b.table.ViewerID, b.task.NotesOpen(b.pages.site.Now())), Bands: boardBands(bands, b.table)}
	return b.addBaselines(ctx)
}

// addBaselines puts what the site has measured itself between the entries and into the picture.
func (b *board) addBaselines(ctx context.Context) error {
	list, err := b.pages.site.Store.Boards.Baselines(ctx, b.version.ID, b.head.Device)
	for _, one := range list {
		b.table.Baselines = append(b.table.Baselines, views.BaselineRow{Name: one.Name, RunID: one.RunID, ScoreNS: one.ScoreNS})
		b.picture.Lines = append(b.picture.Lines, picture.Line{Label: one.Name, ScoreNS: one.ScoreNS})
	}
	return err
}

// readNow reads a page of the board as it stands, and the viewer's entry wherever that is.
func (b *board) readNow(ctx context.Context) ([]boards.Band, error) {
	b.table.Confirming = b.head.Confirming
	bands, err := b.pages.site.Store.Boards.Bands(ctx, b.version.ID, b.head.Device)
	if err != nil {
		return nil, err
	}
	part := boards.Part{Offset: (b.number - 1) * boardRows, Limit: boardRows, Viewer: b.table.ViewerID, Before: weekBefore(b.pages.site.Now()), ByEnergy: b.table.ByEnergy}
	if b.table.ByEnergy {
		part.Limit++ // one more tells of another page: counting them all takes too long
	}
	list, err := b.pages.site.Store.Boards.Show(ctx, b.head, bands, part)
	if err != nil {
		return nil, err
	}
	if b.table.ByEnergy {
		b.table.LastPage = b.number + len(list)/(boardRows+1)
		list = list[:min(len(list), boardRows)]
	}
	if len(b.head.Leaders) > 0 {
		b.table.FirstRun, b.table.FirstNS = b.head.Leaders[0].RunID, b.head.Leaders[0].ScoreNS
	}
	b.addEntries(list)
	return bands, nil
}

// readPast reads the board as it stood, and takes its page.
func (b *board) readPast(ctx context.Context) ([]boards.Band, error) {
	list, bands, err := b.pages.site.Store.Boards.Past(ctx, b.version.ID, b.head.Device, b.past)
	b.table.At, b.table.Size = b.past.Format(time.DateOnly), int64(len(list))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	b.table.FirstRun, b.table.FirstNS = list[0].RunID, list[0].ScoreNS
	from := min((b.number-1)*boardRows, len(list))
	to := min(from+boardRows, len(list))
	shown := slices.Clone(list[from:to])
	for i, e := range list {
		if e.UserID == b.table.ViewerID && (i < from || i >= to) {
			e.Beside = true
			shown = append(shown, e)
		}
	}
	b.addEntries(shown)
	return bands, nil
}

func (b *board) addEntries(list []boards.Shown) {
	for _, shown := range list {
		entry := b.entry(shown)
		if shown.Beside {
			b.table.Mine = &entry
		} else {
			b.table.Entries = append(b.table.Entries, entry)
		}
	}
}

func weekBefore(at time.Time) time.Time { return at.AddDate(0, 0, -7) }

// entry is a row; what the last week changed, and that newer software leads, is only known of the board as it stands.
func (b *board) entry(e boards.Shown) views.BoardEntry {
	entry := views.BoardEntry{
		Rank: e.Rank, Tied: e.Tied, Person: site.PersonOf(e.UserID, e.UserName), ScoreNS: e.ScoreNS, ErrNS: e.ErrNS,
		Interval: runs.IntervalOf(e.Interval).From(e.Pooled), Disturbed: e.Disturbed,
		SubmissionID: e.SubmissionID, RunID: e.RunID, Achieved: e.AchievedAt, Tries: e.Tries, Profiled: e.Profiled,
		WeekNS: e.ScoreNS, Roof: e.Roof, ErrorULP: e.ErrorULP, ErrorRelative: e.ErrorRelative, EnergyJ: e.EnergyJ,
	}
	if b.past.IsZero() {
		entry.WeekNS, entry.Older = 0, e.Older(b.head.Board)
		if e.BeforeNS != nil {
			entry.WeekNS = *e.BeforeNS
		}
	}
	return entry
}

// boardBands are the dots of the picture, with the names that the table knows.
func boardBands(bands []boards.Band, table views.BoardTable) []views.BoardBand {
	names, mine := map[int64]string{}, int64(0)
	rows := table.Entries
	if table.Mine != nil {
		rows = append(slices.Clone(rows), *table.Mine)
	}
	for _, e := range rows {
		names[e.RunID] = e.Person.Name
		if e.Person.ID == table.ViewerID && table.ViewerID != 0 {
			mine = int64(e.Rank)
		}
	}
	list := make([]views.BoardBand, len(bands))
	for i, b := range bands {
		list[i] = views.BoardBand{Rank: int(b.Ahead) + 1, Size: int(b.Size), ScoreNS: b.ScoreNS, RunID: b.RunID, Name: names[b.RunID], Mine: b.Ahead+1 == mine}
	}
	return list
}

// findOnBoard is the address of the row of the person that ?find= names, "me" being the viewer; empty: no one is.
// It finds them on the board as it stands.
func (p *Pages) findOnBoard(c *fiber.Ctx, b *board) (to string, err error) {
	text, viewer := strings.TrimSpace(c.Query("find")), site.Actor(c).ID
	var offset int
	if text == "me" && viewer != 0 {
		offset, err = p.site.Store.Boards.FindPerson(c.UserContext(), b.version.ID, b.head.Device, viewer)
	} else {
		offset, viewer, err = p.site.Store.Boards.Find(c.UserContext(), b.version.ID, b.head.Device, text)
	}
	if db.KindOf(err) == db.NotFound {
		return "", nil
	}
	table := views.BoardTable{Slug: b.task.Slug, Device: b.head.Device, Version: b.version.Number, Current: b.version.ID == b.task.VersionID, Errors: b.table.Errors}
	return fmt.Sprintf("%s#entry-%s", table.URL(offset/boardRows+1), strconv.FormatInt(viewer, 10)), err
}
