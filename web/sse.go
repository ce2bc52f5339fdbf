package web

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	streamLife  = 30 * time.Minute // then the browser connects again, to whichever server is there
	streamRetry = "retry: 1000\n\n"
)

// errStreamDone ends a stream that has nothing more to tell.
var errStreamDone = errors.New("stream is complete")

// feed is what one stream sends. Nothing of a fiber.Ctx may be inside: the stream outlives its handler.
type feed struct {
	topic topic
	// backlog writes what the store has and the reader does not. It runs after subscribing, so that
	// nothing falls between.
	backlog func(ctx context.Context, out *outlet) error
	// live writes one message, unless backlog has sent it already.
	live func(ctx context.Context, m message, out *outlet) error

	heartbeat time.Duration
	standing  func(context.Context) error // asked at each heartbeat; an error ends the stream
}

// run feeds one reader; the error says why it ended.
func (f feed) run(ctx context.Context, sub *subscription, out *outlet) error {
	gone := make(chan struct{})
	go watch(out.chunks.conn, gone)
	defer out.Flush()
	out.WriteString(streamRetry)
	if err := out.Flush(); err != nil { // the page knows that it is connected before the store is asked
		return err
	}
	if err := f.backlog(ctx, out); err != nil {
		return err
	}
	beat := time.NewTicker(f.heartbeat)
	defer beat.Stop()
	for {
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case m := <-sub.C:
			if err := f.live(ctx, m, out); err != nil {
				return err
			}
		case <-beat.C:
			if err := f.standing(ctx); err != nil {
				return err
			}
			out.WriteString(":\n\n")
		case <-gone:
			return errors.New("reader left")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// frame is one server-sent event. Without a name browsers deliver it as a plain message; id 0 sends no id.
func frame(id int64, name string, data []byte) []byte {
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

// lastSeen is the id of the newest event that the reader has: the Last-Event-ID of a reconnect, else ?after=.
func lastSeen(c *fiber.Ctx) int64 {
	seen, _ := strconv.ParseInt(c.Query("after"), 10, 64)
	if again, err := strconv.ParseInt(c.Get("Last-Event-ID"), 10, 64); err == nil && again > seen {
		seen = again
	}
	return max(seen, 0)
}
