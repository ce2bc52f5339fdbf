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

// RawHeader returns the sender's value of a header that holdBody has changed.
func RawHeader(c *fiber.Ctx, name string) string {
	for line := range bytes.SplitSeq(c.Request().Header.RawHeaders(), []byte("\r\n")) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(key, []byte(name)) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// ReadBody reads the body of a request up to the limit. It must come after Identify and before every use of a body.
func (s *Site) ReadBody(limit func(*fiber.Ctx) int) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !c.Request().IsBodyStream() {
			return c.Next()
		}
		return s.readAtMost(c, limit(c))
	}
}

func (s *Site) readAtMost(c *fiber.Ctx, limit int) error {
	r := &bodyReader{limits: s.Settings.Limits, limit: limit, conn: c.Context().Conn()}
	r.take = func(n int) (give func(), err error) { return s.take(c, Bodies, n) }
	defer r.release()
	r.place = s.takeLater(c, Uploads, quickBodyTime, func() { r.conn.SetReadDeadline(time.Now()) })
	defer r.place.end()
	length := c.Request().Header.ContentLength() // -1: chunked
	if length > r.limit {
		return tooLarge(c, r.limit)
	}
	if strings.EqualFold(RawHeader(c, fiber.HeaderExpect), "100-continue") && c.Request().Header.IsHTTP11() {
		r.conn.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")) // an error recurs when answering
	}
	err := r.read(c.Request().BodyStream(), length)
	r.place.end()
	if err != nil {
		if errors.Is(err, errBodyTooLarge) {
			return tooLarge(c, r.limit)
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

// countFields refuses forms whose parsing takes far more time and memory than their bytes, before anything parses them.
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

// hasPlainPartHeaders reports whether a form has few parts with small headers.
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

// partHeaderSize returns the number of bytes before the first blank line, or all if there is none.
func partHeaderSize(part []byte) int {
	size := len(part)
	for _, blank := range []string{"\n\r\n", "\n\n"} {
		if at := bytes.Index(part, []byte(blank)); at >= 0 {
			size = min(size, at)
		}
	}
	return size
}

// DropBody frees a body that was parsed, for a request that takes long.
func DropBody(c *fiber.Ctx) {
	c.Request().ResetBody()
	if r, ok := c.Locals(localBody).(*bodyReader); ok {
		r.release()
	}
}

// KernelBody limits the bodies of requests without a task, in bytes: a kernel of 1 MB fits, also as JSON with escapes.
const KernelBody = 4 << 20

// SmallBody returns the limit for requests without a task.
func SmallBody(c *fiber.Ctx) int {
	if Viewer(c) == nil {
		return StrangerBody
	}
	return KernelBody
}

// A body that arrives within quickBodyTime needs no place among the slow ones, and smallBodyBytes bytes of each are not
// counted: filling both with slow and large bodies does not keep anyone from signing in. There are as many of these
// places as requests.
const (
	quickBodyTime  = time.Second
	smallBodyBytes = 4 << 10
)

var errBodyTooLarge = errors.New("body too large")

func tooLarge(c *fiber.Ctx, limit int) error {
	if Viewer(c) == nil {
		return Unauthorized("Sign in, or send a token: without one only small requests are read.")
	}
	return &Failure{Status: fiber.StatusRequestEntityTooLarge, Code: "too_large",
		Message: fmt.Sprintf("The request is larger than the %s allowed here.", format.Bytes(int64(limit)))}
}

// bodyReader reads one body.
type bodyReader struct {
	limits Limits
	limit  int // bytes
	conn   net.Conn
	take   func(n int) (give func(), err error)
	place  *deferredPlace
	gives  []func() // return the reserved resources
	bytes  []byte
}

// read collects the body. The memory grows with the received bytes, not with the announced length.
func (r *bodyReader) read(from io.Reader, length int) error {
	end := time.Now().Add(r.limits.Body)
	for {
		if len(r.bytes) == cap(r.bytes) {
			if err := r.grow(length); err != nil {
				return err
			}
		}
		next := time.Now().Add(r.limits.Pause)
		if next.After(end) {
			next = end
		}
		r.conn.SetReadDeadline(next)
		if err := r.place.refusal(); err != nil { // after the deadline, which a refusal sets, too
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
			return cmp.Or(r.place.refusal(), error(fiber.ErrRequestTimeout))
		case err != nil:
			return fiber.ErrBadRequest
		}
	}
}

// grow doubles the buffer, if the total allows it.
func (r *bodyReader) grow(length int) error {
	size := max(2*cap(r.bytes), smallBodyBytes)
	if most := r.limit + 1; size > most { // one more byte shows that it is too large
		size = most
	}
	if length >= 0 && size > length {
		size = length + 1 // to detect the end
	}
	if size <= cap(r.bytes) {
		return errBodyTooLarge
	}
	more := max(size, smallBodyBytes) - max(cap(r.bytes), smallBodyBytes)
	give, err := r.take(more)
	if err != nil {
		return err
	}
	r.gives = append(r.gives, give)
	r.bytes = append(make([]byte, 0, size), r.bytes...)
	return nil
}

// release returns the bytes to the total. Calling it once is enough.
func (r *bodyReader) release() {
	for _, give := range r.gives {
		give()
	}
	r.gives, r.bytes = nil, nil
}
