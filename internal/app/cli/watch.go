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
	pollIntervalLog      = 15 * time.Second // interval of checking queue positions and workers
	pollIntervalTerminal = 3 * time.Second  // the same interval, if the output is a terminal
)

// watcher prints the progress of one submission. Two goroutines use it: the one that reads events, and poll, which ends
// before the final output.
type watcher struct {
	site         *client.Client
	id           int64
	pollInterval time.Duration

	mu               sync.Mutex        // guards all fields below
	out              *console.Screen   // prints nothing if nil
	warnedDevices    map[string]bool   // devices for which the lack of a worker was printed
	queuePositions   map[string]int    // last printed position in the queue, by device
	runStates        map[string]string // state of the run on each device, for the status line
	eventCounts      map[string]int    // number of events of each device
	rankedCaseCounts map[string]int    // number of passed cases in the ranked stage of each device
}

func newWatcher(out *console.Screen, site *client.Client, id int64) *watcher {
	w := &watcher{site: site, id: id, pollInterval: pollIntervalLog, out: out, warnedDevices: map[string]bool{}, queuePositions: map[string]int{},
		runStates: map[string]string{}, eventCounts: map[string]int{}, rankedCaseCounts: map[string]int{}}
	if out != nil && out.IsTerminal {
		w.pollInterval = pollIntervalTerminal
	}
	return w
}

// run prints the events of a submission and, at the end, the result of each run, and returns the submission. For a
// waiting run it prints the position in the queue, and whether the device has no worker.
func (w *watcher) run(ctx context.Context) (*client.Submission, error) {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	var looks sync.WaitGroup
	if w.out != nil {
		looks.Go(func() { w.poll(looking) })
	}
	// After a lost connection, the client reconnects and continues after the last event. Watch returns when the
	// submission has ended.
	err := w.site.Watch(ctx, w.id, 0, func(e client.Event) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.out != nil {
			w.printEvent(e)
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
	return w.printResults(ctx)
}

// printResults prints the result of each run. It returns an error if a run failed.
func (w *watcher) printResults(ctx context.Context) (*client.Submission, error) {
	sub, err := w.site.Submission(ctx, w.id)
	if err != nil {
		return nil, err
	}
	bad, mine := 0, w.out != nil && isCallersSubmission(ctx, w.site, sub)
	for _, run := range sub.Runs {
		if w.out != nil {
			printRun(w.out, run)
			printOutcome(w.out, sub, run, mine)
			if run.Outcome != nil {
				w.out.PrintLine("%-6s %s/tasks/%s/boards/%s", run.Device, w.site.BaseURL(), url.PathEscape(sub.Task), url.PathEscape(run.Device))
			}
		}
		if run.State != string(work.StateDone) {
			bad++
		}
	}
	if bad > 0 {
		return sub, console.NewFailedError("%d of %d runs did not pass", bad, len(sub.Runs))
	}
	return sub, nil
}

// poll reads runs and devices until ctx ends. Its errors are ignored.
func (w *watcher) poll(ctx context.Context) {
	tick := time.NewTicker(w.pollInterval)
	defer tick.Stop()
	for {
		w.mu.Lock()
		events := maps.Clone(w.eventCounts)
		w.mu.Unlock()
		if sub, err := w.site.Submission(ctx, w.id); err == nil {
			if devices, err := w.site.Devices(ctx); err == nil {
				w.printChanges(sub.Runs, devices, events)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
