package app

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"warpboard/models"
	"warpboard/web/client"
)

// devicesEvery is how often a watcher looks whether somebody can take what waits.
const devicesEvery = 15 * time.Second

// watcher prints what becomes of one submission.
type watcher struct {
	site  *client.Client
	id    int64
	every time.Duration

	mu     sync.Mutex // of all below
	out    io.Writer
	lonely map[string]bool // devices of which was said that nobody takes jobs for them
}

func newWatcher(out io.Writer, site *client.Client, id int64) *watcher {
	return &watcher{site: site, id: id, every: devicesEvery, out: out, lonely: map[string]bool{}}
}

// run prints a submission's events and, at the end, how each run ended, and returns that. While a run waits for a device that no
// worker has, it says so.
func (w *watcher) run(ctx context.Context) (*client.Submission, error) {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	var looks sync.WaitGroup
	looks.Go(func() { w.lookAgain(looking) })
	err := w.site.Watch(ctx, w.id, 0, func(e client.Event) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		printEvent(w.out, e)
		return nil
	})
	stop()
	looks.Wait()
	if err != nil {
		return nil, err
	}
	return w.end(ctx)
}

// end prints how each run ended; that one failed is an error.
func (w *watcher) end(ctx context.Context) (*client.Submission, error) {
	sub, err := w.site.Get(ctx, w.id)
	if err != nil {
		return nil, err
	}
	failed := 0
	for _, run := range sub.Runs {
		printRun(w.out, run)
		if run.State != string(models.StateDone) {
			failed++
		}
	}
	if failed > 0 {
		return sub, fmt.Errorf("%d of %d runs did not pass", failed, len(sub.Runs))
	}
	return sub, nil
}

// lookAgain looks at the devices until ctx ends. What the site does not answer is no reason to stop watching.
func (w *watcher) lookAgain(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		if sub, err := w.site.Get(ctx, w.id); err == nil {
			if devices, err := w.site.Devices(ctx); err == nil {
				w.look(sub.Runs, devices)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look says, once each time, that a queued run's device has no worker, or has one again.
func (w *watcher) look(runs []client.Run, devices []client.Device) {
	slots := map[string]int{}
	var served []string
	for _, d := range devices {
		if slots[d.Device] = d.Slots; d.Slots > 0 {
			served = append(served, d.Device)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range runs {
		lonely := run.State == string(models.StateQueued) && slots[run.Device] == 0
		if lonely != w.lonely[run.Device] {
			w.lonely[run.Device] = lonely
			fmt.Fprintf(w.out, "%-6s %s\n", run.Device, workersOf(lonely, served))
		}
	}
}

func workersOf(lonely bool, served []string) string {
	switch {
	case !lonely:
		return "a worker takes its runs again"
	case len(served) == 0:
		return "no worker takes runs for it now, nor for any other device: it waits until one does"
	}
	return "no worker takes runs for it now: it waits until one does. Devices with a worker: " + strings.Join(served, ", ")
}
