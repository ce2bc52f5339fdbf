package web

import (
	"fmt"
	"io"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/tasks"
	"warpboard/web/client"
)

// apiSubmit takes a submission as JSON, or as a form with the source as "file".
func (s *Server) apiSubmit(c *fiber.Ctx) error {
	user, err := requireUser(c)
	if err != nil {
		return err
	}
	in, err := readSubmission(c)
	if err != nil {
		return err
	}
	sub, _, err := s.submit(c.UserContext(), *user, in)
	if err != nil {
		return err
	}
	c.Location(fmt.Sprintf("/api/v1/submissions/%d", sub.ID))
	return s.answerSubmission(c, fiber.StatusCreated, sub.ID, true)
}

func (s *Server) apiSubmission(c *fiber.Ctx) error {
	seen, err := s.seenSubmission(c)
	if err != nil {
		return err
	}
	return s.answerSubmission(c, fiber.StatusOK, seen.sub.ID, seen.source)
}

func (s *Server) apiCancel(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	seen, err := s.seenSubmission(c)
	if err != nil {
		return err
	}
	if err := s.cancel(c.UserContext(), actor(c), seen.sub.ID); err != nil {
		return err
	}
	return s.answerSubmission(c, fiber.StatusOK, seen.sub.ID, seen.source)
}

func (s *Server) answerSubmission(c *fiber.Ctx, status int, id int64, source bool) error {
	answer, err := s.submissionAnswer(c.UserContext(), id, source)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).JSON(answer)
}

func readSubmission(c *fiber.Ctx) (submitRequest, error) {
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEMultipartForm) {
		var in client.NewSubmission
		if err := readJSON(c, &in); err != nil {
			return submitRequest{}, err
		}
		return submitRequest{Task: in.Task, Devices: in.Devices, Mode: in.Mode,
			FileName: in.FileName, Source: []byte(in.Source), Via: via(c)}, nil
	}
	in := submitRequest{Task: c.FormValue("task"), Mode: job.Mode(c.FormValue("mode")), Via: via(c)}
	form, err := c.MultipartForm()
	if err != nil || len(form.File["file"]) != 1 {
		return in, invalid("file", `The form must hold one file under the name "file".`)
	}
	for _, names := range append(form.Value["devices"], form.Value["device"]...) {
		in.Devices = append(in.Devices, strings.Split(names, ",")...)
	}
	in.FileName = form.File["file"][0].Filename
	file, err := form.File["file"][0].Open()
	if err != nil {
		return in, fmt.Errorf("open the submitted file: %w", err)
	}
	defer file.Close()
	in.Source, err = io.ReadAll(io.LimitReader(file, tasks.MaxSubmission+1))
	return in, err
}

// via tells the command from other programs, for the submission's page.
func via(c *fiber.Ctx) string {
	if strings.HasPrefix(c.Get(fiber.HeaderUserAgent), client.UserAgent) {
		return "cli"
	}
	return "api"
}
