package web

import (
	"testing"

	"warpboard/models"
)

func TestSlowReaderIsSentToTheStoreAndHoldsUpNobody(t *testing.T) {
	h := NewHub()
	slow := h.subscribe(topic{kind: topicSubmission, id: 7})
	fast := h.subscribe(topic{kind: topicSubmission, id: 7})
	elsewhere := h.subscribe(topic{kind: topicSubmission, id: 8})
	for i := range int64(runBuffer + 1) {
		h.RunEvent(models.RunEvent{ID: i + 1, SubmissionID: 7})
		if m := <-fast.C; m.event.ID != i+1 {
			t.Fatalf("the fast reader got event %d, want %d", m.event.ID, i+1)
		}
	}
	if m := <-slow.C; m.event != nil {
		t.Errorf("the slow reader got event %d, want the word to read the store", m.event.ID)
	}
	h.RunEvent(models.RunEvent{ID: 100, SubmissionID: 7})
	if m := <-slow.C; m.event == nil || m.event.ID != 100 {
		t.Errorf("after that it got %+v, want event 100", m)
	}
	if len(elsewhere.C) != 0 {
		t.Error("messages went to another submission's reader")
	}
	for _, sub := range []*subscription{slow, fast, elsewhere} {
		h.unsubscribe(sub)
	}
	if h.Open() != 0 || len(h.topics) != 0 {
		t.Errorf("%d readers and %d topics are left", h.Open(), len(h.topics))
	}
}

func TestOnlyTheNewestBoardChangeWaits(t *testing.T) {
	h := NewHub()
	sub := h.subscribe(topic{kind: topicBoard, id: 3, device: "CPU"})
	for change := int64(1); change <= 100; change++ {
		h.BoardChanged(3, "CPU", change)
	}
	h.BoardChanged(3, "H200", 999)
	if m := <-sub.C; m.change != 100 {
		t.Errorf("the reader got change %d, want the newest, 100", m.change)
	}
	if len(sub.C) != 0 {
		t.Error("older changes wait, too")
	}
}
