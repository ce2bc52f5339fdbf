package share

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

const embedRows = 10

// Embed is a board for the frame of another site. It has no actions and no signed-in viewer: a framing page can neither
// trigger the reader's buttons nor learn who the reader is.
func (s *Share) Embed(c *fiber.Ctx) error {
	b, err := s.boardOf(c)
	if err != nil {
		return err
	}
	list, err := s.site.Store.Boards.Leading(c.UserContext(), b.head.VersionID, b.head.Device, embedRows)
	if err != nil {
		return err
	}
	page := views.EmbedPage{Task: site.TaskRef(b.task), Device: b.head.Device, People: int(b.head.Size)}
	for _, e := range list {
		if e.Older(b.head.Board) {
			break // all behind it are older, too, and have no rank
		}
		page.Entries = append(page.Entries, e)
	}
	policy := string(c.Response().Header.Peek(fiber.HeaderContentSecurityPolicy))
	c.Set(fiber.HeaderContentSecurityPolicy, strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors *", 1))
	c.Response().Header.Del(fiber.HeaderXFrameOptions)
	return s.site.Render(c, fiber.StatusOK, views.Embed(page))
}
