package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// saidSubject is where the site's processes tell each other what their viewers should see. Workers may neither send nor
// hear it.
const (
	saidSubject = "site.said"
	originKey   = "Origin"
)

// Shared reports whether other processes of the site may be on the same queue: it is a cluster of its own.
func (q *Queue) Shared() bool { return q.host == nil }

// Announce tells the site's other processes, without waiting for them. Those that are not there now never hear it.
func (q *Queue) Announce(data []byte) error {
	m := nats.NewMsg(saidSubject)
	m.Data = data
	m.Header.Set(originKey, q.origin)
	return q.nc.PublishMsg(m)
}

// Announcements calls fn with what the site's other processes announce until ctx ends, and missed when some of it may have
// been lost: the connection was.
// fn is called by the subscription's goroutine, one message at a time. It must not block: NATS drops what comes faster
// than it is taken (a slow consumer), and that loss is not told to missed.
func (q *Queue) Announcements(ctx context.Context, fn func([]byte) error, missed func()) error {
	said, err := q.nc.Subscribe(saidSubject, func(m *nats.Msg) {
		if m.Header.Get(originKey) == q.origin {
			return
		}
		if err := fn(m.Data); err != nil {
			q.drop("an announcement", "err", err)
		}
	})
	if err != nil {
		return fmt.Errorf("queue: listen to the site's other processes: %w", err)
	}
	// It comes after each reconnect, whether or not anything was said in the meantime: asking once too often is harmless.
	back := q.nc.StatusChanged(nats.CONNECTED)
	for {
		select {
		case <-back:
			missed()
			continue
		case <-ctx.Done():
		}
		break
	}
	if err := said.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("queue: stop listening to the site's other processes: %w", err)
	}
	return nil
}
