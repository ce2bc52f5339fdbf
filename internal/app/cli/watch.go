package cli

import (
	"context"
	"maps"
	"net/url"
	"sync"
	"time"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
	"warpboard/models/work"
)

const (
	lookEvery = 15 * time.Second // how often a watcher looks where its runs wait, and whether someone can take them
	lookOften = 3 * time.Second  // … on a terminal
)

// watcher prints what becomes of one submission.
// Two goroutines: the stream of events, and lookAgain, which is ended and waited for before the end is printed.
type watcher struct {
	site  *client.Client
	id    int64
	every time.Duration

	mu     sync.Mutex        // of all below
	out    *console.Screen   // nil: nothing is printed
	lonely map[string]bool   // devices without a worker, as was printed
	places map[string]int    // of runs that wait, as was printed
	now    map[string]string // how the run on each device stands, for the status line
	heard  map[string]int    // events of each device so far
	ranked map[string]int    // cases that passed in the ranked stage of each device so far
}

func newWatcher(out *console.Screen, site *client.Client, id int64) *watcher {
	w := &watcher{site: site, id: id, every: lookEvery, out: out, lonely: map[string]bool{}, places: map[string]int{},
		now: map[string]string{}, heard: map[string]int{}, ranked: map[string]int{}}
	if out != nil && out.Terminal {
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
			w.event(e)
		}
		return nil
	})
	stop()
	looks.Wait()
	if w.out != nil {
		w.out.SetStatus("")
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
	bad, mine := 0, w.out != nil && isMine(ctx, w.site, sub)
	for _, run := range sub.Runs {
		if w.out != nil {
			printRun(w.out, run)
			printOutcome(w.out, sub, run, mine)
			if run.Outcome != nil {
				w.out.Line("%-6s %s/tasks/%s/boards/%s", run.Device, w.site.Base(), url.PathEscape(sub.Task), url.PathEscape(run.Device))
			}
		}
		if run.State != string(work.StateDone) {
			bad++
		}
	}
	if bad > 0 {
		return sub, console.Failed("%d of %d runs did not pass", bad, len(sub.Runs))
	}
	return sub, nil
}

// lookAgain reads runs and devices until ctx ends. A missing answer of the site does not end the watch.
func (w *watcher) lookAgain(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		w.mu.Lock()
		heard := maps.Clone(w.heard)
		w.mu.Unlock()
		if sub, err := w.site.Get(ctx, w.id); err == nil {
			if devices, err := w.site.Devices(ctx); err == nil {
				w.look(sub.Runs, devices, heard)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
