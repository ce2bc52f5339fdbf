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

// Limits for rendering one page. A loop that writes no output cannot be stopped, so such loops have their own limits,
// which the fuzz tests of views check.
const (
	maxPageBytes  = 32 << 20 // bytes; the largest expected page, a highlighted source of 256 KiB, has about 8 MB
	renderTimeout = 10 * time.Second
)

// pageWriter is a writer that collects a page up to a size and until a deadline.
type pageWriter struct {
	ctx      context.Context
	maxBytes int
	page     *bytes.Buffer // not embedded, because its other write methods would not check the limits
}

// Write returns an error beyond the size or the deadline. This ends the rendering, because a component returns the
// first error of its writer.
func (b *pageWriter) Write(part []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.page.Len()+len(part) > b.maxBytes {
		return 0, &Failure{Status: fiber.StatusInternalServerError, Code: "too_large",
			Message: fmt.Sprintf("This page is larger than %d MiB and cannot be shown.", b.maxBytes>>20)}
	}
	return b.page.Write(part)
}

// RenderToMemory returns the HTML of a component, with the site's path in its URLs.
func (s *Site) RenderToMemory(ctx context.Context, component templ.Component) (page []byte, err error) {
	err = s.renderInto(ctx, component, func(html []byte) { page = bytes.Clone(html) })
	return page, err
}

// renderInto renders a component within the limits, adds the site's path to URLs, and calls take with the HTML. The
// slice is valid only during the call. Render and RenderToMemory use it, so the limits apply to every page.
func (s *Site) renderInto(ctx context.Context, component templ.Component, take func(html []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	to := pageWriter{ctx: ctx, maxBytes: maxPageBytes, page: s.acquireBuffer()}
	defer s.releaseBuffer(to.page)
	if err := component.Render(ctx, &to); err != nil {
		return err
	}
	html := to.page.Bytes()
	if s.BasePath != "" || job.HasBidiControls(html) {
		html = []byte(s.BasePath.RewriteHTML(markBidiControls(string(html))))
	}
	take(html)
	return nil
}

// maxReusedBufferBytes limits the buffers that are kept for reuse, in bytes.
const maxReusedBufferBytes = 1 << 20

func (s *Site) acquireBuffer() *bytes.Buffer {
	if buffer, ok := s.renderBuffers.Get().(*bytes.Buffer); ok {
		return buffer
	}
	return &bytes.Buffer{}
}

// releaseBuffer returns a buffer to the pool. The caller must not use it afterwards.
func (s *Site) releaseBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxReusedBufferBytes {
		buffer.Reset()
		s.renderBuffers.Put(buffer)
	}
}

// markBidiControls replaces bidirectional control characters in a page by visible marks, because they could make a line
// look different from its content. Texts in form fields stay unchanged; stored text cannot forge the tags of a field,
// because it is escaped.
func markBidiControls(page string) string {
	if job.MarkBidiControls(page) == page {
		return page
	}
	var out strings.Builder
	for {
		shown, rest, more := strings.Cut(page, "<textarea")
		out.WriteString(job.MarkBidiControls(shown))
		if !more {
			return out.String()
		}
		typed, after, _ := strings.Cut(rest, "</textarea>")
		out.WriteString("<textarea" + typed + "</textarea>")
		page = after
	}
}

// Render responds with an HTML page or fragment. It renders to memory first, so that an error does not leave a partial
// response.
func (s *Site) Render(c *fiber.Ctx, status int, component templ.Component) error {
	body := c.Response().SetBody // SetBody copies the HTML
	if err := s.renderInto(templ.WithNonce(c.UserContext(), cspNonce(c)), component, body); err != nil {
		return fmt.Errorf("render %s: %w", LoggedPath(c), err)
	}
	if len(c.Response().Header.Peek(fiber.HeaderCacheControl)) == 0 {
		c.Set(fiber.HeaderCacheControl, "private, no-cache")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Status(status)
	return nil
}
