package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"warpboard/evaluator/job"
)

// What a worker asks of the site: "ask.WORKER.next.DEVICE", "ask.WORKER.done" and so on. A worker has no
// rights to JetStream. There the server would act with its own rights, and send its answer to whatever
// subject the worker names.
const (
	askPrefix  = "ask."
	askNext    = "next"   // a job for the device that follows
	askExtend  = "extend" // a job is still being worked on
	askDone    = "done"   // a job is finished
	askReturn  = "return" // another worker shall have the job
	askResult  = "result" // a result, to be kept until it is recorded
	askSites   = "sites"  // the queue group: one of the site's processes answers
	refusedKey = "Refused"
	laterKey   = "Later"
)

// askForJob is the body of "next".
type askForJob struct {
	Version int           `json:"version"` // of the messages that the worker reads
	Wait    time.Duration `json:"wait"`
	Busy    bool          `json:"busy,omitempty"` // idle slots come first
}

// claim is the body of "extend", "done" and "return": which delivery, and the proof that the job was
// given to whoever speaks. Sequence numbers alone could be guessed.
type claim struct {
	Ack    string        `json:"ack"`
	Secret string        `json:"secret"`
	Pause  time.Duration `json:"pause,omitempty"` // of "return": how long nobody shall have the job
}

// delivered is what JetStream says of a delivery.
type delivered struct {
	consumer             string
	deliveries, sequence uint64
}

func askSubject(worker, what string) string { return askPrefix + token(worker) + "." + what }

// parseAsk takes a subject apart; worker is empty when nobody can have sent to it rightly.
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

// ownReply reports whether an answer to this subject reaches the worker that asked, and nobody else.
func ownReply(worker, reply string) bool {
	rest, own := strings.CutPrefix(reply, inboxPrefix+token(worker)+".")
	return own && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}

// parseAck takes apart the subject on which JetStream wants a delivery of JOBS acknowledged:
// "$JS.ACK.JOBS.CONSUMER.deliveries.sequence.….….…", on a cluster with a domain and an account first.
func parseAck(subject string) (d delivered, err error) {
	wrong := fmt.Errorf("%.100q does not acknowledge a job", subject)
	parts := strings.Split(subject, ".")
	// Nine parts in the old form, at least eleven in the new one (it may grow). The worker sends this text back, and the
	// site publishes to it with its own rights: anything that passed here by mistake could be any subject, hence no
	// wildcard and no other stream.
	if len(parts) < 9 || len(parts) == 10 || parts[0] != "$JS" || parts[1] != "ACK" || strings.ContainsAny(subject, "*> \t\r\n") {
		return delivered{}, wrong
	}
	rest := parts[2:]
	if len(parts) >= 11 {
		rest = parts[4:]
	}
	if rest[0] != jobsStream {
		return delivered{}, wrong
	}
	var numbers [5]uint64
	for i, part := range rest[2:7] {
		if numbers[i], err = strconv.ParseUint(part, 10, 64); err != nil {
			return delivered{}, wrong
		}
	}
	return delivered{consumer: rest[1], deliveries: numbers[0], sequence: numbers[1]}, nil
}

// checkJob tells what is wrong with a job that cannot be one for this device.
func checkJob(j job.Job, device string) error {
	switch {
	case j.AttemptID == "" || j.Secret == "":
		return fmt.Errorf("it names no attempt")
	case j.Device != device:
		return fmt.Errorf("it is for the device %.40q", j.Device)
	}
	return nil
}
