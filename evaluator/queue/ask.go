package queue

import (
	"encoding/json"
	"fmt"
	"strings"

	"warpboard/evaluator/job"
)

// The requests of a worker to the site: "ask.WORKER.next.DEVICE", "ask.WORKER.sync" and so on.
const (
	askPrefix  = "ask."
	askNext    = "next"   // a job for the device that follows
	askSync    = "sync"   // the worker's attempts; the answer: those that no longer count
	askEvents  = "events" // what happened during attempts
	askResult  = "result" // the end of an attempt
	askSites   = "sites"  // the queue group: one of the site's processes answers
	refusedKey = "Refused"
	laterKey   = "Later"
)

// orders is the answer to "sync" and to "events".
type orders struct {
	Drop []string `json:"drop,omitempty"` // attempts that no longer count, or are another worker's
}

// mostEvents is how many events a request may hold.
const mostEvents = 5000

// batch is the body of "events".
type batch []job.Event

// Check reports what is beyond the bounds.
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

// decode reads a worker's message, which must keep its bounds.
func decode[T interface{ Check() error }](data []byte) (message T, err error) {
	if err = job.CheckValues(data); err == nil {
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

// parseAsk takes a subject apart; worker is empty when no worker can have sent to it rightly.
func parseAsk(subject string) (worker, what, device string) {
	parts := strings.Split(subject, ".")
	switch {
	// Subjects are of the worker's choice within its permissions; an external cluster may check less than the embedded
	// server does, so that every part is taken apart and made again.
	case len(parts) == 3:
		return name(parts[1]), parts[2], ""
	case len(parts) == 4 && parts[2] == askNext:
		return name(parts[1]), parts[2], name(parts[3])
	}
	return "", "", ""
}

// ownReply reports whether an answer to this subject reaches only the worker that asked.
func ownReply(worker, reply string) bool {
	rest, own := strings.CutPrefix(reply, inboxPrefix+token(worker)+".")
	return own && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}
