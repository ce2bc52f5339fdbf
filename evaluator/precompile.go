package evaluator

import (
	"context"
	"runtime/debug"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// precompilePauseHeartbeats is the number of heartbeats for which a worker pauses after it has compiled all tasks.
const precompilePauseHeartbeats = 5

// precompileLoop compiles the files of open tasks before the first submission, one task after the other, until ctx
// ends.
func (w *Worker) precompileLoop(ctx context.Context) {
	known := map[string][]int64{} // IDs of the task versions that the site has already sent, by device
	for _, s := range w.slots.AllSlots() {
		known[s.Device] = nil
	}
	next := time.NewTicker(precompilePauseHeartbeats * w.cfg.HeartbeatEvery)
	defer next.Stop()
	for w.cfg.Precompile && ctx.Err() == nil {
		more := false
		for device, versions := range known {
			usable := w.slots.SlotsInService(device)
			if len(usable) == 0 {
				continue
			}
			p, err := w.cfg.Conn.NextPrecompileJob(ctx, device, versions)
			if err != nil && ctx.Err() == nil {
				w.log.Debug("the site names no task to precompile", "device", device, "err", err)
			}
			if p.VersionID != 0 {
				more, known[device] = true, append(versions, p.VersionID)
				w.precompileTask(ctx, p, usable[0])
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

// precompileTask compiles the files of one task on the build slot for precompiling. It only logs an error, because a
// run of the task reports it better, and recovers a panic.
func (w *Worker) precompileTask(ctx context.Context, p job.PrecompileJob, s *slots.Slot) {
	if p.TaskHash == "" {
		return
	}
	log := w.log.With("task", p.TaskName, "device", s.Device)
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic while precompiling", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	place := w.slots.PrecompileEnvironment(s)
	var made int
	var began time.Time
	// A job of the same task does not interrupt the compilation but waits for its objects. Any other job interrupts it,
	// and it starts again later.
	err := w.idleScheduler.RunWhenIdle(ctx, precompileKey(p.TaskHash, s.Device), func(ctx context.Context) (err error) {
		began = time.Now()
		made, err = w.cfg.Builder.PrecompileTask(ctx, p, place)
		return err
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Info("task not precompiled", "err", err)
	case made > 0:
		log.Info("task precompiled", "files", made, "took", time.Since(began).Round(time.Millisecond))
	}
}

// precompileKey returns the key of a job or precompilation; those with equal keys need the same objects.
func precompileKey(taskKey, device string) string { return taskKey + " " + device }
