package web

import (
	"fmt"
	"testing"

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
				before := s.site.Store.Statements()
				w.say(job.Event{Type: job.EventStage, Stage: stage})
				for _, r := range readers {
					r.want(1)
				}
				return s.site.Store.Statements() - before
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
