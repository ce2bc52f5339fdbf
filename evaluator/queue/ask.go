package queue

import (
	"encoding/json"
	"fmt"
	"strings"

	"warpboard/evaluator/job"
)

// Subjects of requests from workers to the site: "ask.WORKER.next.DEVICE", "ask.WORKER.sync", and so on.
const (
	requestPrefix        = "ask."
	jobRequestName       = "next"   // a job for the device in the next part
	heartbeatRequestName = "sync"   // a heartbeat; the answer lists attempts that no longer count
	eventsRequestName    = "events" // events of attempts
	resultRequestName    = "result" // the end of an attempt
	sitesQueueGroup      = "sites"  // queue group: one of the site's processes answers
	refusedHeader        = "Refused"
	retryHeader          = "Later"
)

// droppedAttemptsReply is the response to "sync" and "events".
type droppedAttemptsReply struct {
	// DroppedAttempts lists the attempts that no longer count or belong to another worker.
	DroppedAttempts []string `json:"drop,omitempty"`
}

// maxBatchEvents limits the events of one request.
const maxBatchEvents = 5000

// eventBatch is the body of an "events" request.
type eventBatch []job.Event

// Check returns an error if the batch exceeds the limits.
func (b eventBatch) Check() error {
	if len(b) > maxBatchEvents {
		return fmt.Errorf("it has %d events, at most %d are allowed", len(b), maxBatchEvents)
	}
	for _, e := range b {
		if err := e.Check(); err != nil {
			return err
		}
	}
	return nil
}

// decodeMessage decodes and checks a worker's message.
func decodeMessage[T interface{ Check() error }](data []byte) (message T, err error) {
	if err = job.CheckValueCount(data); err == nil {
		err = json.Unmarshal(data, &message)
	}
	if err == nil {
		err = message.Check()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errRefusedPermanently, err)
	}
	return message, err
}

func requestSubject(worker, what string) string {
	return requestPrefix + encodeToken(worker) + "." + what
}

// parseRequestSubject splits the subject of a request. worker is empty if the subject is invalid.
func parseRequestSubject(subject string) (worker, what, device string) {
	parts := strings.Split(subject, ".")
	switch {
	// Workers choose subjects within their permissions, and an external cluster may check less than the embedded
	// server. Therefore each part is decoded and its encoding compared.
	case len(parts) == 3:
		return decodeToken(parts[1]), parts[2], ""
	case len(parts) == 4 && parts[2] == jobRequestName:
		return decodeToken(parts[1]), parts[2], decodeToken(parts[3])
	}
	return "", "", ""
}

// isReplyToWorker reports whether only the requesting worker receives a response on this subject.
func isReplyToWorker(worker, reply string) bool {
	rest, own := strings.CutPrefix(reply, inboxPrefix+encodeToken(worker)+".")
	return own && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}
