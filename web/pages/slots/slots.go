package slots

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models/sentinels"
	"warpboard/views"
	"warpboard/web/site"
)

// Units is the page of a device's GPUs or CPU slots.
type Units struct{ site *site.Site }

// New returns the page.
func New(site *site.Site) *Units { return &Units{site} }

// rows is how many sentinels a page shows, of all slots of a device: a day of six slots.
const rows = 900

// Sentinel shows how steady the slots of a device are.
func (u *Units) Sentinel(c *fiber.Ctx) error {
	name := c.Params("device")
	list, err := u.site.Store.Sentinels.SentinelsOf(c.UserContext(), name, rows)
	if err != nil {
		return err
	}
	page := views.SentinelPage{Page: u.site.Page(c, name+" slots", "devices"), Device: name}
	for _, unit := range sentinels.ByUnit(list) {
		page.Units = append(page.Units, unitOf(unit))
	}
	return u.site.Render(c, fiber.StatusOK, views.Sentinel(page))
}

func unitOf(list []sentinels.Sentinel) views.UnitHistory {
	unit := views.UnitHistory{Worker: list[0].Worker, Unit: list[0].Unit, Drift: sentinels.Drift(list)}
	for _, s := range list {
		unit.Rows = append(unit.Rows, views.SentinelRow{At: s.At, ReadNS: s.ReadNS, MathNS: s.MathNS})
	}
	return unit
}
