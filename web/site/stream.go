package site

import (
	"bytes"
	"cmp"
	"net"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/conns"
)

// StreamBody responds with a body that write produces. write runs after the handler has returned and fasthttp has freed
// the request, so it must not use c.
func (s *Site) StreamBody(c *fiber.Ctx, write func(*conns.Writer)) {
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
		sent := s.SendingGroup.Go(func() {
			defer connection.Close()
			out := conns.NewWriter(connection, head, inChunks)
			write(out)
			out.Finish()
		})
		if !sent {
			connection.Close()
		}
	})
}

// CountStream counts the connection of a request as a live stream until the connection is closed. If the response is
// not a stream, the handler must close the connection.
func (s *Site) CountStream(c *fiber.Ctx) error {
	give, err := s.acquire(c, streamsResource, 1)
	return releaseWhenClosed(c, give, err)
}

// CountWorker counts the connection of a request as a worker's until the connection is closed.
func (s *Site) CountWorker(c *fiber.Ctx) error {
	give, err := s.Limiter.Acquire(workerConnectionsResource, senderKeys(c), 1)
	return releaseWhenClosed(c, give, err)
}

func releaseWhenClosed(c *fiber.Ctx, give func(), err error) error {
	if err == nil {
		conns.OnClose(c.Context().Conn(), give)
	}
	return err
}

// Stream responds with server-sent events until the source is complete, the reader disconnects or signs out, or the
// server stops.
func (s *Site) Stream(c *fiber.Ctx, source conns.StreamSource) error {
	if err := s.CountStream(c); err != nil {
		return err
	}
	s.SendStream(c, source)
	return nil
}

// SendStream responds with server-sent events, as Stream does, to a request that CountStream has counted.
func (s *Site) SendStream(c *fiber.Ctx, source conns.StreamSource) {
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set("X-Accel-Buffering", "no")
	source.Heartbeat, source.Reauthorize = cmp.Or(source.Heartbeat, s.Settings.Heartbeat), s.reauthorize(c)
	if c.Method() == fiber.MethodHead {
		c.Context().SetConnectionClose()
		return
	}
	s.StreamBody(c, func(out *conns.Writer) {
		if err := source.SendStream(s.StreamContext, s.Hub.Hub, out); err != nil {
			s.Log.Debug("stream ended", "err", err)
		}
	})
}
