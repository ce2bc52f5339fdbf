package site

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
)

// Limits of one page. A program cannot be stopped in the middle of a loop that writes nothing: such loops have their
// own limits, and the fuzz tests of views check them.
const (
	maxPageBytes  = 32 << 20 // bytes; the largest that is meant is a coloured source of 256 KiB, some 8 MB
	renderTimeout = 10 * time.Second
)

// bounded collects a page until it is too large, or too late.
type bounded struct {
	ctx  context.Context
	most int
	page *bytes.Buffer // not embedded: it has other ways to be written to
}

// Write fails at the bounds, which ends the rendering: a component returns the first error of its writer.
func (b *bounded) Write(part []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.page.Len()+len(part) > b.most {
		return 0, &Failure{Status: fiber.StatusInternalServerError, Code: "too_large",
			Message: fmt.Sprintf("This page is larger than %d MiB and cannot be shown.", b.most>>20)}
	}
	return b.page.Write(part)
}

// RenderToMemory is a component's HTML, as rendered has it.
func (s *Site) RenderToMemory(ctx context.Context, component templ.Component) (page []byte, err error) {
	err = s.rendered(ctx, component, func(html []byte) { page = bytes.Clone(html) })
	return page, err
}

// rendered has take read a component's HTML within the bounds, with the addresses that browsers reach the site under.
// All HTML leaves through it. What take is given is written over afterwards.
func (s *Site) rendered(ctx context.Context, component templ.Component, take func(html []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	to := bounded{ctx: ctx, most: maxPageBytes, page: s.takeBuffer()}
	defer s.giveBuffer(to.page)
	if err := component.Render(ctx, &to); err != nil {
		return err
	}
	html := to.page.Bytes()
	if s.Mount != "" || job.HasBidi(html) {
		html = []byte(s.Mount.HTML(showBidi(string(html))))
	}
	take(html)
	return nil
}

// maxKeptBuffer bounds a buffer that is used again, so that one large page does not stay in memory.
const maxKeptBuffer = 1 << 20

func (s *Site) takeBuffer() *bytes.Buffer {
	if buffer, ok := s.rendering.Get().(*bytes.Buffer); ok {
		return buffer
	}
	return &bytes.Buffer{}
}

// giveBuffer takes a buffer back that no one reads any more.
func (s *Site) giveBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxKeptBuffer {
		buffer.Reset()
		s.rendering.Put(buffer)
	}
}

// showBidi puts marks for the controls of direction in a page, whatever people and programs stored: a line that
// reads one way and is another shows it. Texts to be edited stay as they were typed; stored text cannot
// begin or end one, because it is escaped.
func showBidi(page string) string {
	if job.MarkBidi(page) == page {
		return page
	}
	var out strings.Builder
	for {
		shown, rest, more := strings.Cut(page, "<textarea")
		out.WriteString(job.MarkBidi(shown))
		if !more {
			return out.String()
		}
		typed, after, _ := strings.Cut(rest, "</textarea>")
		out.WriteString("<textarea" + typed + "</textarea>")
		page = after
	}
}

// Render answers with an HTML page or fragment. It renders to memory first: a component that fails
// half-way must leave nothing in the body.
func (s *Site) Render(c *fiber.Ctx, status int, component templ.Component) error {
	body := c.Response().SetBody // it copies
	if err := s.rendered(templ.WithNonce(c.UserContext(), nonce(c)), component, body); err != nil {
		return fmt.Errorf("render %s: %w", LoggedPath(c), err)
	}
	if len(c.Response().Header.Peek(fiber.HeaderCacheControl)) == 0 {
		c.Set(fiber.HeaderCacheControl, "private, no-cache")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Status(status)
	return nil
}
