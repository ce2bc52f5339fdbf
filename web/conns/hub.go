package conns

import "sync"

// Topic identifies the subject of a stream, such as a board or a submission.
type Topic struct {
	Kind string
	ID   int64
	Name string
}

// Message is one published message. All readers share Event and must not modify it. A nil Event tells the reader to
// read missed events from the store.
type Message struct {
	Event        any
	ChangeNumber int64
}

// subscription is one reader's queue. Only the hub sends to it, under its lock.
type subscription struct {
	messages chan Message
	topic    Topic
}

// Hub passes messages to the open streams. It stores nothing and never blocks the publisher.
type Hub struct {
	mu            sync.Mutex
	subscriptions map[Topic]map[*subscription]struct{}
	streamCount   int
}

// NewHub returns a hub without readers.
func NewHub() *Hub {
	return &Hub{subscriptions: map[Topic]map[*subscription]struct{}{}}
}

// Publish passes a message to all readers of a topic. All readers receive messages in the same order, because Publish
// holds a lock; it never waits for a reader.
func (h *Hub) Publish(t Topic, m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subscriptions[t] {
		select {
		case sub.messages <- m:
		default:
			sub.coalesce(m)
		}
	}
}

// ReloadAll sends all readers a message without an event, because messages may have been lost. They then read from the
// store.
func (h *Hub) ReloadAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subs := range h.subscriptions {
		for sub := range subs {
			sub.coalesce(Message{})
		}
	}
}

// WatchTopic subscribes to a topic until stop is called. The channel buffers messages for a slow reader; when the
// buffer is full, one message replaces all of them (see coalesce).
func (h *Hub) WatchTopic(t Topic, buffer int) (messages <-chan Message, stop func()) {
	sub := h.subscribe(t, buffer)
	return sub.messages, func() { h.unsubscribe(sub) }
}

// HasReaders reports whether a topic has readers.
func (h *Hub) HasReaders(t Topic) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subscriptions[t]) > 0
}

// StreamCount returns the number of readers.
func (h *Hub) StreamCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streamCount
}

// subscribe adds a reader whose channel buffers the given number of messages.
func (h *Hub) subscribe(t Topic, buffer int) *subscription {
	sub := &subscription{messages: make(chan Message, max(buffer, 1)), topic: t}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subscriptions[t] == nil {
		h.subscriptions[t] = map[*subscription]struct{}{}
	}
	h.subscriptions[t][sub] = struct{}{}
	h.streamCount++
	return sub
}

func (h *Hub) unsubscribe(sub *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscriptions[sub.topic], sub)
	if len(h.subscriptions[sub.topic]) == 0 {
		delete(h.subscriptions, sub.topic)
	}
	h.streamCount--
}

// coalesce replaces all unread messages of a slow reader by one without an event, which has the newest change number.
// The reader then reads from the store. The send cannot block: only the hub sends, under its lock, and coalesce has
// emptied the buffer. If the new message were dropped instead, the reader would keep an old state without noticing.
func (s *subscription) coalesce(m Message) {
	for len(s.messages) > 0 {
		select {
		case <-s.messages:
		default: // the reader has just received the message
		}
	}
	m.Event = nil
	s.messages <- m
}
