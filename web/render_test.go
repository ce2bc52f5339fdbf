package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/submissions"
	"warpboard/web/webtest"
)

// A template that never ends must produce an error page, and must not leave a goroutine or memory behind.
func TestAnEndlessPageIsCutOff(t *testing.T) {
	s := webtest.Start(t)
	endless := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		row := strings.Repeat("x", 4096)
		for {
			if _, err := io.WriteString(w, row); err != nil {
				return err
			}
		}
	})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx    context.Context
		status int
		says   string
	}{
		"by its size": {t.Context(), fiber.StatusInternalServerError, "larger than 32 MiB"},
		// the request's context has ended, so no visitor reads this
		"by its time": {over, fiber.StatusInternalServerError, "logged"},
	} {
		t.Run(name, func(t *testing.T) {
			app := fiber.New(fiber.Config{ErrorHandler: s.Shared().HandleError})
			app.Get("/endless", func(c *fiber.Ctx) error {
				c.SetUserContext(test.ctx)
				return s.Shared().Render(c, fiber.StatusOK, endless)
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			resp, err := app.Test(httptest.NewRequest(fiber.MethodGet, "/endless", nil), -1)
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if text := webtest.Body(t, resp); resp.StatusCode != test.status || !strings.Contains(text, test.says) ||
				len(text) > 20_000 {
				t.Errorf("answered %d and %d bytes: %.300s", resp.StatusCode, len(text), text)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 8*(32<<20) {
				t.Errorf("the page took %d MiB", took>>20)
			}
		})
	}
}

// A source of a million lines must not produce a page of a hundred megabytes.
func TestASourceOfOnlyLinesHasASmallPage(t *testing.T) {
	s := webtest.NewScene(t)
	sub, _, err := s.Cfg.Store.Submissions.Submit(t.Context(),
		submissions.NewSubmission{User: s.Ada, TaskID: s.Task.ID, Devices: s.Task.Devices[:1],
			Mode: "test", Source: []byte("int x;" + strings.Repeat("\n", 900_000)), Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	resp := s.BrowserOf(s.Ada).Get(fmt.Sprintf("/submissions/%d?tab=source", sub.ID))
	if text := webtest.Body(t, resp); resp.StatusCode != fiber.StatusOK || len(text) > 2<<20 ||
		!strings.Contains(text, "int x;") {
		t.Errorf("answered %d and %d bytes", resp.StatusCode, len(text))
	}
}
