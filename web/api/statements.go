package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/web/site"
)

// Statement responds with a statement about a run, signed with the site's current key. A run that is disqualified or on
// hold has no statement.
func (a *API) Statement(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	seen, err := a.runs.RunByID(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	if seen.Run.DisqualifiedAt != nil {
		return db.Errorf(db.Conflict, "Run %d is disqualified: %s", id, seen.Run.DisqualifiedReason)
	}
	if seen.Run.HeldReason != "" {
		return db.Errorf(db.Conflict, "Run %d is held back until it has been reviewed: %s", id, seen.Run.HeldReason)
	}
	stated, err := a.site.Store.Statement(c.UserContext(), seen.Run)
	if err != nil {
		return err
	}
	envelope, err := a.site.Settings.Signing.Key.Sign(stated)
	if err != nil {
		return fmt.Errorf("sign the statement of run %d: %w", id, err)
	}
	c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`inline; filename="run-%d.statement.json"`, id))
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	return c.JSON(envelope)
}

// PublicKeys responds with the public keys that verify the site's statements.
func (a *API) PublicKeys(c *fiber.Ctx) error {
	return c.JSON(a.site.Settings.Signing.Keys)
}
