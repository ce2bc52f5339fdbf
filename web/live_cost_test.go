package web_test

import (
	"fmt"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/tier"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// mostPerEvent is how many more statements one event of a run may cost while ten people watch its page.
const mostPerEvent = 10

func TestALiveEventIsReadAndRenderedOnceForAllItsReaders(t *testing.T) {
	for name, replicas := range map[string]bool{"one process": false, "several": true} {
		t.Run(name, func(t *testing.T) {
			s := webtest.NewStage(t)
			if replicas {
				s.Cfg.Hub.Spread(func([]byte) error { return nil }, s.Cfg.Store.Work)
			}
			run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
			w := webtest.NewWorker(t, s.Site, run)
			w.Say(job.Event{Type: job.EventTaken})
			var readers []*webtest.Reader
			cost := func(stage job.Stage) int64 {
				before := s.Cfg.Store.Queries()
				w.Say(job.Event{Type: job.EventStage, Stage: stage})
				for _, r := range readers {
					r.Want(1)
				}
				return s.Cfg.Store.Queries() - before
			}
			unwatched := cost(job.StageBuild)
			after := storedIDs(t, s.Cfg.Store, run.SubmissionID)
			for range 10 {
				readers = append(readers, s.Open(fmt.Sprintf("/submissions/%d/events?after=%d", run.SubmissionID, after[len(after)-1]), ""))
			}
			tier.Until(t, "all are subscribed", func() bool { return s.Cfg.Hub.StreamCount() == len(readers) })
			cost(job.StageTest) // now all have read what was kept
			if watched := cost(job.StageBenchmark); watched-unwatched > mostPerEvent {
				t.Errorf("an event costs %d statements, and %d with ten readers: want at most %d more", unwatched, watched, mostPerEvent)
			}
		})
	}
}

// TestThoseWhoWaitForARunAskNothingAtALine that it prints, however many they are.
func TestThoseWhoWaitForARunAskNothingAtALine(t *testing.T) {
	const waiters, events = 50, 40
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	w := webtest.NewWorker(t, s.Site, run)
	w.Say(job.Event{Type: job.EventTaken})
	lines := func() int64 {
		before := s.Cfg.Store.Queries()
		for range events {
			w.Say(job.Event{Type: job.EventLog, Stage: job.StageTest, Text: "x"})
		}
		return s.Cfg.Store.Queries() - before
	}
	alone := lines()
	for range waiters {
		fmt.Fprintf(dial(s.Site, t, "127.0.0.1"), "GET /api/v1/submissions/%d?wait=25 HTTP/1.1\r\nHost: a\r\n\r\n", run.SubmissionID)
	}
	tier.Until(t, "all wait", func() bool { return s.Cfg.Hub.StreamCount() == waiters })
	began := time.Now()
	watched := lines()
	polls := waiters * (1 + int64(time.Since(began)/time.Second)) // each asks once a second, too
	if watched-alone > polls+waiters {
		t.Errorf("%d lines cost %d statements, and %d while %d wait", events, alone, watched, waiters)
	}
}
