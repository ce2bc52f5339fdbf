package moderation

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
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
	page := views.AuditPage{Page: m.site.Page(c, "Audit log", "moderation"), Search: search}
	if len(list) > auditRows {
		list = list[:auditRows]
		page.Older = list[auditRows-1].ID
	}
	page.Rows = logRows(list)
	return m.site.Render(c, fiber.StatusOK, views.Audit(page))
}

func logRows(list []accounts.Audit) []views.LogRow {
	rows := make([]views.LogRow, len(list))
	for i, a := range list {
		rows[i] = views.LogRow{When: a.CreatedAt, By: site.PersonOf(a.ActorID, a.ActorName), Act: a.Act, Subject: a.Subject, Detail: a.Detail}
	}
	return rows
}
