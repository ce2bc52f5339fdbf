package operation

import (
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/fleet"
	"warpboard/web/site"
)

// TokenCreate makes a token and shows it this one time.
func (o *Operation) TokenCreate(c *fiber.Ctx) error {
	most, _ := strconv.Atoi(c.FormValue("most")) // a text that is not a number is refused, like 0
	days, _ := strconv.Atoi(c.FormValue("days"))
	secret, _, err := o.site.Store.Fleet.CreateJoinToken(c.UserContext(), site.Actor(c), fleet.NewJoinToken{
		Name: strings.TrimSpace(c.FormValue("name")), Most: most, For: time.Duration(min(days, 1000)) * 24 * time.Hour,
		Devices: strings.FieldsFunc(c.FormValue("devices"), func(r rune) bool { return r == ',' || r == ' ' }),
	})
	if err != nil {
		return o.done(c, err)
	}
	return o.show(c, fiber.StatusOK, secret, "")
}

// TokenRevoke ends a token and disconnects the workers that joined by it.
func (o *Operation) TokenRevoke(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	workers, err := o.site.Store.Fleet.RevokeJoinToken(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	for _, name := range workers {
		o.site.Dispatcher.Kick(name)
	}
	return site.Redirect(c, "/operate")
}
