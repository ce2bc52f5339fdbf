package evalapi_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
	"warpboard/web"
	"warpboard/web/webtest"
)

var toolsHere = sync.OnceValue(func() toolchain.Toolchain { return toolchain.FindToolchain(context.Background()) })

// newWorkingSite is a site with everything behind it: dispatcher, queue, recorder, and a worker that
// evaluates on this machine's CPU in the real sandbox.
func newWorkingSite(t *testing.T, changes ...func(*web.Config)) *webtest.EvalSite {
	t.Helper()
	tier.Needs(t, tier.Torch)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	q, err := queue.OpenQueue(t.Context(), queue.Config{})
	if err != nil {
		t.Fatal(err)
	}
	worker := cpuWorker(t, q, log)
	var loops []func(context.Context) error
	s := webtest.NewEvalSite(t, append(changes, func(c *web.Config) {
		d := dispatch.NewDispatcher(c.Store, q, c.Hub, log)
		c.Dispatcher = d
		loops = append(loops, d.Run, func(ctx context.Context) error { return q.Serve(ctx, d) })
	})...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, loop := range append(loops, worker.Run) {
		running.Go(func() {
			if err := loop(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("a loop of the site ended: %v", err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait(); q.Close() })
	waitForWorker(s)
	return s
}

// waitForWorker waits until the worker's self-test has passed.
func waitForWorker(s *webtest.EvalSite) {
	s.T.Helper()
	tier.Until(s.T, "the worker's self-test", func() bool {
		workers, err := s.Cfg.Store.Fleet.Workers(s.T.Context())
		if err != nil {
			s.T.Fatal(err)
		}
		return len(workers) == 1 && len(workers[0].SelfTestResults) > 0 && workers[0].NoJobsReason == ""
	})
}

func cpuWorker(t *testing.T, q *queue.Queue, log *slog.Logger) *evaluator.Worker {
	t.Helper()
	conn, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{Queue: q, Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	slots, err := device.Detect(t.Context(), device.Options{CPUSlots: 1, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	slots = slices.DeleteFunc(slots, device.Slot.IsGPU)
	box := sandbox.New(sandbox.Config{BuildNice: 1, RunDir: t.TempDir(), FirstUID: sandboxtest.FirstUID(t), Log: log})
	cache, remove, err := sandboxtest.Objects()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return evaluator.NewWorker(evaluator.Config{
		Name: "w1", Conn: conn, Sandbox: box, Slots: slots, Toolchain: toolsHere(), Log: log,
		Builder: toolchain.NewBuilder(toolchain.Config{Toolchain: toolsHere(), Runner: box, ObjectDir: cache,
			Log: log}),
	})
}
