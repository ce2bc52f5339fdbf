package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// saidSubject carries changes for viewers between the site's processes. Workers may neither send nor receive it.
const saidSubject = "site.said"

// Shared reports whether other processes of the site may use the same queue: it is an external cluster.
func (q *Queue) Shared() bool { return q.server == nil }

// Announce sends to the site's other processes, without waiting for them. A process that is not connected never gets it.
func (q *Queue) Announce(data []byte) error { return q.nc.Publish(saidSubject, data) }

// Announcements calls fn with the announcements of the site's other processes until ctx ends, and missed when some may be
// lost because the connection was. The subscription's goroutine calls fn, one message at a time. It must not block: NATS
// drops messages for a slow consumer, and missed is not called for that.
func (q *Queue) Announcements(ctx context.Context, fn func([]byte) error, missed func()) error {
	said, err := q.nc.Subscribe(saidSubject, func(m *nats.Msg) {
		if err := fn(m.Data); err != nil {
			q.drop("an announcement", "err", err)
		}
	})
	if err != nil {
		return fmt.Errorf("queue: listen to the site's other processes: %w", err)
	}
	// It comes after each reconnect, whether or not anything was said in the meantime: asking once too often is harmless.
	back := q.nc.StatusChanged(nats.CONNECTED)
	for ctx.Err() == nil {
		select {
		case <-back:
			missed()
		case <-ctx.Done():
		}
	}
	if err := said.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("queue: stop listening to the site's other processes: %w", err)
	}
	return nil
}
