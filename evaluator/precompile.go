package evaluator

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"warpboard/evaluator/job"
)

// hints receives the site's hints about open tasks until ctx ends.
func (w *Worker) hints(ctx context.Context) (<-chan job.Preparation, error) {
	if !w.cfg.Ahead {
		return nil, nil
	}
	var devices []string
	for _, s := range w.pool.All() {
		if !slices.Contains(devices, s.Device) {
			devices = append(devices, s.Device)
		}
	}
	return w.cfg.Conn.Preparations(ctx, devices)
}

// precompileLoop compiles the parts of tasks before the first submission, one after the other, until ctx ends. hints is nil
// if nothing is precompiled: a nil channel never delivers.
func (w *Worker) precompileLoop(ctx context.Context, hints <-chan job.Preparation) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-hints:
			w.precompile(ctx, p)
		}
	}
}

// precompile compiles the parts of a task, on its own build place. A failure is not an infrastructure error: a run explains
// better what is wrong. A panic costs only this task's head start, not the worker.
func (w *Worker) precompile(ctx context.Context, p job.Preparation) {
	slots := w.pool.InService(p.Device)
	if len(slots) == 0 || p.Version != job.Version {
		return
	}
	log := w.log.With("task", p.Name, "device", p.Device)
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic while precompiling", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	place := w.pool.PrecompilePlace(slots[0])
	var made int
	var began time.Time
	// A job of the same task lets it go on and waits for its objects; any other one ends it, and it starts over later.
	err := w.gate.Do(ctx, precompileKey(p.TaskKey, p.Device), func(ctx context.Context) (err error) {
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
