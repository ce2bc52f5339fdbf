package web

import (
	"bytes"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// takeOver answers with a body that write makes bit by bit, after the handler has returned and all that
// fasthttp keeps for a request is free again. Nothing of c may be used in write.
func (s *Site) takeOver(c *fiber.Ctx, write func(*outlet)) {
	request, connection, inChunks := c.Context(), c.Context().Conn(), c.Request().Header.IsHTTP11()
	header := &request.Response.Header
	header.SetContentLength(-2)
	if inChunks {
		header.SetContentLength(-1)
	}
	header.SetConnectionClose()
	request.HijackSetNoResponse(true)
	request.Hijack(func(net.Conn) {
		head := bytes.Clone(header.Header())
		s.sending.Go(func() {
			defer connection.Close()
			out := newOutlet(connection, head, inChunks)
			write(out)
			out.end()
		})
	})
}

// stream answers with server-sent events until the source is complete, the reader is gone or signed out, or
// the server stops.
func (s *Site) stream(c *fiber.Ctx, source Source) error {
	who := shareOf(c)
	switch s.streaming.take(who, 1) {
	case roomUsedUp:
		return tooMany("Too many pages are being watched live from your address. Close some of them.", time.Minute)
	case roomFull:
		return tooMany("Too many pages are being watched live. Reload in a minute.", time.Minute)
	}
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set("X-Accel-Buffering", "no")
	source.Heartbeat, source.Reauthorize = s.Heartbeat, s.reauthorize(c)
	whenClosed(c.Context().Conn(), func() { s.streaming.give(who, 1) })
	if c.Method() == fiber.MethodHead {
		c.Context().SetConnectionClose()
		return nil
	}
	s.takeOver(c, func(out *outlet) {
		if err := source.Send(s.streams, s.Hub.TopicHub, out); err != nil {
			s.Log.Debug("stream ended", "err", err)
		}
	})
	return nil
}
