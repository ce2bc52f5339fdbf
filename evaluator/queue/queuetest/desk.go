package queuetest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"warpboard/evaluator/job"
)

// Desk answers workers as a site does whose database is a few variables. The functions are called under its lock, one at a
// time; nil ones do nothing. Set them before it serves.
type Desk struct {
	OnSync   func(job.Heartbeat)
	OnEvent  func(job.Event)
	OnResult func(job.Result) error // an error has it sent again

	mu      sync.Mutex
	waiting []job.Job
	given   []given
	dropped []string
	hints   []job.Preparation
}

type given struct {
	worker string
	job    job.Job
}

// Put has jobs wait, behind those that wait.
func (d *Desk) Put(jobs ...job.Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, jobs...)
}

// Look lets a test see what the functions have noted.
func (d *Desk) Look(see func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	see()
}

// Drop tells every worker to drop an attempt.
func (d *Desk) Drop(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropped = append(d.dropped, id)
}

// Next returns the first job of the device, or again a job that has not arrived. A busy slot gets none. A worker that would
// precompile gets the first task that it does not know, whatever its device.
func (d *Desk) Next(_ context.Context, ask job.Ask) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ask.Ahead {
		i := slices.IndexFunc(d.hints, func(p job.Preparation) bool { return !slices.Contains(ask.Known, p.VersionID) })
		if i < 0 {
			return nil, nil
		}
		return json.Marshal(d.hints[i])
	}
	for _, g := range d.given {
		if g.worker == ask.Worker && g.job.Device == ask.Device && !slices.Contains(ask.Held, g.job.AttemptID) {
			return json.Marshal(g.job)
		}
	}
	i := slices.IndexFunc(d.waiting, func(j job.Job) bool { return j.Device == ask.Device })
	if i < 0 {
		return nil, nil
	}
	j := d.waiting[i]
	d.waiting = slices.Delete(d.waiting, i, i+1)
	d.given = append(d.given, given{ask.Worker, j})
	return json.Marshal(j)
}

// Hint has workers precompile a task.
func (d *Desk) Hint(p job.Preparation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.VersionID = int64(len(d.hints) + 1)
	d.hints = append(d.hints, p)
}

// Sync notes what a worker has.
func (d *Desk) Sync(_ context.Context, h job.Heartbeat) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.OnSync != nil {
		d.OnSync(h)
	}
	return d.dropped, nil
}

// Events notes events.
func (d *Desk) Events(_ context.Context, batch []job.Event) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range batch {
		if d.OnEvent != nil {
			d.OnEvent(e)
		}
	}
	return d.dropped, nil
}

// Result notes the end of an attempt.
func (d *Desk) Result(_ context.Context, r job.Result) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.OnResult != nil {
		if err := d.OnResult(r); err != nil {
			return err
		}
	}
	d.given = slices.DeleteFunc(d.given, func(g given) bool { return g.job.AttemptID == r.AttemptID })
	return nil
}
