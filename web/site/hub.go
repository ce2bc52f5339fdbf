package site

import (
	"context"
	"sync"
	"time"

	"warpboard/models/work"
	"warpboard/web/conns"
)

// RunEventBuffer is the number of events that are buffered for a reader of runs. A slower reader reads events from the
// store.
const RunEventBuffer = 32

// Hub announces the dispatcher's changes by topic. An announcement is a hint to read the store. Hub implements
// dispatch.Notifier and never blocks its callers.
type Hub struct {
	*conns.Hub
	sendToProcesses func(announcement []byte) error
	eventReader     *eventReader // reads the events that other processes store; nil if this process stores all
}

// NewHub returns a hub without readers.
func NewHub() *Hub { return &Hub{Hub: conns.NewHub()} }

// RunTopic returns the topic of the events of a submission's runs.
func RunTopic(submissionID int64) conns.Topic {
	return conns.Topic{Kind: "submission", ID: submissionID}
}

// BoardTopic returns the topic of the change numbers of a board.
func BoardTopic(versionID int64, device string) conns.Topic {
	return conns.Topic{Kind: "board", ID: versionID, Name: device}
}

// BoardsTopic returns the topic on which a change of any board is announced.
func BoardsTopic() conns.Topic { return conns.Topic{Kind: "boards"} }

// QueueTopic returns the topic on which changes of the queues are announced.
func QueueTopic() conns.Topic { return conns.Topic{Kind: "queue"} }

// EvaluationTopic returns the topic of the change numbers of an evaluation.
func EvaluationTopic(id string) conns.Topic { return conns.Topic{Kind: "evaluation", Name: id} }

// BatchTopic returns the topic of the results of a batch of evaluations.
func BatchTopic(id string) conns.Topic { return conns.Topic{Kind: "batch", Name: id} }

// RunEvent passes an event to the readers of its submission. If the site has several processes, the readers read it
// from the store instead (see eventReader).
func (h *Hub) RunEvent(e work.RunEvent) {
	if h.sendToProcesses == nil {
		h.Publish(RunTopic(e.SubmissionID), conns.Message{Event: &SharedEvent{RunEvent: e}})
		return
	}
	h.announce(announcement{Submission: e.SubmissionID})
}

// BoardChanged announces a board's new change number to its readers, and the change to readers of BoardsTopic.
func (h *Hub) BoardChanged(versionID int64, device string, change int64) {
	h.announce(announcement{Board: &boardAnnouncement{versionID, device, change}})
}

// QueueChanged announces a change of the queues.
func (h *Hub) QueueChanged() { h.announce(announcement{}) }

// EvaluationChanged announces an evaluation's new change number to its readers, and a result to the readers of its
// batch. They read the rest from the store.
func (h *Hub) EvaluationChanged(e work.Evaluation) {
	change := &evaluationAnnouncement{ID: e.ID, ChangeNumber: e.ChangeNumber}
	if e.State.IsFinal() {
		change.Batch = e.BatchID
	}
	h.announce(announcement{Evaluation: change})
}

// pollInterval is the interval at which AwaitAnnouncement calls ready even without an announcement, because
// announcements can be lost.
const pollInterval = time.Second

// AwaitAnnouncement calls ready at once and after each announcement on a topic, until ready returns true or an error,
// or ctx ends. For a submission it ignores output events: a program may print hundreds of lines per second while
// hundreds of requests wait.
func (h *Hub) AwaitAnnouncement(ctx context.Context, topic conns.Topic, ready func() (bool, error)) error {
	changed, stop := h.WatchTopic(topic, RunEventBuffer)
	defer stop()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		if done, err := ready(); err != nil || done {
			return err
		}
		if err := waitForNextState(ctx, changed, poll.C); err != nil {
			return err
		}
	}
}

func waitForNextState(ctx context.Context, changed <-chan conns.Message, poll <-chan time.Time) error {
	for {
		select {
		case m := <-changed:
			if e, ok := m.Event.(*SharedEvent); !ok || e.Type == work.EventState {
				return nil
			}
		case <-poll:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// SharedEvent is a run event that is encoded once for all streams with the same format.
type SharedEvent struct {
	work.RunEvent
	frames [formatCount]struct {
		once  sync.Once
		bytes []byte
	}
	remaining struct {
		sync.Mutex
		known map[EventFormat]work.PendingEvents
	}
}

// RemainingWork returns the unfinished work of the event's submission. It calls ask once for all streams of a format.
func (e *SharedEvent) RemainingWork(
	f EventFormat, ask func() (work.PendingEvents, error),
) (rest work.PendingEvents, err error) {
	e.remaining.Lock()
	defer e.remaining.Unlock()
	rest, known := e.remaining.known[f]
	if known {
		return rest, nil
	}
	if rest, err = ask(); err == nil {
		e.remaining.known = map[EventFormat]work.PendingEvents{f: rest}
	}
	return rest, err
}

// EventFormat selects the encoding of the events in a stream.
type EventFormat int

const (
	FormatHTML       EventFormat = iota // for pages
	FormatJSON                          // for the API
	FormatHiddenJSON                    // for API clients that may not see the source
	formatCount
)

// Encoded returns the event in a format. It calls encode once for all streams of the format.
func (e *SharedEvent) Encoded(f EventFormat, encode func(work.RunEvent) []byte) []byte {
	e.frames[f].once.Do(func() { e.frames[f].bytes = encode(e.RunEvent) })
	return e.frames[f].bytes
}
