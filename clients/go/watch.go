package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits of Watch: durations of pauses, and the bytes of one line.
const (
	maxReconnectDelay = 5 * time.Second
	maxStreamSilence  = 45 * time.Second // the site sends a heartbeat three times in this time
	maxLineBytes      = 4 << 20
)

// errAllRunsEnded means that every run has ended and that the server has sent every event.
var errAllRunsEnded = errors.New("all runs have ended")

// Watch calls each with every event of the submission newer than after, once and in order, and returns nil when all
// runs have ended. After a lost connection or a restart of the server it reconnects from the last event. It returns
// early if each returns an error, ctx ends, or the site refuses.
func (c *Client) Watch(ctx context.Context, id, after int64, each func(Event) error) error {
	return repeatAfterErrors(ctx, &after, func() error { return c.streamEvents(ctx, id, &after, each) })
}

// repeatAfterErrors calls follow until it returns without an error, and again after each error. follow sets *after to
// the ID of the last event.
func repeatAfterErrors(ctx context.Context, after *int64, follow func() error) error {
	var pause time.Duration
	for {
		seen := *after
		err := follow()
		if ended, err := checkWatchEnded(ctx, err); ended {
			return err
		}
		pause = min(2*pause+200*time.Millisecond, maxReconnectDelay)
		if *after > seen {
			pause = 0
		}
		if err := sleepContext(ctx, max(pause, retryAfter(err))); err != nil {
			return err
		}
	}
}

// checkWatchEnded reports whether watching has ended, and the error to return.
func checkWatchEnded(ctx context.Context, err error) (ended bool, _ error) {
	var refused *Problem
	var stop callbackError
	switch {
	case errors.Is(err, errAllRunsEnded):
		return true, nil
	case errors.As(err, &stop):
		return true, stop.error
	case ctx.Err() != nil:
		return true, ctx.Err()
	case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests:
		return true, refused
	}
	return false, nil
}

// retryAfter returns the pause that the site requested, or 0.
func retryAfter(err error) time.Duration {
	var refused *Problem
	if errors.As(err, &refused) {
		return refused.RetryAfter
	}
	return 0
}

// callbackError is an error that the function of a caller returned.
type callbackError struct{ error }

// streamEvents reads events from one connection, and sets *after to the ID of the last event.
func (c *Client) streamEvents(ctx context.Context, id int64, after *int64, each func(Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	path := fmt.Sprintf("/submissions/%d/events", id)
	resp, err := c.sendBody(ctx, http.MethodGet, path, nil,
		"Last-Event-ID", strconv.FormatInt(*after, 10), "Accept", "text/event-stream")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	silence := time.AfterFunc(maxStreamSilence, cancel) // a dead connection returns no error by itself
	defer silence.Stop()
	return readEvents(resp.Body, func(name, data string) error {
		silence.Reset(maxStreamSilence)
		if name == "end" {
			return errAllRunsEnded
		}
		if data == "" {
			return nil
		}
		var e Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return callbackError{fmt.Errorf("an event of submission %d is not JSON: %w", id, err)}
		}
		if e.ID <= *after {
			return nil
		}
		if err := each(e); err != nil {
			return callbackError{err}
		}
		*after = e.ID
		return nil
	})
}

// readEvents parses server-sent events. For a block without data, such as a heartbeat, it calls each with "".
func readEvents(r io.Reader, each func(name, data string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLineBytes)
	var name string
	var data []string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if err := each(name, strings.Join(data, "\n")); err != nil {
				return err
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
