package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"warpboard/evaluator/job"
)

const (
	// How many requests are answered at the same time. Each may wait for the disk (a result) or the database of the
	// cluster.
	deskClerks = 4
	// Of one worker, as deskBytes; beyond that its own oldest go. Sixteen workers that fill theirs cost 1 GiB.
	deskWaiting = 512
	deskBytes   = 4 * MaxMessage
	// deskStanding is how many requests for a job one worker may have standing: far more than its slots.
	deskStanding = 128
	// deskPatience bounds how long one worker's request keeps a clerk.
	deskPatience = 4 * time.Second
)

// desk is where workers ask the site for what only the site may do: it checks who asks and for what, and
// answers to nobody but the one who asked.
//
// The subscription's goroutine puts messages into waiting and never blocks; deskClerks goroutines take them. Two requests
// of one worker may be answered at the same time, or in another order than they came. mu guards standing alone and is
// held for no call.
type desk struct {
	q       *Queue
	waiting *fair
	owners  owners

	mu       sync.Mutex
	standing map[string][]time.Time // worker → when its requests for jobs end
}

func newDesk(q *Queue) *desk {
	return &desk{q: q, waiting: newFair(deskWaiting, deskBytes, &q.dropped), owners: newOwners(), standing: map[string][]time.Time{}}
}

// open begins to answer, until ctx ends.
func (d *desk) open(ctx context.Context) error {
	_, err := d.q.nc.QueueSubscribe(askPrefix+">", askSites, func(m *nats.Msg) {
		worker, _, _ := parseAsk(m.Subject)
		// A reply subject of somebody else's would have the site send there with its own rights.
		if worker == "" || m.Reply != "" && !ownReply(worker, m.Reply) {
			d.q.drop("ask", "subject", m.Subject, "reply", m.Reply)
			return
		}
		d.waiting.put(worker, m)
	})
	if err == nil {
		err = d.q.nc.FlushTimeout(requestWait) // who opened the queue may ask at once
	}
	if err != nil {
		return fmt.Errorf("queue: listen to workers: %w", err)
	}
	for range deskClerks {
		d.q.running.Go(func() {
			for {
				worker, m, ok := d.waiting.take(ctx)
				if !ok {
					return
				}
				d.answer(ctx, worker, m)
			}
		})
	}
	return nil
}

func (d *desk) answer(ctx context.Context, worker string, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, deskPatience)
	defer cancel()
	_, what, device := parseAsk(m.Subject)
	var err error
	switch what {
	case askNext:
		err = d.next(ctx, worker, device, m)
	case askExtend, askDone, askReturn:
		err = d.settle(ctx, worker, what, m)
	case askResult:
		if err = d.keep(ctx, worker, m); err == nil {
			d.say(m, "", "")
		}
	}
	// Canceled is the end of the site; a request that ran out of deskPatience is counted and answered "later".
	if err != nil && ctx.Err() != context.Canceled {
		d.q.failed.count("a worker's request failed", "worker", worker, "what", what, "err", err)
		d.say(m, laterKey, err.Error())
	}
}

// say answers with at most one header.
func (d *desk) say(m *nats.Msg, key, text string) {
	if m.Reply == "" {
		return
	}
	answer := nats.NewMsg(m.Reply)
	if key != "" {
		answer.Header.Set(key, text)
	}
	if err := d.q.nc.PublishMsg(answer); err != nil {
		d.q.log.Warn("a worker was not answered", "subject", m.Subject, "err", err)
	}
}

// next has JetStream send a job of the device straight to the worker's inbox: when the worker goes away
// meanwhile, the server knows, and keeps the job.
func (d *desk) next(ctx context.Context, worker, device string, m *nats.Msg) error {
	var ask askForJob
	if err := json.Unmarshal(m.Data, &ask); err != nil || m.Reply == "" || device == "" {
		d.q.drop("ask", "worker", worker, "subject", m.Subject)
		return nil
	}
	if ask.Version != job.Version {
		d.say(m, refusedKey, fmt.Sprintf("the site sends jobs of version %d and this worker reads version %d: update the older one", job.Version, ask.Version))
		return nil
	}
	// The worker's word is bounded: a request that stands for hours would outlive its connection unseen.
	wait := min(max(ask.Wait, 10*time.Millisecond), pullFor)
	if !d.admit(worker, time.Now(), wait) {
		d.say(m, laterKey, "too many requests for jobs are standing")
		return nil
	}
	if err := d.q.makeConsumer(ctx, device); err != nil {
		return err
	}
	request := pullRequest{Batch: 1, Expires: wait, Group: slotsGroup}
	if ask.Busy {
		request.Priority = 1
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return d.q.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+jobsStream+"."+consumerName(device), m.Reply, body)
}

// pullRequest is JetStream's.
type pullRequest struct {
	Batch    int           `json:"batch"`
	Expires  time.Duration `json:"expires"`
	Group    string        `json:"group,omitempty"`
	Priority int           `json:"priority,omitempty"`
}

// admit counts a request for a job until it ends; too many of one worker would crowd others out.
func (d *desk) admit(worker string, now time.Time, wait time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var standing []time.Time
	for _, end := range d.standing[worker] {
		if end.After(now) {
			standing = append(standing, end)
		}
	}
	ok := len(standing) < deskStanding
	if ok {
		standing = append(standing, now.Add(wait))
	}
	d.standing[worker] = standing
	return ok
}

// fulfilled notes that one of the worker's requests stands no more: it got a job.
// Weakness: the one that is dropped is the oldest that still stands, which need not be the one that the job answered (of
// a long job that has ended by then). A worker that ends many jobs may so have more standing than admit says; maxWaiting
// bounds them all.
func (d *desk) fulfilled(worker string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if standing := d.standing[worker]; len(standing) > 0 {
		d.standing[worker] = standing[1:]
	}
}

// keep stores a result. Its id is the worker's own: nobody else can use it up before the true result comes.
// The hash covers the worker's name and the whole text, so that a result that is sent again within duplicateWindow is
// stored once, and one that differs by a byte is another one: the database takes the first that has the secret.
func (d *desk) keep(ctx context.Context, worker string, m *nats.Msg) error {
	sum := sha256.Sum256(append([]byte(worker+"\x00"), m.Data...))
	_, err := d.q.js.Publish(ctx, resultPrefix+token(worker), m.Data, jetstream.WithMsgID(hex.EncodeToString(sum[:])))
	d.q.health.note(resultsStream, err)
	return err
}
