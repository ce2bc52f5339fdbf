package boards

import (
	"encoding/xml"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/views/outcome"
	"warpboard/web/site"
)

const maxFeedRecords = 50

// atomFeed is the XML of an Atom feed (RFC 4287).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []feedEntry `xml:"entry"`
}

type feedEntry struct {
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Author  string     `xml:"author>name"`
	Links   []atomLink `xml:"link"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

// BoardFeed responds with a feed of the records of a board.
func (p *Boards) BoardFeed(c *fiber.Ctx) error {
	b, err := p.publicBoardOf(c)
	if err != nil {
		return err
	}
	version, err := p.site.Store.Catalog.Version(c.UserContext(), b.task.VersionID)
	if err != nil {
		return err
	}
	return p.sendFeed(c, "Records: "+b.name(), b.path(), version.CreatedAt, boards.RecordFilter{
		TaskID: b.task.ID,
		Device: b.boardHead.Device,
	})
}

// TaskFeed responds with a feed of the records of a task's boards.
func (p *Boards) TaskFeed(c *fiber.Ctx) error {
	task, err := p.runs.VisibleTask(c.UserContext(), accounts.User{}, c.Params("slug"))
	if err != nil {
		return err
	}
	version, err := p.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return err
	}
	return p.sendFeed(c, "Records: "+task.Title, string(views.TaskURL(task.Slug)), version.CreatedAt, boards.RecordFilter{TaskID: task.ID})
}

// PersonFeed responds with a feed of the records of a person.
func (p *Boards) PersonFeed(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	user, err := p.site.Store.Accounts.User(c.UserContext(), id)
	if err != nil {
		return err
	}
	return p.sendFeed(c, "Records of "+user.Name, string(views.UserURL(id)), user.CreatedAt, boards.RecordFilter{UserID: id})
}

// sendFeed responds with a feed of the latest records. path is the page that the feed describes. began is the update
// time of an empty feed: a task's feed has only records of the current version, so it is empty after a new version.
func (p *Boards) sendFeed(c *fiber.Ctx, title, path string, began time.Time, f boards.RecordFilter) error {
	f.Limit = maxFeedRecords
	records, err := p.site.Store.Boards.Records(c.UserContext(), f)
	if err != nil {
		return err
	}
	if len(records) > 0 && records[0].AchievedAt.After(began) {
		began = records[0].AchievedAt
	}
	out := atomFeed{ID: p.site.Settings.BaseURL + c.Path(), Title: job.MarkBidiControls(title),
		Updated: machineTime(began),
		Links: []atomLink{{Href: p.site.Settings.BaseURL + path},
			{Rel: "self", Href: p.site.Settings.BaseURL + c.Path()}}}
	for _, r := range records {
		address := fmt.Sprintf("%s/runs/%d", p.site.Settings.BaseURL, r.RunID)
		out.Entries = append(out.Entries, feedEntry{ID: address, Updated: machineTime(r.AchievedAt), Author: job.MarkBidiControls(r.UserName), Links: []atomLink{{Href: address}},
			Title: job.MarkBidiControls(outcome.RecordName(fmt.Sprintf("%s: %s, %s on %s", r.UserName, format.Nanoseconds(r.ScoreNS), r.TaskTitle, r.Device), r.IsUnconfirmed))})
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("writing a feed: %w", err)
	}
	return p.sendCacheable(c, "application/atom+xml; charset=utf-8", string(text), func() ([]byte, error) { return append([]byte(xml.Header), text...), nil })
}
