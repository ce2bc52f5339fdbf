package share

import (
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/static"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Share are the handlers of this room.
type Share struct {
	site    *site.Site
	runs    *runs.Runs
	packing chan struct{} // has room for as many as there are cores
}

// New returns them.
func New(site *site.Site, runs *runs.Runs) *Share {
	return &Share{site: site, runs: runs, packing: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// board is a current board that everyone may see.
type board struct {
	task catalog.Task
	head boards.Head
}

// boardOf reads the board in the address.
func (s *Share) boardOf(c *fiber.Ctx) (b board, err error) {
	if b.task, err = s.runs.VisibleTask(c.UserContext(), accounts.User{}, c.Params("slug")); err != nil {
		return b, err
	}
	b.head, err = s.runs.BoardHead(c.UserContext(), b.task, b.task.VersionID, c.Params("device"))
	return b, err
}

// path is the board's own page.
func (b board) path() string { return boardPath(b.task.Slug, b.head.Device) }

// name says which board it is.
func (b board) name() string { return b.task.Title + " on " + b.head.Device }

// send answers with something that other sites show, or with 304 if the reader has it already.
func (s *Share) send(c *fiber.Ctx, kind string, tag any, make func() ([]byte, error)) error {
	if runs.Unchanged(c, site.DeriveToken(fmt.Sprint(c.OriginalURL(), tag, static.Version(), s.site.Settings.Version))) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	data, err := make()
	if err != nil {
		return err
	}
	c.Set("Cross-Origin-Resource-Policy", "cross-origin")
	c.Set(fiber.HeaderContentType, kind)
	return c.Send(data)
}

// Card is the picture that other sites show beside a link to this one: static, because title and description are text.
func (s *Share) Card(c *fiber.Ctx) error {
	return s.send(c, "image/png", "card", func() ([]byte, error) { return fs.ReadFile(static.Files(), "card.png") })
}

// run is a run that everyone may see.
func (s *Share) runOf(c *fiber.Ctx) (run work.Run, task catalog.Task, err error) {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return run, task, err
	}
	if run, err = s.site.Store.Work.Run(c.UserContext(), id); err != nil {
		return run, task, err
	}
	sub, err := s.site.Store.Submissions.Submission(c.UserContext(), run.SubmissionID)
	if err != nil {
		return run, task, err
	}
	if task, err = s.site.Store.Catalog.TaskByID(c.UserContext(), sub.TaskID); err != nil {
		return run, task, err
	}
	if !task.VisibleTo(accounts.User{}) || sub.HiddenFrom(accounts.User{}) {
		return run, task, db.Errorf(db.NotFound, "There is no run %d.", id)
	}
	return run, task, nil
}

// standing is a run's entry; nil if it is not an entry, or has older software than the board and so no rank.
func (s *Share) standing(c *fiber.Ctx, run work.Run) (*boards.Standing, error) {
	st, err := s.site.Store.Boards.Place(c.UserContext(), run.VersionID, run.Device, run.UserID)
	if db.KindOf(err) == db.NotFound || err == nil && (st.RunID != run.ID || st.Stale) {
		return nil, nil
	}
	return &st, err
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
