package moderation

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

const auditRows = 50 // on one page

// Audit lists who did what, when and why.
func (m *Moderation) Audit(c *fiber.Ctx) error {
	search := strings.TrimSpace(c.Query("q"))
	list, err := m.site.Store.Accounts.Audits(c.UserContext(), site.Actor(c), search, int64(c.QueryInt("before")), auditRows+1)
	if err != nil {
		return err
	}
	page := views.AuditPage{Page: m.site.Page(c, "Audit log", "moderation"), Search: search, Rows: list}
	if len(list) > auditRows {
		page.Rows, page.Older = list[:auditRows], list[auditRows-1].ID
	}
	return m.site.Render(c, fiber.StatusOK, views.Audit(page))
}
