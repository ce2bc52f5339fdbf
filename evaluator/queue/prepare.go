package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

// waitingHints is how many hints wait for a busy worker; further ones are dropped.
const waitingHints = 64

func prepareSubject(device string) string { return preparePrefix + token(device) }

// Prepare sends a hint to the workers of its device that are connected at this moment, without
// waiting for them. One that is too large for a message gives ErrTooLarge.
func (q *Queue) Prepare(p job.Preparation) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("queue: encode the hint about %s: %w", p.Name, err)
	}
	if int64(len(data)) > q.nc.MaxPayload() {
		return fmt.Errorf("queue: the hint about %s has %d bytes, at most %d fit: %w", p.Name, len(data), q.nc.MaxPayload(), ErrTooLarge)
	}
	if err := q.nc.Publish(prepareSubject(p.Device), data); err != nil {
		return fmt.Errorf("queue: send the hint about %s: %w", p.Name, err)
	}
	return nil
}

// Preparations delivers the hints for these devices until ctx ends. None is missed that the site
// sends in answer to a heartbeat that follows this call, unless too many wait already.
func (c *Conn) Preparations(ctx context.Context, devices []string) (<-chan job.Preparation, error) {
	hints := make(chan job.Preparation, waitingHints)
	for _, device := range devices {
		sub, err := c.nc.Subscribe(prepareSubject(device), func(m *nats.Msg) { c.hint(m, hints) })
		if err != nil {
			return nil, fmt.Errorf("queue: subscribe to hints for %s: %w", device, err)
		}
		context.AfterFunc(ctx, func() {
			if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
				c.log.Warn("unsubscribe from hints", "device", device, "err", err)
			}
		})
	}
	return hints, nil
}

func (c *Conn) hint(m *nats.Msg, hints chan<- job.Preparation) {
	var p job.Preparation
	if err := json.Unmarshal(m.Data, &p); err != nil {
		c.log.Warn("unreadable hint", "subject", m.Subject, "err", err)
		return
	}
	select {
	// The subscription's goroutine must not wait: the same connection brings cancellations. What is dropped here is
	// compiled by the first run that needs it.
	case hints <- p:
	default:
		c.log.Debug("hint dropped: too many wait", "task", p.Name, "device", p.Device)
	}
}
