package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// siteChangesSubject is the subject of messages between the site's processes about changes that viewers see. Workers
// can neither send nor receive on it.
const siteChangesSubject = "site.said"

// IsShared reports whether other processes of the site may use the same queue, because it is an external cluster.
func (q *Queue) IsShared() bool { return q.server == nil }

// AnnounceChange sends data to the site's other processes without waiting. Processes that are not connected miss it.
func (q *Queue) AnnounceChange(data []byte) error {
	return q.natsConn.Publish(siteChangesSubject, data)
}

// ReceiveChanges calls fn with each announcement of the site's other processes until ctx ends. It calls missed after a
// reconnect, because announcements may have been lost. fn is called sequentially and must not block: NATS drops
// messages for a slow consumer without a call of missed.
func (q *Queue) ReceiveChanges(ctx context.Context, fn func([]byte) error, missed func()) error {
	sub, err := q.natsConn.Subscribe(siteChangesSubject, func(m *nats.Msg) {
		if err := fn(m.Data); err != nil {
			q.logInvalid("an announcement", "err", err)
		}
	})
	if err != nil {
		return fmt.Errorf("queue: listen to the site's other processes: %w", err)
	}
	// The channel receives every reconnect, even if nothing was announced during the interruption. An unneeded call of
	// missed is harmless.
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
