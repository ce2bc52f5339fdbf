package conns

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	maxStreamLife = 30 * time.Minute // afterwards the browser connects again, perhaps to another process of the site
	retryField    = "retry: 1000\n\n"
)

// ErrStreamComplete ends a stream that is complete.
var ErrStreamComplete = errors.New("stream is complete")

// StreamSource produces the content of one stream. It must not keep a reference to a fiber.Ctx, because the stream
// outlives its handler.
type StreamSource struct {
	Topic Topic
	// MaxBufferedMessages is the largest number of messages that a reader may lag behind. A slower reader gets a
	// message without an event.
	MaxBufferedMessages int
	// WriteBacklog writes the stored events that the reader does not have. It runs after the subscription, so that no
	// event is lost between the two.
	WriteBacklog func(ctx context.Context, out *Writer) error
	// WriteMessage writes one message, unless WriteBacklog has already written it.
	WriteMessage func(ctx context.Context, m Message, out *Writer) error
	// WriteHeartbeat writes at each heartbeat. If it is nil, a comment is written. Set it only for streams that
	// programs read.
	WriteHeartbeat func(ctx context.Context, out *Writer) error
	// WriteEndReason writes the reason for the end of an incomplete stream. If it is nil, nothing is written. The
	// reader may have disconnected already.
	WriteEndReason func(why error, out *Writer)

	Heartbeat   time.Duration
	Reauthorize func(context.Context) error // called at each heartbeat; an error ends the stream
}

// SendStream writes the stream to one reader until it is complete (nil), the reader disconnects, stops reading, or is
// signed out, half an hour has passed, or ctx ends. The error is the reason.
//
// SendStream subscribes first, then reads the store, then passes on new events, so that no event is lost. An event that
// is stored between the first two steps arrives twice. WriteMessage must skip events that WriteBacklog has written, by
// ID or change number.
func (s StreamSource) SendStream(ctx context.Context, hub *Hub, out *Writer) error {
	sub := hub.subscribe(s.Topic, s.MaxBufferedMessages)
	defer hub.unsubscribe(sub)
	ctx, cancel := context.WithTimeout(ctx, maxStreamLife)
	defer cancel()
	err := s.sendMessages(ctx, sub.messages, out)
	if errors.Is(err, ErrStreamComplete) {
		return nil
	}
	if s.WriteEndReason != nil {
		s.WriteEndReason(err, out)
		return errors.Join(err, out.Flush())
	}
	return err
}

func (s StreamSource) sendMessages(ctx context.Context, messages <-chan Message, out *Writer) error {
	gone := out.Disconnected()
	defer out.Flush()
	if s.WriteHeartbeat == nil { // "retry:" is for browsers; other programs do not read it
		out.WriteString(retryField)
	}
	if err := out.Flush(); err != nil { // shows the page that it is connected, before the store is read
		return err
	}
	if err := s.WriteBacklog(ctx, out); err != nil {
		return err
	}
	beat := time.NewTicker(s.Heartbeat)
	defer beat.Stop()
	for {
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case m := <-messages:
			if err := s.WriteMessage(ctx, m, out); err != nil {
				return err
			}
		case <-beat.C:
			if err := s.Reauthorize(ctx); err != nil {
				return err
			}
			if err := s.writeHeartbeat(ctx, out); err != nil {
				return err
			}
		case <-gone:
			return errors.New("reader left")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s StreamSource) writeHeartbeat(ctx context.Context, out *Writer) error {
	if s.WriteHeartbeat != nil {
		return s.WriteHeartbeat(ctx, out)
	}
	_, err := out.WriteString(":\n\n")
	return err
}

// FormatEvent returns one server-sent event. Without a name, browsers deliver it as a "message" event. An id of 0 is
// omitted.
func FormatEvent(id int64, name string, data []byte) []byte {
	var b bytes.Buffer
	if id > 0 {
		b.WriteString("id: " + strconv.FormatInt(id, 10) + "\n")
	}
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n")) // a lone \r would end the line, too
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// LastEventID returns the ID of the newest event that the reader has: the Last-Event-ID of a reconnect, or ?after=.
func LastEventID(c *fiber.Ctx) int64 {
	seen, _ := strconv.ParseInt(c.Query("after"), 10, 64)
	if again, err := strconv.ParseInt(c.Get("Last-Event-ID"), 10, 64); err == nil && again > seen {
		seen = again
	}
	return max(seen, 0)
}
