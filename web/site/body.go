package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
)

// OriginalHeader returns the original value of a header that hideContentLength has changed.
func OriginalHeader(c *fiber.Ctx, name string) string {
	for line := range bytes.SplitSeq(c.Request().Header.RawHeaders(), []byte("\r\n")) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(key, []byte(name)) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// ReadBody returns middleware that reads the body of a request, up to a limit in bytes. It must run after
// IdentifySender and before anything that uses the body.
func (s *Site) ReadBody(limit func(*fiber.Ctx) int) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !c.Request().IsBodyStream() {
			return c.Next()
		}
		return s.readBodyUpTo(c, limit(c))
	}
}

func (s *Site) readBodyUpTo(c *fiber.Ctx, limit int) error {
	r := &bodyReader{limits: s.Settings.Limits, limit: limit, conn: c.Context().Conn()}
	r.reserve = func(n int) (give func(), err error) { return s.acquire(c, BodiesResource, n) }
	defer r.release()
	r.slowPermit = s.acquireLater(c, UploadsResource, quickBodyTime, func() { r.conn.SetReadDeadline(time.Now()) })
	defer r.slowPermit.end()
	length := c.Request().Header.ContentLength() // -1 for a chunked body
	if length > r.limit {
		return tooLargeError(c, r.limit)
	}
	if strings.EqualFold(OriginalHeader(c, fiber.HeaderExpect), "100-continue") && c.Request().Header.IsHTTP11() {
		r.conn.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")) // a write error recurs when the response is written
	}
	err := r.read(c.Request().BodyStream(), length)
	r.slowPermit.end()
	if err != nil {
		if errors.Is(err, errBodyTooLarge) {
			return tooLargeError(c, r.limit)
		}
		return err
	}
	if err := countFields(c, r.bytes); err != nil {
		return err
	}
	c.Locals(localBody, r)
	c.Request().SetBodyRaw(r.bytes)
	return c.Next()
}

// countFields returns an error for a form that would need much more time and memory to parse than its size suggests. It
// runs before the form is parsed.
func countFields(c *fiber.Ctx, body []byte) error {
	kind := c.Request().Header.ContentType()
	switch {
	case bytes.HasPrefix(kind, []byte(fiber.MIMEApplicationForm)):
		if bytes.Count(body, []byte("&")) > maxFormFields {
			return Invalid("form", "The form has more than %d fields.", maxFormFields)
		}
	case bytes.HasPrefix(kind, []byte(fiber.MIMEMultipartForm)):
		if boundary := c.Request().Header.MultipartFormBoundary(); len(boundary) > 0 && !hasPlainPartHeaders(body, append([]byte("--"), boundary...)) {
			return Invalid("form", "The form has more than %d parts, or their headers are too long.", maxFormParts)
		}
	}
	return nil
}

// hasPlainPartHeaders reports whether a multipart form has few parts, and each part has small headers.
func hasPlainPartHeaders(body, delimiter []byte) bool {
	for parts, heads := 0, 0; ; parts++ {
		at := bytes.Index(body, delimiter)
		if at < 0 {
			return true
		}
		body = body[at+len(delimiter):]
		size := partHeaderSize(body[:min(len(body), maxPartHeader+1)])
		if heads += size; parts > maxFormParts || size > maxPartHeader || heads > maxPartHeaders {
			return false
		}
	}
}

// partHeaderSize returns the number of bytes before the first blank line of a part, or all bytes if there is none.
func partHeaderSize(part []byte) int {
	size := len(part)
	for _, blank := range []string{"\n\r\n", "\n\n"} {
		if at := bytes.Index(part, []byte(blank)); at >= 0 {
			size = min(size, at)
		}
	}
	return size
}

// FreeBody frees the memory of a parsed body, for requests that take long.
func FreeBody(c *fiber.Ctx) {
	c.Request().ResetBody()
	if r, ok := c.Locals(localBody).(*bodyReader); ok {
		r.release()
	}
}

// MaxKernelBodyBytes limits the bodies of requests that contain kernels, in bytes. A kernel of 1 MB fits, even with
// JSON escapes.
const MaxKernelBodyBytes = 4 << 20

// SmallBodyLimit returns the limit of bodies that contain no task, in bytes.
func SmallBodyLimit(c *fiber.Ctx) int {
	if Viewer(c) == nil {
		return MaxVisitorBodyBytes
	}
	return MaxKernelBodyBytes
}

// A body that takes longer than quickBodyTime needs one of the permits for slow requests. The first smallBodyBytes of
// each body do not count for the total of bodies in memory. So slow and large bodies cannot keep others from signing
// in.
const (
	quickBodyTime  = time.Second
	smallBodyBytes = 4 << 10
)

var errBodyTooLarge = errors.New("body too large")

func tooLargeError(c *fiber.Ctx, limit int) error {
	if Viewer(c) == nil {
		return Unauthorized("Sign in, or send a token: without one only small requests are read.")
	}
	return &Failure{Status: fiber.StatusRequestEntityTooLarge, Code: "too_large",
		Message: fmt.Sprintf("The request is larger than the %s allowed here.", format.Bytes(int64(limit)))}
}

// bodyReader reads the body of one request.
type bodyReader struct {
	limits     Limits
	limit      int // bytes
	conn       net.Conn
	reserve    func(n int) (give func(), err error)
	slowPermit *deferredPermit
	releases   []func() // return the reserved resources
	bytes      []byte
}

// read reads the whole body. Its memory grows with the received bytes, not with the Content-Length header.
func (r *bodyReader) read(from io.Reader, length int) error {
	end := time.Now().Add(r.limits.BodyTime)
	for {
		if len(r.bytes) == cap(r.bytes) {
			if err := r.growBuffer(length); err != nil {
				return err
			}
		}
		next := time.Now().Add(r.limits.MaxBodyPause)
		if next.After(end) {
			next = end
		}
		r.conn.SetReadDeadline(next)
		// checked after setting the deadline, because a refusal sets it, too
		if err := r.slowPermit.refusal(); err != nil {
			return err
		}
		n, err := from.Read(r.bytes[len(r.bytes):cap(r.bytes)])
		r.bytes = r.bytes[:len(r.bytes)+n]
		switch {
		case len(r.bytes) > r.limit:
			return errBodyTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return cmp.Or(r.slowPermit.refusal(), error(fiber.ErrRequestTimeout))
		case err != nil:
			return fiber.ErrBadRequest
		}
	}
}

// growBuffer doubles the buffer, or returns an error if the total of all bodies is at its limit.
func (r *bodyReader) growBuffer(length int) error {
	size := max(2*cap(r.bytes), smallBodyBytes)
	if most := r.limit + 1; size > most { // one byte above the limit shows that the body is too large
		size = most
	}
	if length >= 0 && size > length {
		size = length + 1 // one more byte, to detect the end of the body
	}
	if size <= cap(r.bytes) {
		return errBodyTooLarge
	}
	more := max(size, smallBodyBytes) - max(cap(r.bytes), smallBodyBytes)
	give, err := r.reserve(more)
	if err != nil {
		return err
	}
	r.releases = append(r.releases, give)
	r.bytes = append(make([]byte, 0, size), r.bytes...)
	return nil
}

// release subtracts the body from the total of all bodies. A second call does nothing.
func (r *bodyReader) release() {
	for _, give := range r.releases {
		give()
	}
	r.releases, r.bytes = nil, nil
}
