package evaluator

import (
	"context"
	"runtime/debug"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// aheadBeats is the pause, in beats, after which a worker that knows all tasks asks for further ones.
const aheadBeats = 5

// precompileLoop compiles the parts of open tasks before the first submission, one after the other, until ctx ends.
func (w *Worker) precompileLoop(ctx context.Context) {
	known := map[string][]int64{} // by device: the versions that the site has told
	for _, s := range w.pool.All() {
		known[s.Device] = nil
	}
	next := time.NewTicker(aheadBeats * w.cfg.Beat)
	defer next.Stop()
	for w.cfg.Ahead && ctx.Err() == nil {
		more := false
		for device, versions := range known {
			usable := w.pool.InService(device)
			if len(usable) == 0 {
				continue
			}
			p, err := w.cfg.Conn.Ahead(ctx, device, versions)
			if err != nil && ctx.Err() == nil {
				w.log.Debug("the site names no task to precompile", "device", device, "err", err)
			}
			if p.VersionID != 0 {
				more, known[device] = true, append(versions, p.VersionID)
				w.precompile(ctx, p, usable[0])
			}
		}
		if !more {
			select {
			case <-next.C:
			case <-ctx.Done():
			}
		}
	}
}

// precompile compiles the parts of a task, on its own build place. A failure is not an infrastructure error: a run explains
// better what is wrong. A panic costs only this task's head start, not the worker.
func (w *Worker) precompile(ctx context.Context, p job.Preparation, s *slots.Slot) {
	if p.TaskKey == "" {
		return
	}
	log := w.log.With("task", p.Name, "device", s.Device)
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic while precompiling", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	place := w.pool.PrecompilePlace(s)
	var made int
	var began time.Time
	// A job of the same task lets it go on and waits for its objects; any other one ends it, and it starts over later.
	err := w.gate.Do(ctx, precompileKey(p.TaskKey, s.Device), func(ctx context.Context) (err error) {
		began = time.Now()
		made, err = w.cfg.Builder.Prepare(ctx, p, place)
		return err
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Info("task not precompiled", "err", err)
	case made > 0:
		log.Info("task precompiled", "units", made, "took", time.Since(began).Round(time.Millisecond))
	}
}

// precompileKey is what a job and a preparation have in common when they need the same objects.
func precompileKey(taskKey, device string) string { return taskKey + " " + device }
