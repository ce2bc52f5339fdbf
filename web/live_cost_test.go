package web

import (
	"fmt"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
)

// mostPerEvent is how many more statements one event of a run may cost while ten people watch its page.
const mostPerEvent = 10

func TestALiveEventIsReadAndRenderedOnceForAllItsReaders(t *testing.T) {
	for name, replicas := range map[string]bool{"one process": false, "several": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			if replicas {
				s.site.Hub.Spread(func([]byte) error { return nil }, s.site.Store.Work)
			}
			run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
			w := newWorker(t, s.testSite, run)
			w.say(job.Event{Type: job.EventTaken})
			var readers []*reader
			cost := func(stage job.Stage) int64 {
				before := s.site.Store.Queries()
				w.say(job.Event{Type: job.EventStage, Stage: stage})
				for _, r := range readers {
					r.want(1)
				}
				return s.site.Store.Queries() - before
			}
			unwatched := cost(job.StageBuild)
			after := storedIDs(t, s.site.Store, run.SubmissionID)
			for range 10 {
				readers = append(readers, s.open(fmt.Sprintf("/submissions/%d/events?after=%d", run.SubmissionID, after[len(after)-1]), ""))
			}
			eventually(t, "all are subscribed", func() bool { return s.site.Hub.StreamCount() == len(readers) })
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
	s := newStage(t)
	run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
	w := newWorker(t, s.testSite, run)
	w.say(job.Event{Type: job.EventTaken})
	lines := func() int64 {
		before := s.site.Store.Queries()
		for range events {
			w.say(job.Event{Type: job.EventLog, Stage: job.StageTest, Text: "x"})
		}
		return s.site.Store.Queries() - before
	}
	alone := lines()
	for range waiters {
		fmt.Fprintf(s.dial(t, "127.0.0.1"), "GET /api/v1/submissions/%d?wait=25 HTTP/1.1\r\nHost: a\r\n\r\n", run.SubmissionID)
	}
	eventually(t, "all wait", func() bool { return s.site.Hub.StreamCount() == waiters })
	began := time.Now()
	watched := lines()
	polls := waiters * (1 + int64(time.Since(began)/time.Second)) // each asks once a second, too
	if watched-alone > polls+waiters {
		t.Errorf("%d lines cost %d statements, and %d while %d wait", events, alone, watched, waiters)
	}
}
