package web

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"warpboard/web/conns"
	"warpboard/web/site"
)

// refuseMalformed refuses requests that this server and a proxy could parse differently (request smuggling), most of
// which fasthttp accepts. It also refuses compressed bodies: a few megabytes may unpack to gigabytes before a handler
// sets its limit. If few connections are free, it closes connections after their response, because idle ones keep other
// clients out.
func (s *Server) refuseMalformed(c *fiber.Ctx) error {
	if !site.IsInternal(c) {
		if why := headerError(&c.Request().Header); why != "" {
			endConnection(c)
			return &site.Failure{
				Status:  fiber.StatusBadRequest,
				Code:    "bad_request",
				Message: "The request could not be understood: " + why + ".",
			}
		}
		if s.site.Limiter.IsHalfUsed(conns.ConnectionsResource) {
			c.Context().SetConnectionClose()
		}
	}
	for _, encoding := range c.Request().Header.PeekAll(fiber.HeaderContentEncoding) {
		if len(encoding) > 0 {
			return &site.Failure{Status: fiber.StatusUnsupportedMediaType, Code: "encoding",
				Message: "Send the request as it is: a body with a Content-Encoding is not unpacked."}
		}
	}
	return c.Next()
}

// headerError describes an error in the header of a request, or returns "".
func headerError(h *fasthttp.RequestHeader) string {
	target, protocol := h.RequestURI(), string(h.Protocol())
	switch {
	case protocol != "HTTP/1.1" && protocol != "HTTP/1.0":
		return "its version of HTTP is neither 1.1 nor 1.0"
	case len(target) == 0 || target[0] != '/':
		return "its target must be a path, from the first slash"
	case bytes.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }):
		return "its target has a character that must be escaped"
	}
	seen := map[string]int{}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(h.RawHeaders(), []byte("\r\n\r\n")), []byte("\r\n")) {
		if len(line) == 0 {
			continue
		}
		if why := headerLineError(line, seen); why != "" {
			return why
		}
	}
	return headerSetError(seen, protocol)
}

// headerLineError returns the error in one header line, or "". It counts in seen the headers that determine the body's
// length and the host.
func headerLineError(line []byte, seen map[string]int) string {
	if line[0] == ' ' || line[0] == '\t' {
		return "a header continues on another line"
	}
	name, value, found := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.ContainsAny(line, "\r\n\x00"):
		return "a line does not end with CR and LF"
	case !found || len(name) == 0 || bytes.ContainsFunc(name, isForbiddenInToken):
		return "a header has no proper name"
	}
	key := string(bytes.ToLower(name))
	switch key {
	case "host":
		if bytes.ContainsAny(bytes.TrimSpace(value), " \t,/\\@?#") {
			return "its Host is not a host"
		}
		seen[key]++
	case "content-length":
		if bytes.ContainsFunc(bytes.TrimSpace(value), func(r rune) bool { return r < '0' || r > '9' }) {
			return "its Content-Length is not a number"
		}
		seen[key]++
	case "transfer-encoding":
		if !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
			return "its Transfer-Encoding is not chunked"
		}
		seen[key]++
	}
	return ""
}

func headerSetError(seen map[string]int, protocol string) string {
	hosts, lengths, encodings := seen["host"], seen["content-length"], seen["transfer-encoding"]
	switch {
	case hosts > 1:
		return "it names more than one Host"
	case hosts == 0 && protocol == "HTTP/1.1":
		return "it names no Host"
	case lengths > 1 || encodings > 1:
		return "it gives its length more than once"
	case lengths > 0 && encodings > 0:
		return "it has both a Content-Length and a Transfer-Encoding"
	case encodings > 0 && protocol == "HTTP/1.0":
		return "HTTP/1.0 has no Transfer-Encoding"
	}
	return ""
}

// isForbiddenInToken reports whether a character is forbidden in a header's name (RFC 9110, section 5.6.2).
func isForbiddenInToken(r rune) bool {
	switch {
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		return false
	}
	return r > 0x7e || !bytes.ContainsRune([]byte("!#$%&'*+-.^_`|~"), r)
}
