package web

import (
	"bytes"
	"context"
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// takeOver answers with a body that write makes bit by bit, after the handler has returned and all that
// fasthttp keeps for a request is free again. Nothing of c may be used in write.
func (s *Site) takeOver(c *fiber.Ctx, write func(*outlet)) {
	request, conn, inChunks := c.Context(), c.Context().Conn(), c.Request().Header.IsHTTP11()
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
			defer conn.Close()
			out := newOutlet(conn, head, inChunks)
			write(out)
			out.end()
		})
	})
}

// stream answers with server-sent events until the reader leaves, takes nothing any more or is signed out,
// half an hour is over, the feed is complete, or the server stops.
func (s *Site) stream(c *fiber.Ctx, f feed) error {
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
	f.heartbeat, f.standing = s.Heartbeat, s.standing(c)
	whenClosed(c.Context().Conn(), func() { s.streaming.give(who, 1) })
	if c.Method() == fiber.MethodHead {
		c.Context().SetConnectionClose()
		return nil
	}
	s.takeOver(c, func(out *outlet) {
		sub := s.Hub.subscribe(f.topic)
		defer s.Hub.unsubscribe(sub)
		ctx, cancel := context.WithTimeout(s.streams, streamLife)
		defer cancel()
		if err := f.run(ctx, sub, out); err != nil && !errors.Is(err, errStreamDone) {
			s.Log.Debug("stream ended", "error", err)
		}
	})
	return nil
}
