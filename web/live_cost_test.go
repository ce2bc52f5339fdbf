package web_test

import (
	"fmt"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// mostPerEvent is the largest allowed number of additional SQL statements for one event of a run while ten people watch
// its page.
const mostPerEvent = 4

// TestALiveEventIsReadAndRenderedOnceForAllItsReaders also checks that rendering a stage's card reads only events of
// that stage, however much output the run has.
func TestALiveEventIsReadAndRenderedOnceForAllItsReaders(t *testing.T) {
	for name, replicas := range map[string]bool{"one process": false, "several": true} {
		t.Run(name, func(t *testing.T) {
			s, allowed := webtest.NewStage(t), int64(mostPerEvent)
			if replicas {
				// two queries for earlier events may follow: the current one, and one that waits for its end
				allowed += 2
				s.Cfg.Hub.ConnectProcesses(func([]byte) error { return nil }, s.Cfg.Store.Work)
			}
			var readers []*webtest.Reader
			cost := func(happens func(), sent int) int64 {
				before := s.Cfg.Store.QueryCount()
				happens()
				for _, r := range readers {
					r.Want(sent)
				}
				return s.Cfg.Store.QueryCount() - before
			}
			costs := func(w *webtest.Worker) (list []int64) {
				for i := range 20 {
					w.Say(job.Event{Type: job.EventLog, Stage: job.StageBuild, Text: fmt.Sprintln("line", i)})
				}
				for _, e := range []job.Event{{Type: job.EventStageStarted, Stage: job.StageTest, CaseCount: 2},
					{Type: job.EventCaseEnded, Stage: job.StageTest, CaseCount: 2,
						Case: &job.CaseResult{Status: job.StatusPass}},
					{Type: job.EventStageEnded, Stage: job.StageTest,
						EndedStage: &job.StageResult{Stage: job.StageTest, Status: job.StatusPass}}} {
					list = append(list, cost(func() { w.Say(e) }, 1))
				}
				return append(list, cost(w.Finish, 2)) // two messages: the last event, and the end of the stream
			}
			begin := func() (work.Run, *webtest.Worker) {
				run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
				w := webtest.NewWorker(t, s.Site, run)
				w.Say(job.Event{Type: job.EventAttemptStarted})
				return run, w
			}
			_, first := begin()
			costs(first) // a person's first run executes more statements
			_, second := begin()
			unwatched := costs(second)
			run, w := begin()
			after := storedIDs(t, s.Cfg.Store, run.SubmissionID)
			for range 10 {
				readers = append(readers, s.Open(fmt.Sprintf("/submissions/%d/events?after=%d", run.SubmissionID,
					after[len(after)-1]), ""))
			}
			tier.Until(t, "all are subscribed", func() bool { return s.Cfg.Hub.StreamCount() == len(readers) })
			// after this event all readers have read the stored events
			cost(func() { w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageBuild}) }, 1)
			for i, watched := range costs(w) {
				if watched-unwatched[i] > allowed {
					t.Errorf("event %d costs %d statements, and %d with ten readers: want at most %d more", i,
						unwatched[i], watched, allowed)
				}
			}
		})
	}
}

// TestWaitersOfARunMakeNoQueryForALogLine checks that requests that wait for a run's end execute no SQL statement when
// the run prints a line.
func TestWaitersOfARunMakeNoQueryForALogLine(t *testing.T) {
	const waiters, events = 50, 40
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	w := webtest.NewWorker(t, s.Site, run)
	w.Say(job.Event{Type: job.EventAttemptStarted})
	lines := func() int64 {
		before := s.Cfg.Store.QueryCount()
		for range events {
			w.Say(job.Event{Type: job.EventLog, Stage: job.StageTest, Text: "x"})
		}
		return s.Cfg.Store.QueryCount() - before
	}
	alone := lines()
	for range waiters {
		fmt.Fprintf(dial(s.Site, t, "127.0.0.1"), "GET /api/v1/submissions/%d?wait=25 HTTP/1.1\r\nHost: a\r\n\r\n",
			run.SubmissionID)
	}
	tier.Until(t, "all wait", func() bool { return s.Cfg.Hub.StreamCount() == waiters })
	began := time.Now()
	watched := lines()
	polls := waiters * (1 + int64(time.Since(began)/time.Second)) // each waiting request also polls once a second
	if watched-alone > polls+waiters {
		t.Errorf("%d lines cost %d statements, and %d while %d wait", events, alone, watched, waiters)
	}
}
