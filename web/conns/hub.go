package conns

import "sync"

// Topic is the subject of a stream.
type Topic struct {
	Kind string
	ID   int64
	Name string
}

// Message is one published message. All readers share its event, and must not change it. A message without one means
// that events were left out: read them from the store.
type Message struct {
	Event  any
	Change int64
}

// subscription is one reader's queue. Only the hub sends to it, under its lock.
type subscription struct {
	messages chan Message
	topic    Topic
}

// Hub passes messages to the open streams. It stores nothing and never blocks the publisher.
type Hub struct {
	mu     sync.Mutex
	topics map[Topic]map[*subscription]struct{}
	open   int
}

// NewHub returns a hub without readers.
func NewHub() *Hub {
	return &Hub{topics: map[Topic]map[*subscription]struct{}{}}
}

// Publish passes a message to all readers of a topic. The lock gives all of them one order; nothing under it waits for
// a reader, so its time grows with the number of readers alone.
func (h *Hub) Publish(t Topic, m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.topics[t] {
		select {
		case sub.messages <- m:
		default:
			sub.coalesce(m)
		}
	}
}

// ReloadAll makes all readers read from the store, since messages may be lost.
func (h *Hub) ReloadAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subs := range h.topics {
		for sub := range subs {
			sub.coalesce(Message{})
		}
	}
}

// Watch subscribes to a topic until stop is called. Up to buffer messages wait for a slow reader; one more replaces
// them all (see coalesce).
func (h *Hub) Watch(t Topic, buffer int) (messages <-chan Message, stop func()) {
	sub := h.subscribe(t, buffer)
	return sub.messages, func() { h.unsubscribe(sub) }
}

// Watched reports whether a topic has readers.
func (h *Hub) Watched(t Topic) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.topics[t]) > 0
}

// StreamCount is the number of readers.
func (h *Hub) StreamCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// subscribe adds a reader who may be so many messages behind.
func (h *Hub) subscribe(t Topic, buffer int) *subscription {
	sub := &subscription{messages: make(chan Message, max(buffer, 1)), topic: t}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[t] == nil {
		h.topics[t] = map[*subscription]struct{}{}
	}
	h.topics[t][sub] = struct{}{}
	h.open++
	return sub
}

func (h *Hub) unsubscribe(sub *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.topics[sub.topic], sub)
	if len(h.topics[sub.topic]) == 0 {
		delete(h.topics, sub.topic)
	}
	h.open--
}

// coalesce replaces all messages that a slow reader has not taken by one without an event: the newest state, or the
// note that events were left out. Sending cannot block: only the hub sends, under its lock, and the buffer of at least
// one message is empty now. Dropping the new message instead would leave the reader with the oldest state and no hint
// of more.
func (s *subscription) coalesce(m Message) {
	for len(s.messages) > 0 {
		select {
		case <-s.messages:
		default: // the reader took it in the meantime
		}
	}
	m.Event = nil
	s.messages <- m
}
