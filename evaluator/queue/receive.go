package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

const (
	// pullFor bounds one request for a message, and so how long a request that was lost with a
	// broken connection goes unnoticed.
	// Longer, and a slot stays idle for longer after a lost request; shorter, and idle workers cost the site more
	// requests.
	pullFor = 5 * time.Second
	// pullAheadFor bounds a request on behalf of a busy slot, which may be idle soon.
	// Its priority was said when it was made: a slot that has become idle since waits behind others for at most this
	// long.
	pullAheadFor = time.Second
	// askAgain is the pause before a site that cannot answer now is asked again.
	askAgain = 200 * time.Millisecond
)

// errLater says that the site has no job now, or cannot say.
var errLater = errors.New("ask again later")

// Receive waits for a job of the device. While the slot is busy, all idle slots of the device, on whatever
// worker, get their jobs before it; nil says that it never is. It returns ctx's error when ctx ends, and another
// error when the site refuses, or the connection is closed for good.
func (c *Conn) Receive(ctx context.Context, device string, busy func() bool) (*Delivery, error) {
	for {
		request := askForJob{Version: job.Version, Wait: pullFor, Busy: busy != nil && busy()}
		if request.Busy {
			request.Wait = pullAheadFor
		}
		m, err := c.receive(ctx, device, request)
		switch {
		case ctx.Err() != nil, c.nc.IsClosed():
			return nil, c.explain(ctx, fmt.Errorf("queue: receive jobs for %s: %w", device, err))
		case errors.Is(err, errLater):
			_ = pause(ctx, askAgain) // the site is restarting, perhaps: not in a busy loop
			continue
		// A timeout, mostly: no job came within Wait. Other errors pass by this way, too, and the next request shows
		// whether they stay.
		case err != nil:
			continue
		}
		if why := m.Header.Get(refusedKey); why != "" {
			return nil, fmt.Errorf("queue: the site refuses worker %q: %s", c.name, why)
		}
		if d := c.delivery(m, device); d != nil {
			return d, nil
		}
	}
}

// receive asks once and waits for the answer, at an inbox that is gone afterwards: JetStream then keeps
// the job for others.
func (c *Conn) receive(ctx context.Context, device string, request askForJob) (*nats.Msg, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	// An inbox of its own for each request. A job that comes after Unsubscribe has nobody who listens: JetStream sees
	// that, or delivers the job again after AckWait.
	inbox, err := c.nc.SubscribeSync(c.nc.NewInbox())
	if err != nil {
		return nil, err
	}
	defer inbox.Unsubscribe() // fails only when the connection is gone, and the inbox with it
	if err := c.nc.PublishRequest(askSubject(c.name, askNext+"."+token(device)), inbox.Subject, body); err != nil {
		return nil, errLater
	}
	// The answer is due after Wait; requestWait more for the way.
	ctx, cancel := context.WithTimeout(ctx, request.Wait+requestWait)
	defer cancel()
	m, err := inbox.NextMsgWithContext(ctx)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, errLater
	}
	if err != nil {
		return nil, err
	}
	switch m.Header.Get("Status") {
	case "":
	case "408": // nothing came
		return nil, nats.ErrTimeout
	default:
		return nil, errLater
	}
	if m.Header.Get(laterKey) != "" {
		return nil, errLater
	}
	return m, nil
}

// delivery reads a job. What is none is counted, and handed to the site, which takes it off the queue; it
// is nobody's fault here.
func (c *Conn) delivery(m *nats.Msg, device string) *Delivery {
	d := &Delivery{conn: c, ack: m.Reply}
	err := json.Unmarshal(m.Data, &d.Job)
	if err == nil {
		err = checkJob(d.Job, device)
	}
	if err == nil {
		return d
	}
	c.dropped.Add(1)
	c.log.Error("unreadable job is dropped", "subject", m.Subject, "err", errors.Join(err, d.tell(askReturn, claim{})))
	return nil
}

// Dropped is how many jobs came that could not be read.
func (c *Conn) Dropped() int64 { return c.dropped.Load() }
