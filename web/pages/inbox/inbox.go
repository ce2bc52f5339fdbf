package inbox

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/inbox"
	"warpboard/views"
	"warpboard/web/site"
)

const rows = 30 // on one page

// Inbox is the pages.
type Inbox struct{ site *site.Site }

// New returns the pages.
func New(site *site.Site) *Inbox { return &Inbox{site} }

// Show lists a person's notices. Those that are shown are read from then on.
func (p *Inbox) Show(c *fiber.Ctx) error {
	ctx, user, before, at := c.UserContext(), site.Actor(c), int64(c.QueryInt("before")), time.Now()
	list, err := p.site.Store.Inbox.List(ctx, user, before, rows)
	if err != nil {
		return err
	}
	page := views.InboxPage{Page: p.site.Page(c, "Inbox", "me")}
	for _, n := range list {
		page.Rows = append(page.Rows, views.InboxRow{Told: n, Unread: n.ID > user.InboxRead})
	}
	if len(list) == rows {
		page.Older = list[rows-1].ID
	}
	if page.Choices, err = p.site.Store.Inbox.Choices(ctx, user.ID); err != nil {
		return err
	}
	if user.Unread > 0 && before == 0 && seen(c) {
		if err := p.site.Store.Inbox.MarkAllRead(ctx, user, at); err != nil {
			return err
		}
		page.Viewer.Unread = 0
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, fiber.StatusOK, views.Inbox(page))
}

// seen reports whether a person looks at the page, and not a browser in advance or a program.
func seen(c *fiber.Ctx) bool {
	return c.Method() == fiber.MethodGet && !site.IsBearer(c) && !strings.Contains(c.Get("Sec-Purpose")+c.Get("Purpose"), "prefetch")
}

// Choose keeps what a person is told.
func (p *Inbox) Choose(c *fiber.Ctx) error {
	var on []inbox.Kind
	for _, kind := range c.Context().PostArgs().PeekMulti("on") {
		on = append(on, inbox.Kind(kind))
	}
	if err := p.site.Store.Inbox.Choose(c.UserContext(), site.Actor(c), on); err != nil {
		return err
	}
	return site.Redirect(c, "/inbox?done=saved")
}
