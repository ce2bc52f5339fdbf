package taskrun

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// MeasureConfig configures the number of processes that measure a score. A submission can affect it only by being slow
// (fewer processes) or uneven (more), and both show in the interval.
type MeasureConfig struct {
	// MaxProcesses is the maximum number; 0 means harness.MaxProcesses. Below harness.MinProcesses every score counts
	// as noisy, and measuring is fast, for tests.
	MaxProcesses int
	// Budget is the time during which additional processes are started while the interval is too wide. It begins after
	// the first process, which may compile for the others. The task can override it; 0 means tasks.DefaultRankedBudget.
	Budget time.Duration
}

const (
	// maxDroppedProcesses limits the dropped processes. With more, a device that is always throttled would use GPU time
	// without a better score; with fewer, one hot minute would spoil a score.
	maxDroppedProcesses = 5
	// maxLowClockDrops limits the processes that are dropped because of a low clock rate. A submission that detects a
	// slow process could lower the rate, and so choose the processes that count. Later slow processes count, and the
	// run is marked as disturbed.
	maxLowClockDrops = 1
	// durationMargin is the factor by which a process may take longer than the slowest so far. It ensures that the next
	// process ends before the stage's limit, which would fail the run.
	durationMargin = 1.3
)

// rankedMeasurer reads the judge's report of a ranked stage, and decides after each process whether another one follows.
//
// Two goroutines use it: the pipe's, which calls observeReport and alone uses all fields, and the stage's, which waits
// in awaitDecision. processDecisions has capacity for every process, so observeReport never blocks. storeResult must be
// called after the stage has ended.
type rankedMeasurer struct {
	maxProcesses, minProcesses int
	timeBudget, stageLimit     time.Duration // time limits of the stage
	ranking                    tasks.Ranking
	parser                     *harness.Parser
	// startWatching starts to sample the device until slowed is called, which returns the reason for slowness or "".
	startWatching func() (slowed func() string)

	startedAt, lastReportAt time.Time
	stopWatching            func() string // ends the sampling for the current process
	firstDuration           time.Duration // duration of the first process
	longestDuration         time.Duration
	processCount            int
	dropReasons             []string
	lowClockCount           int    // number of processes with a low clock
	keptSlowReason          string // reason for slowness in the last slow process that counts
	processDecisions        chan bool
}

func (m MeasureConfig) newMeasurement(
	def tasks.Definition, limit time.Duration, parser *harness.Parser, watch func() func() string,
) *rankedMeasurer {
	most := cmp.Or(m.MaxProcesses, harness.MaxProcesses)
	now := time.Now()
	return &rankedMeasurer{
		maxProcesses: most, minProcesses: min(harness.MinProcesses, most), stageLimit: limit, ranking: def.RankingBy, parser: parser,
		timeBudget:    cmp.Or(def.RankedBudget, m.Budget, tasks.DefaultRankedBudget),
		startWatching: watch, stopWatching: watch(), startedAt: now, lastReportAt: now, processDecisions: make(chan bool, harness.MaxProcesses+1),
	}
}

// awaitDecision implements toolchain.StageRequest.NeedsAnotherProcess: it waits for the decision.
func (m *rankedMeasurer) awaitDecision(ctx context.Context, _ int) bool {
	select {
	case another := <-m.processDecisions:
		return another
	case <-ctx.Done():
		return false
	}
}

// observeReport checks the report after each piece. A judge reports one process and then waits for the next.
func (m *rankedMeasurer) observeReport() {
	if m.parser.ProcessCount() == m.processCount {
		return
	}
	m.processCount = m.parser.ProcessCount()
	now := time.Now()
	// This includes the start of the process. It only affects the number of processes, never a score.
	took := now.Sub(m.lastReportAt)
	m.lastReportAt, m.longestDuration = now, max(m.longestDuration, took)
	if m.processCount == 1 {
		m.firstDuration = took
	}
	another := m.needsAnotherProcess(now.Sub(m.startedAt), took)
	select {
	case m.processDecisions <- another:
	default: // the report has more processes than were requested, so awaitDecision does not wait
	}
}

func (m *rankedMeasurer) needsAnotherProcess(elapsed, took time.Duration) bool {
	slowed := m.stopWatching()
	// The sampling for the next process starts before the decision whether there is one.
	m.stopWatching = m.startWatching()
	another := m.processCount < m.maxProcesses && elapsed+time.Duration(durationMargin*float64(m.longestDuration)) <= m.stageLimit
	switch {
	case slowed != "" && another && m.mayDrop(slowed):
		m.parser.DropLastProcess()
		m.dropReasons = append(m.dropReasons, fmt.Sprintf("%d (%s)", m.processCount, slowed))
		return true
	case slowed != "":
		m.keptSlowReason = slowed
	}
	if !another {
		return false
	}
	if m.processCount-len(m.dropReasons) < m.minProcesses {
		return true
	}
	cases := m.parser.Cases()
	score, err := harness.Score(m.ranking, cases)
	if err != nil {
		return false // the stage has no score, and reports that at its end
	}
	interval, _ := harness.ScoreInterval(m.ranking, score, cases)
	// Optional stopping: a narrow interval ends the stage. The score is the median of all processes, which is not
	// biased by stopping early; the width of the interval reflects their number.
	return interval.Noisy && elapsed-m.firstDuration+took <= m.timeBudget
}

// mayDrop reports whether another process may be dropped for this reason.
func (m *rankedMeasurer) mayDrop(slowed string) bool {
	if slowed == device.SlowedByLowClock {
		if m.lowClockCount++; m.lowClockCount > maxLowClockDrops {
			return false
		}
	}
	return len(m.dropReasons) < maxDroppedProcesses
}

// storeResult stores which processes were dropped, and why a slow one was kept, in the run's record of its machine.
func (m *rankedMeasurer) storeResult(machine *job.Machine) {
	m.stopWatching()
	if len(m.dropReasons) > 0 && machine.GPUConditions != nil {
		machine.GPUConditions["dropped_processes"] = fmt.Sprintf("%d of %d: %s", len(m.dropReasons), m.processCount, strings.Join(m.dropReasons, ", "))
	}
	if machine.Disturbances != nil {
		machine.Disturbances.SlowdownCause = m.keptSlowReason // only of processes that count
	}
}
