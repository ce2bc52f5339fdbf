package conns

import "testing"

func TestASlowReaderDelaysNoOther(t *testing.T) {
	const buffer = 32
	h, seventh := NewHub(), Topic{Kind: "submission", ID: 7}
	slow, fast := h.subscribe(seventh, buffer), h.subscribe(seventh, buffer)
	elsewhere := h.subscribe(Topic{Kind: "submission", ID: 8}, buffer)
	for i := range buffer + 1 {
		h.Publish(seventh, Message{Event: i})
		if m := <-fast.messages; m.Event != i {
			t.Fatalf("the fast reader got event %v, want %d", m.Event, i)
		}
	}
	if m := <-slow.messages; m.Event != nil {
		t.Errorf("the slow reader got event %v, want the word that events were left out", m.Event)
	}
	h.Publish(seventh, Message{Event: 100})
	if m := <-slow.messages; m.Event != 100 {
		t.Errorf("after that it got %+v, want event 100", m)
	}
	if len(elsewhere.messages) != 0 {
		t.Error("messages went to another topic's reader")
	}
	for _, sub := range []*subscription{slow, fast, elsewhere} {
		h.unsubscribe(sub)
	}
	if h.StreamCount() != 0 || len(h.subscriptions) != 0 {
		t.Errorf("%d readers and %d topics are left", h.StreamCount(), len(h.subscriptions))
	}
}

func TestOnlyTheNewestChangeWaits(t *testing.T) {
	h, board := NewHub(), Topic{Kind: "board", ID: 3, Name: "CPU"}
	messages, stop := h.WatchTopic(board, 1)
	defer stop()
	for change := int64(1); change <= 100; change++ {
		h.Publish(board, Message{ChangeNumber: change})
	}
	h.Publish(Topic{Kind: "board", ID: 3, Name: "H200"}, Message{ChangeNumber: 999})
	if m := <-messages; m.ChangeNumber != 100 {
		t.Errorf("the reader got change %d, want the newest, 100", m.ChangeNumber)
	}
	if len(messages) != 0 {
		t.Error("older changes wait, too")
	}
}
