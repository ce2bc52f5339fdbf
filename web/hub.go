package web

import (
	"sync"

	"warpboard/models"
)

// A reader may be this many events behind; then it is told to read the rest from the store instead.
const runBuffer = 32

// Hub passes what the recorder and the dispatcher tell to the open streams. It remembers nothing:
// the store is the truth. It implements dispatch.Notifier and never blocks its callers.
type Hub struct {
	mu     sync.Mutex
	topics map[topic]map[*subscription]struct{}
	open   int
}

// topic is what a stream listens to: one submission's events, one board, or the queue.
type topic struct {
	kind   topicKind
	id     int64 // submission or task version
	device string
	name   string // evaluation
}

type topicKind int

const (
	topicSubmission topicKind = iota
	topicBoard
	topicQueue
	topicEvaluation
)

// message is one thing told. The event is shared by all its readers, who must not change it; a submission's
// message without one says that events were left out and wait in the store.
type message struct {
	event  *sharedEvent
	change int64
}

// sharedEvent is a run event that is encoded once for all the streams that send it.
type sharedEvent struct {
	models.RunEvent
	frames [formats]struct {
		once  sync.Once
		bytes []byte
	}
}

// frameFormat is how an event is put into a stream.
type frameFormat int

const (
	asHTML frameFormat = iota // for pages
	asJSON                    // for the API
	formats
)

func (e *sharedEvent) frame(f frameFormat, encode func(models.RunEvent) []byte) []byte {
	e.frames[f].once.Do(func() { e.frames[f].bytes = encode(e.RunEvent) })
	return e.frames[f].bytes
}

// subscription is one reader's queue. Only the hub sends to C, under its lock.
type subscription struct {
	C     chan message
	topic topic
}

// NewHub returns a hub without readers.
func NewHub() *Hub { return &Hub{topics: map[topic]map[*subscription]struct{}{}} }

// RunEvent tells the readers of the event's submission.
func (h *Hub) RunEvent(e models.RunEvent) {
	h.tell(topic{kind: topicSubmission, id: e.SubmissionID}, message{event: &sharedEvent{RunEvent: e}})
}

// BoardChanged tells the readers of a board its new change number.
func (h *Hub) BoardChanged(versionID int64, device string, change int64) {
	h.tell(topic{kind: topicBoard, id: versionID, device: device}, message{change: change})
}

// QueueChanged tells the readers of the queue that it looks different now.
func (h *Hub) QueueChanged() { h.tell(topic{kind: topicQueue}, message{}) }

// EvaluationChanged tells the readers of an evaluation the number of its change; they read the rest.
func (h *Hub) EvaluationChanged(e models.Evaluation) {
	h.tell(topic{kind: topicEvaluation, name: e.ID}, message{change: e.Change})
}

// Open is the number of readers.
func (h *Hub) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

func (h *Hub) subscribe(t topic) *subscription {
	size := 1 // of boards and the queue only the newest state matters
	if t.kind == topicSubmission {
		size = runBuffer
	}
	sub := &subscription{C: make(chan message, size), topic: t}
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

func (h *Hub) tell(t topic, m message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.topics[t] {
		select {
		case sub.C <- m:
		default:
			sub.overtake(m)
		}
	}
}

// overtake replaces all that a slow reader has not taken yet: by the newest state, or by the word that it
// must read the store.
func (s *subscription) overtake(m message) {
	for len(s.C) > 0 {
		select {
		case <-s.C:
		default: // the reader took it meanwhile
		}
	}
	m.event = nil
	s.C <- m
}
