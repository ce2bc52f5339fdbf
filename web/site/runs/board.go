package runs

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"warpboard/models"
	"warpboard/web/site"

	"github.com/gofiber/fiber/v2"
)

// BoardChange is the change number of a board. There is no board of a device that the task neither names nor was
// ever run on.
func (s *Runs) BoardChange(ctx context.Context, task models.Task, versionID int64, device string) (int64, error) {
	change, err := s.Store.BoardChangeNumber(ctx, versionID, device)
	if err == nil && change == 0 && !slices.Contains(task.Devices, device) {
		err = models.Errorf(models.NotFound, "%s has no board for %q; there are: %s.", task.Title, device, strings.Join(task.Devices, ", "))
	}
	return change, err
}

// BoardOf reads which board an address means: of the task's current version, or of ?version=N.
func (s *Runs) BoardOf(c *fiber.Ctx) (task models.Task, version models.TaskVersion, err error) {
	if task, err = s.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug")); err != nil {
		return task, version, err
	}
	if asked := c.Query("version"); asked != "" {
		number, err := strconv.Atoi(asked)
		if err != nil {
			return task, version, site.Invalid("version", "%q is no number of a version.", asked)
		}
		version, err = s.Store.VersionNumber(c.UserContext(), task.ID, number)
		return task, version, err
	}
	version, err = s.Store.Version(c.UserContext(), task.VersionID)
	return task, version, err
}

// Unchanged sets the answer's ETag and tells whether the reader has it already.
func Unchanged(c *fiber.Ctx, tag string) bool {
	tag = strconv.Quote(tag)
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	return c.Get(fiber.HeaderIfNoneMatch) == tag
}
