package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/models/statements"
	"warpboard/web/site"
)

// chainLines is how many statements one answer holds; ?after= gets the next.
const chainLines = 5000

// Statement answers with what the site stated of a run, signed with its present key. Of a run that is disqualified
// or held back it sends none.
func (a *API) Statement(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	seen, err := a.runs.RunByID(c, id)
	if err != nil {
		return err
	}
	if seen.Run.DisqualifiedAt != nil {
		return db.Errorf(db.Conflict, "Run %d is disqualified: %s", id, seen.Run.DisqualifiedWhy)
	}
	if seen.Run.HeldWhy != "" {
		return db.Errorf(db.Conflict, "Run %d is held back until it has been reviewed: %s", id, seen.Run.HeldWhy)
	}
	kept, err := a.site.Store.Statements.Statement(c.UserContext(), id)
	if err != nil {
		return err
	}
	text, err := a.sign(c, kept)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`inline; filename="run-%d.statement.json"`, id))
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(text)
}

func (a *API) sign(c *fiber.Ctx, kept statements.Kept) ([]byte, error) {
	envelope, err := a.site.Settings.Signing.Key.Sign(c.UserContext(), []byte(kept.Payload))
	if err != nil {
		return nil, fmt.Errorf("sign the statement of run %d: %w", kept.RunID, err)
	}
	return json.Marshal(envelope)
}

// Chain sends all statements to an admin, one envelope per line, in their order.
func (a *API) Chain(c *fiber.Ctx) error {
	list, err := a.site.Store.Statements.Chain(c.UserContext(), site.Actor(c), int64(c.QueryInt("after")), chainLines)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, kept := range list {
		line, err := a.sign(c, kept)
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	c.Set(fiber.HeaderContentType, chainType)
	return c.Send(out.Bytes())
}

const chainType = "application/jsonl"

// Keys publishes the keys that the site's statements are signed with.
func (a *API) Keys(c *fiber.Ctx) error {
	return c.JSON(a.site.Settings.Signing.Keys)
}
