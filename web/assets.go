package web

import (
	"io/fs"
	"path"

	"github.com/gofiber/fiber/v2"

	"warpboard/static"
	"warpboard/web/site"
)

// asset serves an embedded file. Its address holds the hash of the whole set, so browsers keep it for
// ever; one with an old hash gets today's file, and asks again next time.
func (s *Server) asset(c *fiber.Ctx) error {
	name := c.Params("name")
	data, err := fs.ReadFile(static.Files(), name)
	if err != nil {
		return site.NotFound(c)
	}
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if c.Params("version") == static.Version() {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	}
	c.Type(path.Ext(name), "utf-8")
	return c.Send(data)
}
