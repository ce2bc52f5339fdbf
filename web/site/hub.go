package site

import (
	"context"
	"sync"
	"time"

	"warpboard/models/work"
	"warpboard/web/conns"
)

// RunBuffer limits the events by which a reader of runs may be behind; beyond it, the reader gets them from the store.
const RunBuffer = 32

// Hub announces the changes from the dispatcher on its topics. The store has the truth; an announcement is
// a hint to read it. It implements dispatch.Notifier and never blocks its callers.
type Hub struct {
	*conns.Hub
	spread func(announcement []byte) error
	gather *eventReader // position events that several processes store; nil: this one stores them all
}

// NewHub returns a hub without readers.
func NewHub() *Hub { return &Hub{Hub: conns.NewHub()} }

// RunTopic returns the topic of one submission's events.
func RunTopic(submissionID int64) conns.Topic {
	return conns.Topic{Kind: "submission", ID: submissionID}
}

// BoardTopic is the change numbers of one board.
func BoardTopic(versionID int64, device string) conns.Topic {
	return conns.Topic{Kind: "board", ID: versionID, Name: device}
}

// BoardsTopic is that some board changed.
func BoardsTopic() conns.Topic { return conns.Topic{Kind: "boards"} }

// QueueTopic is the queues of all devices.
func QueueTopic() conns.Topic { return conns.Topic{Kind: "queue"} }

// EvaluationTopic is the change numbers of one evaluation.
func EvaluationTopic(id string) conns.Topic { return conns.Topic{Kind: "evaluation", Name: id} }

// BatchTopic returns the topic of the results of one batch of evaluations.
func BatchTopic(id string) conns.Topic { return conns.Topic{Kind: "batch", Name: id} }

// RunEvent passes an event to the readers of its submission. With several processes they read it from the store,
// because announcements of two processes may come in another order than the events were stored.
func (h *Hub) RunEvent(e work.RunEvent) {
	if h.spread == nil {
		h.Publish(RunTopic(e.SubmissionID), conns.Message{Event: &SharedEvent{RunEvent: e}})
		return
	}
	h.announce(announcement{Submission: e.SubmissionID})
}

// BoardChanged sends the readers of a board its new change number, and the readers of all boards the news that one
// changed.
func (h *Hub) BoardChanged(versionID int64, device string, change int64) {
	h.announce(announcement{Board: &boardChange{versionID, device, change}})
}

// QueueChanged announces a change of the queue to its readers.
func (h *Hub) QueueChanged() { h.announce(announcement{}) }

// EvaluationChanged sends the readers of an evaluation its change number, and the readers of its batch the news of a
// result; they read the rest.
func (h *Hub) EvaluationChanged(e work.Evaluation) {
	change := &evaluationChange{ID: e.ID, Change: e.Change}
	if e.State.Final() {
		change.Batch = e.Batch
	}
	h.announce(announcement{Evaluation: change})
}

// pollInterval is the longest delay that a missed announcement causes for a reader.
const pollInterval = time.Second

// Await calls ready at once, then for each announcement on a topic, until it returns true or fails, or ctx ends. Of a
// run's events it uses only changes of state: a program may print hundreds of lines a second, and hundreds may wait for
// its end.
func (h *Hub) Await(ctx context.Context, topic conns.Topic, ready func() (bool, error)) error {
	changed, stop := h.Watch(topic, RunBuffer)
	defer stop()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		if done, err := ready(); err != nil || done {
			return err
		}
		if err := nextState(ctx, changed, poll.C); err != nil {
			return err
		}
	}
}

func nextState(ctx context.Context, changed <-chan conns.Message, poll <-chan time.Time) error {
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

// SharedEvent is a run event that is encoded once for all the streams that send it.
type SharedEvent struct {
	work.RunEvent
	frames [formats]struct {
		once  sync.Once
		bytes []byte
	}
	after struct {
		sync.Mutex
		known map[Format]work.Pending
	}
}

// Remaining asks for the rest of the events once for all streams of a format.
func (e *SharedEvent) Remaining(f Format, ask func() (work.Pending, error)) (rest work.Pending, err error) {
	e.after.Lock()
	defer e.after.Unlock()
	rest, known := e.after.known[f]
	if known {
		return rest, nil
	}
	if rest, err = ask(); err == nil {
		e.after.known = map[Format]work.Pending{f: rest}
	}
	return rest, err
}

// Format selects the encoding of events in a stream.
type Format int

const (
	AsHTML       Format = iota // for pages
	AsJSON                     // for the API
	AsHiddenJSON               // the same for those who may not see the source
	formats
)

// Encoded is the event in one format; encode is called for the first reader only.
func (e *SharedEvent) Encoded(f Format, encode func(work.RunEvent) []byte) []byte {
	e.frames[f].once.Do(func() { e.frames[f].bytes = encode(e.RunEvent) })
	return e.frames[f].bytes
}
