package queuetest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
)

// Handler is a queue.Handler for tests that keeps its state in memory. Its functions are called sequentially with the
// lock held; nil ones do nothing. Set them before serving.
type Handler struct {
	OnSync   func(job.Heartbeat) error // an error makes the worker send its list of packages again
	OnEvent  func(job.Event)
	OnResult func(job.Result) error // an error makes the worker send the result again

	mu             sync.Mutex
	waiting        []job.Job
	handedOut      []assignment
	attemptsToDrop []string
	hints          []job.PrecompileJob
}

type assignment struct {
	worker string
	job    job.Job
}

// Put appends jobs to the queue.
func (d *Handler) Put(jobs ...job.Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, jobs...)
}

// Look calls see while the lock is held. The function see can thus read data that the handler's functions have stored.
func (d *Handler) Look(see func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	see()
}

// Drop makes every worker drop an attempt.
func (d *Handler) Drop(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attemptsToDrop = append(d.attemptsToDrop, id)
}

// Next returns the first waiting job for the device, or a job again that has not arrived. With WantsPrecompileJob it
// returns the first task that the worker does not have, for any device.
func (d *Handler) Next(_ context.Context, ask job.WorkRequest) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ask.WantsPrecompileJob {
		i := slices.IndexFunc(d.hints, func(p job.PrecompileJob) bool { return !slices.Contains(ask.CompiledVersions, p.VersionID) })
		if i < 0 {
			return nil, nil
		}
		return json.Marshal(d.hints[i])
	}
	// As on a site: for a GPU, a request for compile jobs gets only such jobs, and other requests get none of them.
	fits := func(j job.Job) bool {
		return j.Device == ask.Device && (ask.CompileOnly == (j.Mode == job.ModeCompile) || ask.Device == gpuname.CPU)
	}
	for _, g := range d.handedOut {
		if fits(g.job) && g.worker == ask.Worker && !slices.Contains(ask.Attempts, g.job.AttemptID) {
			return json.Marshal(g.job)
		}
	}
	i := slices.IndexFunc(d.waiting, fits)
	if i < 0 {
		return nil, nil
	}
	j := d.waiting[i]
	d.waiting = slices.Delete(d.waiting, i, i+1)
	d.handedOut = append(d.handedOut, assignment{ask.Worker, j})
	return json.Marshal(j)
}

// Hint adds a task for workers to precompile.
func (d *Handler) Hint(p job.PrecompileJob) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.VersionID = int64(len(d.hints) + 1)
	d.hints = append(d.hints, p)
}

// Sync stores a heartbeat.
func (d *Handler) Sync(_ context.Context, h job.Heartbeat) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.OnSync == nil {
		return d.attemptsToDrop, nil
	}
	return d.attemptsToDrop, d.OnSync(h)
}

// StoreEvents stores events.
func (d *Handler) StoreEvents(_ context.Context, batch []job.Event) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range batch {
		if d.OnEvent != nil {
			d.OnEvent(e)
		}
	}
	return d.attemptsToDrop, nil
}

// StoreResult stores the end of an attempt.
func (d *Handler) StoreResult(_ context.Context, r job.Result) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.OnResult != nil {
		if err := d.OnResult(r); err != nil {
			return err
		}
	}
	d.handedOut = slices.DeleteFunc(d.handedOut, func(g assignment) bool { return g.job.AttemptID == r.AttemptID })
	return nil
}
