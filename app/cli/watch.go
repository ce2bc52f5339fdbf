package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"warpboard/models"
	"warpboard/web/client"
)

const (
	lookEvery = 15 * time.Second // how often a watcher looks where its runs wait, and whether somebody can take them
	lookOften = 3 * time.Second  // … on a terminal
)

// watcher prints what becomes of one submission.
// Two goroutines: the stream of events, and lookAgain, which is ended and waited for before the end is printed.
type watcher struct {
	site  *client.Client
	id    int64
	every time.Duration

	mu     sync.Mutex      // of all below
	out    *screen         // nil: nothing is printed
	lonely map[string]bool // devices of which was said that nobody takes jobs for them
	places map[string]int  // of runs that wait, as was said
}

func newWatcher(out *screen, site *client.Client, id int64) *watcher {
	w := &watcher{site: site, id: id, every: lookEvery, out: out, lonely: map[string]bool{}, places: map[string]int{}}
	if out != nil && out.terminal {
		w.every = lookOften
	}
	return w
}

// run prints a submission's events and, at the end, how each run ended, and returns that. While a run waits, it says where;
// and if no worker has its device, that.
func (w *watcher) run(ctx context.Context) (*client.Submission, error) {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	var looks sync.WaitGroup
	if w.out != nil {
		looks.Go(func() { w.lookAgain(looking) })
	}
	// The client connects again after a broken stream, from the last event on; it returns when the submission has ended.
	err := w.site.Watch(ctx, w.id, 0, func(e client.Event) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.out != nil {
			w.out.event(e)
		}
		return nil
	})
	stop()
	looks.Wait()
	if w.out != nil {
		w.out.setStatus("")
	}
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
	bad := 0
	for _, run := range sub.Runs {
		if w.out != nil {
			w.out.run(run)
		}
		if run.State != string(models.StateDone) {
			bad++
		}
	}
	if bad > 0 {
		return sub, failed("%d of %d runs did not pass", bad, len(sub.Runs))
	}
	return sub, nil
}

// lookAgain looks at runs and devices until ctx ends. What the site does not answer is no reason to stop watching.
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

// look says where runs wait, and once each time that a queued run's device has no worker, or has one again.
func (w *watcher) look(runs []client.Run, devices []client.Device) {
	slots, problems := map[string]int{}, map[string]string{}
	var served []string
	for _, d := range devices {
		problems[d.Device] = d.Problem
		if slots[d.Device] = d.Slots; d.Slots > 0 {
			served = append(served, d.Device)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var now []string
	for _, run := range runs {
		waits := run.State == string(models.StateQueued)
		// Said at each change alone: the absence of workers may last for hours.
		if lonely := waits && slots[run.Device] == 0; lonely != w.lonely[run.Device] {
			w.lonely[run.Device] = lonely
			w.out.line("%-6s %s", run.Device, workersOf(lonely, problems[run.Device], served))
		}
		if place := placeOf(run); place != "" {
			now = append(now, run.Device+" "+place)
			w.say(run, place)
		} else if !models.RunState(run.State).Final() {
			now = append(now, run.Device+" "+run.State)
		}
	}
	w.out.setStatus(strings.Join(now, "   "))
}

// say tells a reader of plain lines of a new place in the queue.
func (w *watcher) say(run client.Run, place string) {
	if !w.out.terminal && w.places[run.Device] != run.Position {
		w.out.line("%-6s %s", run.Device, place)
	}
	w.places[run.Device] = run.Position
}

// placeOf is where a run waits; empty: it does not.
func placeOf(run client.Run) string {
	if run.State != string(models.StateQueued) || run.Position == 0 {
		return ""
	}
	place := fmt.Sprintf("waits at place %d of the queue", run.Position)
	if run.ExpectedWait > 0 {
		place += fmt.Sprintf(", about %v", max(time.Duration(run.ExpectedWait).Round(time.Second), time.Second))
	}
	return place
}

func workersOf(lonely bool, problem string, served []string) string {
	switch {
	case !lonely:
		return "a worker takes its runs again"
	case problem != "":
		return "no worker takes runs for it now: it waits until this is repaired. " + problem
	case len(served) == 0:
		return "no worker takes runs for it now, nor for any other device: it waits until one does"
	}
	return "no worker takes runs for it now: it waits until one does. Devices with a worker: " + strings.Join(served, ", ")
}
