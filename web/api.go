package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/client"
)

const apiBoardPage = 100 // entries on one page of the API's board

func (s *Server) apiTasks(c *fiber.Ctx) error {
	list, err := s.store.TaskSummaries(c.UserContext(), actor(c))
	if err != nil {
		return err
	}
	answer := make([]client.TaskSummary, len(list))
	for i, t := range list {
		answer[i] = client.TaskSummary{Slug: t.Slug, Title: t.Title, Lang: t.Lang, Devices: t.Devices, Deadline: t.Deadline}
	}
	return c.JSON(fiber.Map{"tasks": answer})
}

func (s *Server) apiTask(c *fiber.Ctx) error {
	task, err := s.visibleTask(c.UserContext(), actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	version, err := s.store.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return err
	}
	bundle, err := s.store.Bundle(c.UserContext(), version.ID)
	if err != nil {
		return err
	}
	return c.JSON(taskAnswer(task, version, bundle))
}

func (s *Server) apiMe(c *fiber.Ctx) error {
	user, err := requireUser(c)
	if err != nil {
		return err
	}
	return c.JSON(client.User{ID: user.ID, Name: user.Name, Role: string(user.Role)})
}

func (s *Server) apiDevices(c *fiber.Ctx) error {
	devices, err := s.deviceList(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"devices": devices})
}

// apiBoard answers with one page of a board; its ETag is exact, because every visible change has a number.
func (s *Server) apiBoard(c *fiber.Ctx) error {
	task, version, err := s.boardOf(c)
	if err != nil {
		return err
	}
	device, page := c.Params("device"), max(c.QueryInt("page", 1), 1)
	change, err := s.boardChange(c.UserContext(), task, version.ID, device)
	if err != nil {
		return err
	}
	if unchanged(c, fmt.Sprintf("api-%d-%s-%d-%d", version.ID, device, page, change)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	board, err := s.store.Board(c.UserContext(), version.ID, device, (page-1)*apiBoardPage, apiBoardPage)
	if err != nil {
		return err
	}
	return c.JSON(boardAnswer(task, version, board, page))
}

// boardChange is the change number of a board. There is no board of a device that the task neither names nor was
// ever run on.
func (s *Server) boardChange(ctx context.Context, task models.Task, versionID int64, device string) (int64, error) {
	change, err := s.store.BoardChangeNumber(ctx, versionID, device)
	if err == nil && change == 0 && !slices.Contains(task.Devices, device) {
		err = models.Errorf(models.NotFound, "%s has no board for %q; there are: %s.", task.Title, device, strings.Join(task.Devices, ", "))
	}
	return change, err
}

// boardOf reads which board an address means: of the task's current version, or of ?version=N.
func (s *Server) boardOf(c *fiber.Ctx) (task models.Task, version models.TaskVersion, err error) {
	if task, err = s.visibleTask(c.UserContext(), actor(c), c.Params("slug")); err != nil {
		return task, version, err
	}
	if asked := c.Query("version"); asked != "" {
		number, err := strconv.Atoi(asked)
		if err != nil {
			return task, version, invalid("version", "%q is no number of a version.", asked)
		}
		version, err = s.store.VersionNumber(c.UserContext(), task.ID, number)
		return task, version, err
	}
	version, err = s.store.Version(c.UserContext(), task.VersionID)
	return task, version, err
}

// unchanged sets the answer's ETag and tells whether the reader has it already.
func unchanged(c *fiber.Ctx, tag string) bool {
	tag = strconv.Quote(tag)
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	return c.Get(fiber.HeaderIfNoneMatch) == tag
}
