package queue

import (
	"encoding/json"
	"fmt"
	"strings"

	"warpboard/evaluator/job"
)

// Subjects of a worker's requests to the site: "ask.WORKER.next.DEVICE", "ask.WORKER.sync" and so on.
const (
	askPrefix  = "ask."
	askNext    = "next"   // a job for the device in the next part
	askSync    = "sync"   // a heartbeat; the answer lists attempts that no longer count
	askEvents  = "events" // events of attempts
	askResult  = "result" // the end of an attempt
	askSites   = "sites"  // queue group: one of the site's processes answers
	refusedKey = "Refused"
	retryKey   = "Later"
)

// syncReply is the answer to "sync" and "events".
type syncReply struct {
	Drop []string `json:"drop,omitempty"` // IDs of attempts that no longer count, or belong to another worker
}

// mostEvents limits the events of one request.
const mostEvents = 5000

// batch is the body of "events".
type batch []job.Event

// Check returns an error if the batch exceeds the limits.
func (b batch) Check() error {
	if len(b) > mostEvents {
		return fmt.Errorf("it has %d events, at most %d are allowed", len(b), mostEvents)
	}
	for _, e := range b {
		if err := e.Check(); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes and checks a worker's message.
func decode[T interface{ Check() error }](data []byte) (message T, err error) {
	if err = job.CheckValueCount(data); err == nil {
		err = json.Unmarshal(data, &message)
	}
	if err == nil {
		err = message.Check()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errNever, err)
	}
	return message, err
}

func askSubject(worker, what string) string { return askPrefix + token(worker) + "." + what }

// parseAsk splits a subject. worker is empty if the subject belongs to no known worker.
func parseAsk(subject string) (worker, what, device string) {
	parts := strings.Split(subject, ".")
	switch {
	// Workers choose subjects within their permissions. An external cluster may check less than the embedded server, so
	// every part is decoded and compared with its encoding.
	case len(parts) == 3:
		return name(parts[1]), parts[2], ""
	case len(parts) == 4 && parts[2] == askNext:
		return name(parts[1]), parts[2], name(parts[3])
	}
	return "", "", ""
}

// ownReply reports whether only the worker that asked receives an answer on this subject.
func ownReply(worker, reply string) bool {
	rest, own := strings.CutPrefix(reply, inboxPrefix+token(worker)+".")
	return own && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}
