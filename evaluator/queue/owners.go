package queue

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"warpboard/evaluator/job"
)

// ownersKept is far more than there are jobs in flight.
// About 150 bytes each. Forgetting all of them costs one read of each job at its next sign of life, and nothing else.
const ownersKept = 20_000

var errNoJob = errors.New("there is no such job in the queue")

// owner is what proves that a job in the stream was given to whoever speaks of it.
type owner struct {
	consumer string
	secret   [sha256.Size]byte
	broken   error // it is not a job at all
}

// owners remembers the jobs' proofs, so that a sign of life does not read the whole job again.
// The key is the sequence in the stream of jobs. It is unique as long as the stream lives; a stream that is made anew
// counts from 1 again, and a stale proof would belong to another job: begin calls reset. Each process of a site has its
// own.
type owners struct {
	mu  sync.Mutex
	all map[uint64]owner
}

func newOwners() owners { return owners{all: map[uint64]owner{}} }

func (o *owners) get(sequence uint64) (owner, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.all[sequence]
	return found, ok
}

func (o *owners) put(sequence uint64, one owner) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) >= ownersKept {
		clear(o.all)
	}
	o.all[sequence] = one
}

func (o *owners) forget(sequence uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, sequence)
}

// reset forgets all: the stream was made anew and counts from 1.
func (o *owners) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.all)
}

// owner finds out whose the job with this number is; errNoJob when it is there no more.
func (d *desk) owner(ctx context.Context, sequence uint64) (owner, error) {
	if known, ok := d.owners.get(sequence); ok {
		return known, nil
	}
	stream, err := d.q.js.Stream(ctx, jobsStream)
	if err != nil {
		return owner{}, fmt.Errorf("open the stream of jobs: %w", err)
	}
	msg, err := stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return owner{}, errNoJob
	}
	if err != nil {
		return owner{}, fmt.Errorf("read job %d: %w", sequence, err)
	}
	// Two clerks may read the same job at once and both put it: the same proof twice.
	found := ownerOf(msg)
	d.owners.put(sequence, found)
	return found, nil
}

func ownerOf(msg *jetstream.RawStreamMsg) owner {
	device, _, _ := strings.Cut(strings.TrimPrefix(msg.Subject, jobPrefix), ".")
	found := owner{consumer: consumerPrefix + device}
	var head struct { // a job has up to 16 MB, and these decide
		AttemptID string `json:"attempt_id"`
		Secret    string `json:"secret"`
		Device    string `json:"device"`
	}
	if found.broken = json.Unmarshal(msg.Data, &head); found.broken == nil {
		found.broken = checkJob(job.Job{AttemptID: head.AttemptID, Secret: head.Secret, Device: head.Device}, name(device))
	}
	found.secret = sha256.Sum256([]byte(head.Secret))
	return found
}

// settle does what a worker says about a job that it works on. What is not a job is taken off the queue, whatever
// the worker says of it.
func (d *desk) settle(ctx context.Context, worker, what string, m *nats.Msg) error {
	var c claim
	err := json.Unmarshal(m.Data, &c)
	if err != nil {
		d.q.drop("ask", "worker", worker, "what", what, "err", err)
		return nil
	}
	about, err := parseAck(c.Ack)
	if err != nil {
		d.q.drop("ask", "worker", worker, "what", what, "err", err)
		return nil
	}
	o, err := d.owner(ctx, about.sequence)
	secret := sha256.Sum256([]byte(c.Secret))
	switch {
	// "Done" of a job that is gone is a success: the worker has delivered its result, and nothing is left to take off.
	case errors.Is(err, errNoJob): // it was forgotten, or finished before
		d.say(m, "", "")
		return nil
	case err != nil:
		return err
	// The secret travels in the job, so whoever got the job may speak of it, also a worker that it was delivered to
	// before. The queue does not know the current one; the database does, and takes a result from either.
	case o.consumer != about.consumer || o.broken == nil && subtle.ConstantTimeCompare(o.secret[:], secret[:]) != 1:
		d.q.drop("ask", "worker", worker, "what", what, "why", "the job was not given to it")
		return nil
	case o.broken != nil:
		d.q.drop("job", "sequence", about.sequence, "err", o.broken)
		d.owners.forget(about.sequence)
		return d.q.nc.Publish(c.Ack, []byte("+TERM"))
	}
	return d.acknowledge(ctx, worker, what, c, about.sequence, m)
}

func (d *desk) acknowledge(ctx context.Context, worker, what string, c claim, sequence uint64, m *nats.Msg) error {
	switch what {
	case askExtend:
		return d.q.nc.Publish(c.Ack, []byte("+WPI"))
	case askReturn:
		d.fulfilled(worker)
		return d.q.nc.Publish(c.Ack, giveBack(min(c.Pause, d.q.cfg.AckWait)))
	}
	// Done alone waits until the server has it: a job that came again after its result would be measured twice for
	// nothing.
	if _, err := d.q.nc.RequestWithContext(ctx, c.Ack, []byte("+ACK")); err != nil {
		return fmt.Errorf("take job %d off the queue: %w", sequence, err)
	}
	d.fulfilled(worker)
	d.owners.forget(sequence)
	d.say(m, "", "")
	return nil
}

// giveBack is what JetStream has to be told for a job that is to be delivered again after a pause.
func giveBack(pause time.Duration) []byte {
	if pause <= 0 {
		return []byte("-NAK")
	}
	return fmt.Appendf(nil, `-NAK {"delay": %d}`, pause)
}
