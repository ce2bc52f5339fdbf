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

// Measuring is in how many fresh processes of a submission a worker measures a score. A submission can influence this only
// by being slow or uneven, which means fewer or more processes: either shows in the interval.
type Measuring struct {
	// Most is how many there are at most; 0 means harness.MostProcesses. Below harness.LeastProcesses every score
	// is noisy, and quick: for tests.
	Most int
	// Budget is for how long further processes are started while the interval is too wide. It begins after the first
	// process, which may compile for the others. The task may set another; 0 means tasks.DefaultRankedBudget.
	Budget time.Duration
}

const (
	// mostDrops is how many processes are dropped at most. More would cost GPU time on a device that is always throttled,
	// without a better score; with fewer, one hot minute spoils a score.
	mostDrops = 5
	// mostLowClocks of these may be dropped for a low clock: a submission that can tell when it was unlucky could lower the
	// clock, and so choose which of its processes count. After that many, all further processes count, and the run is marked
	// as disturbed.
	mostLowClocks = 1
	// margin is how much longer than the slowest so far a process may take. It lets the next process end before the stage's
	// limit, which would fail the run.
	margin = 1.3
)

// measuring follows the judge's report of a ranked stage and decides after each process whether there is another one.
//
// Two goroutines: the pipe's, which calls see and alone touches all fields, and the stage's, which waits in more.
// decisions is between them, with room for every process, so that see never waits. end is called when the stage has
// ended, and with it the pipe.
type measuring struct {
	most, least   int
	budget, limit time.Duration // of the stage
	ranking       tasks.Ranking
	parser        *harness.Parser
	watch         func() (slowed func() string) // the unit, until slowed is called, which says what slowed it down

	begun, last time.Time
	slowed      func() string // while the process under way is measured
	first       time.Duration // that the first process took
	slowest     time.Duration
	reported    int
	dropped     []string
	lowClocks   int    // processes that had a low clock
	counted     string // what slowed the unit down in the last process that counts although it did
	decisions   chan bool
}

func (m Measuring) follow(def tasks.Definition, limit time.Duration, parser *harness.Parser, watch func() func() string) *measuring {
	most := cmp.Or(m.Most, harness.MostProcesses)
	now := time.Now()
	return &measuring{
		most: most, least: min(harness.LeastProcesses, most), limit: limit, ranking: def.RankingBy, parser: parser,
		budget: cmp.Or(def.RankedBudget, m.Budget, tasks.DefaultRankedBudget),
		watch:  watch, slowed: watch(), begun: now, last: now, decisions: make(chan bool, harness.MostProcesses+1),
	}
}

// more is toolchain.StageRequest.More: it waits for the decision.
func (m *measuring) more(ctx context.Context, _ int) bool {
	select {
	case another := <-m.decisions:
		return another
	case <-ctx.Done():
		return false
	}
}

// see looks at the report after a piece of it. A judge reports one process and then waits for the next.
func (m *measuring) see() {
	if m.parser.Processes() == m.reported {
		return
	}
	m.reported = m.parser.Processes()
	now := time.Now()
	// The wall clock of the worker, with the process's start: it decides about effort, never about a score.
	took := now.Sub(m.last)
	m.last, m.slowest = now, max(m.slowest, took)
	if m.reported == 1 {
		m.first = took
	}
	another := m.decide(now.Sub(m.begun), took)
	select {
	case m.decisions <- another:
	default: // more processes than were asked for: no one waits
	}
}

func (m *measuring) decide(elapsed, took time.Duration) bool {
	slowed := m.slowed()
	// The next process is watched from here on, before it is known whether there is one.
	m.slowed = m.watch()
	another := m.reported < m.most && elapsed+time.Duration(margin*float64(m.slowest)) <= m.limit
	switch {
	case slowed != "" && another && m.mayDrop(slowed):
		m.parser.Drop()
		m.dropped = append(m.dropped, fmt.Sprintf("%d (%s)", m.reported, slowed))
		return true
	case slowed != "":
		m.counted = slowed
	}
	if !another {
		return false
	}
	if m.reported-len(m.dropped) < m.least {
		return true
	}
	cases := m.parser.Cases()
	score, err := harness.Score(m.ranking, cases)
	if err != nil {
		return false // the stage has no score, and reports that when it has ended
	}
	interval, _ := harness.ScoreInterval(m.ranking, score, cases)
	// Optional stopping: a narrow interval ends the stage. The score is the median of all, which stopping early favours
	// in neither direction; how wide the interval is says how many there were.
	return interval.Noisy && elapsed-m.first+took <= m.budget
}

// mayDrop reports whether one more process may be dropped for what slowed the unit down.
func (m *measuring) mayDrop(slowed string) bool {
	if slowed == device.LowClock {
		if m.lowClocks++; m.lowClocks > mostLowClocks {
			return false
		}
	}
	return len(m.dropped) < mostDrops
}

// end says what goes into the record of the run's machine.
func (m *measuring) end(machine *job.Machine) {
	m.slowed()
	if len(m.dropped) > 0 && machine.Conditions != nil {
		machine.Conditions["dropped_processes"] = fmt.Sprintf("%d of %d: %s", len(m.dropped), m.reported, strings.Join(m.dropped, ", "))
	}
	if machine.Disturbances != nil {
		machine.Disturbances.Slowed = m.counted // and not in what was dropped
	}
}
