package site

import (
	"encoding/json"
	"fmt"

	"warpboard/web/conns"
)

// announcement is a message between the hubs of a site's processes, sent after the database commit. The zero value
// means that a queue changed.
type announcement struct {
	Submission int64                   `json:"submission,omitempty"` // submission whose runs have new events
	Board      *boardAnnouncement      `json:"board,omitempty"`
	Evaluation *evaluationAnnouncement `json:"evaluation,omitempty"`
}

type boardAnnouncement struct {
	Version      int64  `json:"version"`
	Device       string `json:"device"`
	ChangeNumber int64  `json:"change"`
}

type evaluationAnnouncement struct {
	ID           string `json:"id"`
	ChangeNumber int64  `json:"change"`
	Batch        string `json:"batch,omitempty"` // batch of an evaluation that has ended
}

// ConnectProcesses makes the hub send announcements to the site's other processes. Call it before using the hub. send
// must not block. After ConnectProcesses, events of runs are read from the store, once for all readers of this process.
func (h *Hub) ConnectProcesses(send func(announcement []byte) error, events EventStore) {
	h.sendToProcesses, h.eventReader = send, &eventReader{hub: h.Hub, store: events,
		positions: map[int64]*readerPosition{}}
}

// AnnouncementsMissed makes all readers read the store, because announcements of other processes may have been lost.
func (h *Hub) AnnouncementsMissed() {
	if h.eventReader != nil {
		h.eventReader.resetPositions()
	}
	h.Hub.ReloadAll()
}

// announce passes an announcement to the readers of this process and sends it to the other processes. If sending fails,
// readers elsewhere miss the change until they reconnect.
func (h *Hub) announce(a announcement) {
	h.passToReaders(a)
	if h.sendToProcesses == nil {
		return
	}
	if data, err := json.Marshal(a); err == nil { // cannot fail: the struct has only numbers and strings
		_ = h.sendToProcesses(data)
	}
}

// ReceiveAnnouncement passes on an announcement of another process.
func (h *Hub) ReceiveAnnouncement(data []byte) error {
	var a announcement
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("reading an announcement of another process: %w", err)
	}
	h.passToReaders(a)
	return nil
}

func (h *Hub) passToReaders(a announcement) {
	switch {
	case a.Submission != 0 && h.eventReader != nil:
		h.eventReader.gatherEvents(a.Submission)
	case a.Board != nil:
		h.Publish(BoardTopic(a.Board.Version, a.Board.Device), conns.Message{ChangeNumber: a.Board.ChangeNumber})
		h.Publish(BoardsTopic(), conns.Message{})
	case a.Evaluation != nil:
		h.Publish(EvaluationTopic(a.Evaluation.ID), conns.Message{ChangeNumber: a.Evaluation.ChangeNumber})
		if a.Evaluation.Batch != "" {
			h.Publish(BatchTopic(a.Evaluation.Batch), conns.Message{})
		}
	default:
		h.Publish(QueueTopic(), conns.Message{})
	}
}
