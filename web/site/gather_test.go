package site

import (
	"context"
	"testing"

	"warpboard/models/work"
)

type noEvents struct{}

func (noEvents) EventsSince(context.Context, int64, int64, int) ([]work.RunEvent, error) {
	return nil, nil
}
func (noEvents) LastEventID(context.Context, int64) (int64, error) { return 0, nil }

// TestSubmissionsWithoutReadersAreForgotten checks that the site keeps no data about submissions that no page follows
// anymore.
func TestSubmissionsWithoutReadersAreForgotten(t *testing.T) {
	hub := NewHub()
	hub.ConnectProcesses(func([]byte) error { return nil }, noEvents{})
	for id := int64(1); id <= 100; id++ {
		messages, stop := hub.WatchTopic(RunTopic(id), 1)
		hub.RunEvent(work.RunEvent{SubmissionID: id})
		<-messages // wait until the reader has received the event
		stop()
	}
	hub.eventReader.mu.Lock()
	defer hub.eventReader.mu.Unlock()
	if kept := len(hub.eventReader.positions); kept > 1 {
		t.Errorf("%d submissions are kept, which no one watches", kept)
	}
}
