package boards

import (
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/static"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// publicBoard is the current board of a public task on a device.
type publicBoard struct {
	task      catalog.Task
	boardHead boards.BoardHead
}

// publicBoardOf reads the board of the path. It returns an error unless every visitor may see it.
func (p *Boards) publicBoardOf(c *fiber.Ctx) (b publicBoard, err error) {
	if b.task, err = p.runs.VisibleTask(c.UserContext(), accounts.User{}, c.Params("slug")); err != nil {
		return b, err
	}
	b.boardHead, err = p.runs.BoardHead(c.UserContext(), b.task, b.task.VersionID, c.Params("device"))
	return b, err
}

// path returns the path of the board's page.
func (b publicBoard) path() string { return boardPath(b.task.Slug, b.boardHead.Device) }

// name returns the task's title and the device.
func (b publicBoard) name() string { return b.task.Title + " on " + b.boardHead.Device }

// sendCacheable responds with content for other sites, or with status 304 if the client has it already.
func (p *Boards) sendCacheable(c *fiber.Ctx, kind string, tag any, make func() ([]byte, error)) error {
	if runs.ClientHasVersion(c, site.DeriveToken(fmt.Sprint(c.OriginalURL(), tag, static.Version(), p.site.Settings.Version))) {
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

// PreviewImage responds with the image that other sites show beside links to this site. It is static; the title and the
// description of a link are text.
func (p *Boards) PreviewImage(c *fiber.Ctx) error { return p.sendPicture(c, "card.png") }

func (p *Boards) sendPicture(c *fiber.Ctx, name string) error {
	return p.sendCacheable(c, "image/png", name, func() ([]byte, error) { return fs.ReadFile(static.Files(), name) })
}

// runStanding returns a run's entry on the board. It returns nil if the run is not an entry, or has no rank because its
// software is older than the board's.
func (p *Boards) runStanding(c *fiber.Ctx, run work.Run) (*boards.Standing, error) {
	st, err := p.site.Store.Boards.PersonPlace(c.UserContext(), run.VersionID, run.Device, run.UserID)
	if db.KindOf(err) == db.NotFound || err == nil && (st.RunID != run.ID || st.IsOfOlderEpoch) {
		return nil, nil
	}
	return &st, err
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func boardPath(slug, device string) string {
	return "/tasks/" + url.PathEscape(slug) + "/boards/" + url.PathEscape(device)
}

// BoardCSV responds with all entries of a board as CSV.
func (p *Boards) BoardCSV(c *fiber.Ctx) error {
	b, err := p.publicBoardOf(c)
	if err != nil {
		return err
	}
	list, _, err := p.site.Store.Boards.StandingsAt(c.UserContext(), b.boardHead.VersionID, b.boardHead.Device, p.site.Now())
	if err != nil {
		return err
	}
	rows := [][]string{{"rank", "tied", "person", "person_id", "score_ns", "error_ns", "interval_low_ns", "interval_high_ns", "processes", "tries", "achieved_at", "run", "submission", "pooled_runs", "disturbed",
		"error_ulp", "error_relative", "memory_peak", "validation", "validation_message", "validation_version"}}
	for _, e := range list {
		rows = append(rows, []string{strconv.Itoa(e.Rank), strconv.FormatBool(e.Tied), e.UserName, idNumberText(e.UserID), format.ExactNumber(e.ScoreNS), format.ExactNumber(e.StandardErrorNS),
			exactText(e.LowNS), exactText(e.HighNS), strconv.Itoa(e.Processes), strconv.Itoa(e.TryCount), machineTime(e.AchievedAt), idNumberText(e.RunID), idNumberText(e.SubmissionID), strconv.Itoa(max(e.PooledRunCount, 1)), e.DisturbedReason,
			exactText(e.ErrorULP), exactText(e.ErrorRelative), bytesText(e.PeakMemoryBytes), e.Answer, e.Message, e.ScriptVersion})
	}
	return site.SendCSV(c, rows)
}

func bytesText(n *int64) string {
	if n == nil {
		return ""
	}
	return idNumberText(*n)
}

func idNumberText(id int64) string { return strconv.FormatInt(id, 10) }

func exactText(ns *float64) string {
	if ns == nil {
		return ""
	}
	return format.ExactNumber(*ns)
}

const maxEmbeddedRows = 10

// Embed shows a board for a frame on another site. It has no actions and ignores the viewer's session, so that the
// framing site can neither trigger actions nor learn who the viewer is.
func (p *Boards) Embed(c *fiber.Ctx) error {
	b, err := p.publicBoardOf(c)
	if err != nil {
		return err
	}
	list, err := p.site.Store.Boards.LeadingEntries(c.UserContext(), b.boardHead.VersionID, b.boardHead.Device, maxEmbeddedRows)
	if err != nil {
		return err
	}
	page := views.EmbedPage{
		Task:   site.TaskLink(b.task),
		Device: b.boardHead.Device,
		People: int(b.boardHead.PeopleCount),
	}
	for _, e := range list {
		if e.HasOlderEpoch(b.boardHead.Board) {
			break // the entries after this one are older, too, and have no rank
		}
		page.Entries = append(page.Entries, e)
	}
	policy := string(c.Response().Header.Peek(fiber.HeaderContentSecurityPolicy))
	c.Set(fiber.HeaderContentSecurityPolicy, strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors *", 1))
	c.Response().Header.Del(fiber.HeaderXFrameOptions)
	return p.site.Render(c, fiber.StatusOK, views.Embed(page))
}
