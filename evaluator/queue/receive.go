package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

const (
	// idleRequestInterval is the interval, plus up to half of it at random, at which a worker without a job asks even
	// if nothing is announced, because announcements can be lost. They are repeated each second while work waits.
	idleRequestInterval = 5 * time.Second
	// buildingRequestInterval replaces idleRequestInterval if the slot is idle while its jobs are built: the site may
	// then send another caller's job, some time after it refused one.
	buildingRequestInterval = time.Second
	// jobRequestTimeout limits the wait for the response to a request for a job, which can have MaxMessage bytes. A job
	// that arrives too late is sent again.
	jobRequestTimeout = 5 * time.Second
	// minRetryDelay and maxRetryDelay are the first and the longest pause before asking again a site that cannot
	// respond now.
	minRetryDelay = 100 * time.Millisecond
	maxRetryDelay = 2 * time.Second
)

var (
	errRetryLater         = errors.New("ask again later") // the site cannot answer now
	errRefusedPermanently = errors.New("refused")         // retrying is useless
)

// Receive waits for a job of the device. A busy slot gets a job to build only while no slot of the device, on any
// worker, is idle; jobs being built do not count. load returns the content of the next request, and may be nil. Receive
// asks again at once when it can receive from changed, which may be nil. It returns the error of ctx when ctx ends, and
// another error if the site refuses the worker or the connection is closed permanently.
func (c *Conn) Receive(
	ctx context.Context, device string, load func() job.WorkRequest, changed <-chan struct{},
) (job.Job, error) {
	for again := minRetryDelay; ; {
		announced, err := c.nextAnnouncement(device)
		if err != nil {
			return job.Job{}, err
		}
		var ask job.WorkRequest
		if load != nil {
			ask = load()
		}
		ask.MessageVersion = job.MessageVersion
		j, err := c.requestJob(ctx, device, ask)
		switch {
		case err == nil && j.AttemptID != "":
			return j, nil
		case ctx.Err() != nil:
			return j, ctx.Err()
		// nats.go also closes the connection after the same refusal twice in a row, because the credential was revoked.
		case c.natsConn.IsClosed():
			return j, fmt.Errorf("queue: the site closed the connection of worker %q (last error: %v): %w", c.workerName, c.natsConn.LastError(), err)
		case errors.Is(err, errRefusedPermanently):
			return j, fmt.Errorf("queue: the site refuses worker %q: %w", c.workerName, err)
		case err != nil:
			_ = sleepContext(ctx, again) // the error is ignored: the loop checks ctx
			again = min(2*again, maxRetryDelay)
			continue
		}
		again = minRetryDelay
		interval := idleRequestInterval
		if ask.BuildingCount > 0 && !ask.IsSlotBusy {
			interval = buildingRequestInterval
		}
		select {
		case <-announced:
		case <-changed:
		case <-time.After(interval + rand.N(interval/2)):
		case <-ctx.Done():
		}
	}
}

// requestJob sends one request for a job. A worker has only one such request at a time, so that its list of held
// attempts is complete and the site can send again a job that did not arrive.
func (c *Conn) requestJob(ctx context.Context, device string, ask job.WorkRequest) (j job.Job, err error) {
	if err := c.requestTurn.Acquire(ctx, 1); err != nil {
		return j, err
	}
	defer c.requestTurn.Release(1)
	var got *job.Job
	ask.Attempts = c.heldAttemptIDs()
	err = c.sendRequest(ctx, jobRequestName+"."+encodeToken(device), ask, &got, jobRequestTimeout)
	if err != nil || got == nil {
		return j, err
	}
	if got.AttemptID == "" || got.AttemptSecret == "" || got.Device != device {
		c.log.Error("a job that names no attempt, or is for another device, is dropped", "device", device, "is_for", shortenForLog(got.Device))
		return j, errRetryLater
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heldAttempts[got.AttemptID] = true
	return *got, nil
}

// NextPrecompileJob requests a task of the device to precompile whose version is not in known.
func (c *Conn) NextPrecompileJob(ctx context.Context, device string, known []int64) (p job.PrecompileJob, err error) {
	err = c.sendRequest(ctx, jobRequestName+"."+encodeToken(device), job.WorkRequest{MessageVersion: job.MessageVersion, WantsPrecompileJob: true, CompiledVersions: known}, &p, jobRequestTimeout)
	if err != nil {
		return p, fmt.Errorf("queue: ask for a task to precompile: %w", err)
	}
	return p, nil
}

// heldAttemptIDs returns the attempts that arrived and have not ended.
func (c *Conn) heldAttemptIDs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.heldAttempts))
}

// nextAnnouncement returns a channel that is closed at the next announcement of work for the device.
func (c *Conn) nextAnnouncement(device string) (<-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.announcements[device] == nil {
		_, err := c.natsConn.Subscribe(workSubject(device), func(*nats.Msg) {
			c.mu.Lock()
			defer c.mu.Unlock()
			close(c.announcements[device])
			c.announcements[device] = make(chan struct{})
		})
		if err != nil {
			return nil, fmt.Errorf("queue: listen to work for %s: %w", device, err)
		}
		c.announcements[device] = make(chan struct{})
	}
	return c.announcements[device], nil
}
