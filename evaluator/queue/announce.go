package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// announceSubject is for messages between the site's processes about changes that viewers see. Workers may neither send
// nor receive on it.
const announceSubject = "site.said"

// Shared reports whether other processes of the site may use the same queue, which is then an external cluster.
func (q *Queue) Shared() bool { return q.server == nil }

// Announce sends data to the site's other processes, without waiting. A process that is not connected misses it.
func (q *Queue) Announce(data []byte) error { return q.natsConn.Publish(announceSubject, data) }

// Announcements calls fn with the announcements of the site's other processes until ctx ends. It calls missed after a
// reconnect, when some may have been lost. fn runs in the subscription's goroutine, one message at a time, and must not
// block: NATS drops messages for a slow consumer, without a call of missed.
func (q *Queue) Announcements(ctx context.Context, fn func([]byte) error, missed func()) error {
	sub, err := q.natsConn.Subscribe(announceSubject, func(m *nats.Msg) {
		if err := fn(m.Data); err != nil {
			q.logInvalid("an announcement", "err", err)
		}
	})
	if err != nil {
		return fmt.Errorf("queue: listen to the site's other processes: %w", err)
	}
	// Signals each reconnect, even if nothing was announced in the meantime. Calling missed too often is harmless.
	back := q.natsConn.StatusChanged(nats.CONNECTED)
	for ctx.Err() == nil {
		select {
		case <-back:
			missed()
		case <-ctx.Done():
		}
	}
	if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("queue: stop listening to the site's other processes: %w", err)
	}
	return nil
}
