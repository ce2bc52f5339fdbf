package pages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/internal/cache"
	"warpboard/models/boards"
	"warpboard/views"
	"warpboard/web/site"
)

// mostKeptBoards is how many pages of boards are kept: some 100 kB each.
const mostKeptBoards = 128

// keptBoards keeps what visitors are shown of boards, by all that it was made of: a thousand pages that are open ask for the
// same when a board changes. The change number in a key was read from the database for the very request, so that a
// change by another process of the site counts at once. What only one person sees is never kept. No one writes into what
// it holds.
type keptBoards = cache.Cache[string, keptBoard]

type keptBoard struct {
	table   views.BoardTable
	picture views.BoardPicture
}

// read fills in table and picture: from what is kept, with the viewer's entry, or from the store.
func (b *board) read(c *fiber.Ctx) error {
	ctx, viewer := c.UserContext(), site.Actor(c).ID
	shared := viewer == 0 || b.past.IsZero() && !b.table.ByEnergy
	key := b.key()
	if kept, ok := b.pages.boards.Get(key); ok && shared {
		b.table, b.picture = kept.table, kept.picture
		return b.addViewer(ctx, viewer)
	}
	if err := b.readAnew(ctx, viewer); err != nil {
		return err
	}
	if shared {
		b.pages.boards.Put(key, b.forAll(), 1)
	}
	return nil
}

// key is like boardTag, without what a page has around its table and picture: the board's change number, the task with its
// notes and deadline, what was asked for, and the hour, because rows say what the last week changed.
func (b *board) key() string {
	return fmt.Sprintln(b.version.ID, b.head.Device, b.head.Change, b.task.VersionID, b.task.UpdatedAt.UnixNano(), b.task.NotesOpen(b.pages.site.Now()), b.number,
		b.past.UnixNano(), b.table.Errors, b.table.ByEnergy, b.pages.site.Now().Format(time.DateOnly+" 15"))
}

// forAll is the board without what only its viewer sees.
func (b *board) forAll() keptBoard {
	all := keptBoard{b.table, b.picture}
	all.table.ViewerID, all.table.Mine = 0, nil
	all.picture.History, all.picture.Bands = slices.Clone(b.picture.History), slices.Clone(b.picture.Bands)
	for i := range all.picture.History {
		all.picture.History[i].Own = false
	}
	for i := range all.picture.Bands {
		band := &all.picture.Bands[i]
		band.Mine = false
		if b.table.Mine != nil && band.RunID == b.table.Mine.RunID {
			band.Name = ""
		}
	}
	return all
}

// addViewer shows a person their own on a board that is kept for all; 0: no one.
func (b *board) addViewer(ctx context.Context, viewer int64) error {
	if viewer == 0 {
		return nil
	}
	own, err := b.pages.site.Store.Boards.Show(ctx, b.head, nil, boards.Part{Viewer: viewer, Before: weekBefore(b.pages.site.Now())})
	if err != nil {
		return err
	}
	b.table.ViewerID = viewer
	b.picture.History, b.picture.Bands = slices.Clone(b.picture.History), slices.Clone(b.picture.Bands)
	for i := range b.picture.History {
		b.picture.History[i].Own = b.picture.History[i].Person.ID == viewer
	}
	if len(own) == 0 {
		return nil
	}
	mine := b.entry(own[0])
	if !slices.ContainsFunc(b.table.Entries, func(e views.BoardEntry) bool { return e.RunID == mine.RunID }) {
		b.table.Mine = &mine
	}
	for i := range b.picture.Bands {
		band := &b.picture.Bands[i]
		if band.Mine = band.Rank == mine.Rank; band.RunID == mine.RunID {
			band.Name = mine.Person.Name
		}
	}
	return nil
}
