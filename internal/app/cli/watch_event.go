package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
	"warpboard/models/work"
)

// printEvent prints one event of a run, and updates the status line. The result of a run is printed at the very end,
// with all numbers; while other runs continue, the end of a run is also printed at once.
func (w *watcher) printEvent(e client.Event) {
	w.eventCounts[e.Device]++
	switch d := e.Detail; {
	case d == nil:
		w.runStates[e.Device] = e.State
		if !work.RunState(e.State).IsFinal() {
			w.out.PrintState(e.Device, e.State, "")
		} else if len(w.runStates) > 1 {
			printRun(w.out, client.Run{Device: e.Device, State: e.State, ScoreNS: e.ScoreNS, Failure: e.Failure})
		}
	case d.Type == job.EventStageStarted:
		w.runStates[e.Device], w.rankedCaseCounts[e.Device] = string(d.Stage), 0
		w.out.PrintLine("%-6s %s begins", e.Device, d.Stage)
	case d.Type == job.EventCaseEnded && d.Case != nil:
		w.printCase(e.Device, d)
	case d.Type == job.EventLog:
		for line := range strings.Lines(d.Text) {
			w.out.PrintLine("%-6s | %s", e.Device, strings.TrimRight(line, "\n"))
		}
	}
	w.showStatus()
}

// printCase prints one case. During a ranked stage the site sends no times (hideRankedTimes in models/work), only that
// a case has passed, once per process: one line is printed for each process.
func (w *watcher) printCase(device string, d *job.Event) {
	if d.CaseCount > 0 && d.Case.Runs == 0 && d.Case.Status == job.StatusPass && (d.Stage == job.StageRanked || d.Stage == job.StageSecret) {
		if w.rankedCaseCounts[device]++; w.rankedCaseCounts[device]%d.CaseCount == 0 {
			w.out.PrintLine("%-6s %s process %d: %s", device, d.Stage, w.rankedCaseCounts[device]/d.CaseCount, allPassed(d.CaseCount))
		}
		return
	}
	message := fmt.Sprintf("%s %s", caseTimeText(d.Case), d.Case.Message)
	w.out.PrintLine("%s", strings.TrimRight(fmt.Sprintf("%-6s %s %s  %s %s", device, d.Stage, d.Case.SpecLine, d.Case.Status, message), " "))
}

func allPassed(cases int) string {
	if cases == 1 {
		return "the case passes"
	}
	return fmt.Sprintf("all %d cases pass", cases)
}

func caseTimeText(c *job.CaseResult) string {
	if c.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%v ± %v", console.Nanoseconds(c.Time()), console.Nanoseconds(c.StandardError))
}

// fleetState has the current slots of each device.
type fleetState struct {
	slotsByDevice   map[string]int    // number of slots, by device
	problemByDevice map[string]string // reason for having no slots, by device
	servedDevices   []string          // devices that have slots
}

func fleetStateOf(devices []client.Device) fleetState {
	f := fleetState{slotsByDevice: map[string]int{}, problemByDevice: map[string]string{}}
	for _, d := range devices {
		f.problemByDevice[d.Device] = d.Problem
		if f.slotsByDevice[d.Device] = d.Slots; d.Slots > 0 {
			f.servedDevices = append(f.servedDevices, d.Device)
		}
	}
	return f
}

// printChanges prints queue positions, and that the device of a queued run has lost its last worker or has one again.
// events counts the events of each device before the request: later events are newer than the response.
func (w *watcher) printChanges(runs []client.Run, devices []client.Device, events map[string]int) {
	here := fleetStateOf(devices)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range runs {
		if w.eventCounts[run.Device] != events[run.Device] {
			continue
		}
		waits := run.State == string(work.StateQueued)
		// It is printed only at each change, because a device may have no worker for hours.
		if lonely := waits && here.slotsByDevice[run.Device] == 0; lonely != w.warnedDevices[run.Device] {
			w.warnedDevices[run.Device] = lonely
			w.out.PrintLine("%-6s %s", run.Device, workerAvailabilityText(lonely, here.problemByDevice[run.Device],
				here.servedDevices))
		}
		if place := queuePlaceText(run); place != "" {
			w.runStates[run.Device] = place
			w.printQueuePosition(run, place)
		} else if w.runStates[run.Device] == "" || waits {
			w.runStates[run.Device] = run.State
		}
	}
	w.showStatus()
}

// showStatus shows the state of each run in the status line.
func (w *watcher) showStatus() {
	var all []string
	for _, device := range slices.Sorted(maps.Keys(w.runStates)) {
		all = append(all, device+" "+w.runStates[device])
	}
	w.out.SetStatus(strings.Join(all, "   "))
}

// printQueuePosition prints a new position in the queue as a line.
func (w *watcher) printQueuePosition(run client.Run, place string) {
	if !w.out.IsTerminal && w.queuePositions[run.Device] != run.QueuePosition {
		w.out.PrintLine("%-6s %s", run.Device, place)
	}
	w.queuePositions[run.Device] = run.QueuePosition
}

// queuePlaceText describes the position of a run in the queue; "" if it does not wait.
func queuePlaceText(run client.Run) string {
	if run.State != string(work.StateQueued) || run.QueuePosition == 0 {
		return ""
	}
	if run.WaitsFor != "" {
		return "waits for " + run.WaitsFor
	}
	place := fmt.Sprintf("waits at place %d of the queue", run.QueuePosition)
	if run.ExpectedWaitSeconds > 0 {
		place += fmt.Sprintf(", about %v", max(time.Duration(run.ExpectedWaitSeconds).Round(time.Second), time.Second))
	}
	return place
}

func workerAvailabilityText(lonely bool, problem string, served []string) string {
	switch {
	case !lonely:
		return "a worker takes runs for this device again"
	case problem != "":
		return "no worker takes runs for this device now: the run waits until this is fixed. " + problem
	case len(served) == 0:
		return "no worker takes runs now, for this or any other device: the run waits until one does"
	}
	return "no worker takes runs for this device now: the run waits until one does. Devices with a worker: " + strings.Join(served, ", ")
}
