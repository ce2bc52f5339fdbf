package web

import (
	"sync"

	"warpboard/models"
	"warpboard/web/stream"
)

// RunBuffer is how many events a reader of runs may be behind; then they are sent to the store instead.
const runBuffer = 32

// Hub announces on its topics what the recorder and the dispatcher tell. The store is the truth; what is
// published is a hint to read it. It implements dispatch.Notifier and never blocks its callers.
type Hub struct{ *stream.Hub }

// NewHub returns a hub without readers.
func NewHub() *Hub { return &Hub{stream.NewHub()} }

// runTopic is one submission's events.
func runTopic(submissionID int64) stream.Topic {
	return stream.Topic{Kind: "submission", ID: submissionID}
}

// boardTopic is the change numbers of one board.
func boardTopic(versionID int64, device string) stream.Topic {
	return stream.Topic{Kind: "board", ID: versionID, Name: device}
}

// queueTopic is the queues of all devices.
func queueTopic() stream.Topic { return stream.Topic{Kind: "queue"} }

// evaluationTopic is the change numbers of one evaluation.
func evaluationTopic(id string) stream.Topic { return stream.Topic{Kind: "evaluation", Name: id} }

// RunEvent passes an event to the readers of its submission.
func (h *Hub) RunEvent(e models.RunEvent) {
	h.Publish(runTopic(e.SubmissionID), stream.Message{Event: &sharedEvent{RunEvent: e}})
}

// BoardChanged passes the readers of a board its new change number.
func (h *Hub) BoardChanged(versionID int64, device string, change int64) {
	h.Publish(boardTopic(versionID, device), stream.Message{Change: change})
}

// QueueChanged lets the readers of the queue know that it looks different now.
func (h *Hub) QueueChanged() { h.Publish(queueTopic(), stream.Message{}) }

// EvaluationChanged passes the readers of an evaluation the number of its change; they read the rest.
func (h *Hub) EvaluationChanged(e models.Evaluation) {
	h.Publish(evaluationTopic(e.ID), stream.Message{Change: e.Change})
}

// sharedEvent is a run event that is encoded once for all the streams that send it.
type sharedEvent struct {
	models.RunEvent
	frames [formats]struct {
		once  sync.Once
		bytes []byte
	}
}

// format is how an event is put into a stream.
type format int

const (
	asHTML format = iota // for pages
	asJSON               // for the API
	formats
)

// encoded is the event in one format; encode is called for the first reader only.
func (e *sharedEvent) encoded(f format, encode func(models.RunEvent) []byte) []byte {
	e.frames[f].once.Do(func() { e.frames[f].bytes = encode(e.RunEvent) })
	return e.frames[f].bytes
}
