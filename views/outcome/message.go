package outcome

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"warpboard/clients/go"
	"warpboard/models/boards"
	"warpboard/views/format"
)

// WebhookMessageText describes the body of a webhook as one text for chats. reader is the number of the person who owns
// the webhook, or 0 for a webhook of the site.
func WebhookMessageText(body []byte, reader int64) (string, error) {
	var m client.WebhookMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return "", err
	}
	var text string
	var err error
	switch m.Type {
	case "run.ended", "record.taken":
		text, err = runMessage(m, reader)
	case "worker.lost":
		var d struct{ Worker string }
		err = json.Unmarshal(m.Data, &d)
		text = fmt.Sprintf("Worker %s sends no heartbeats.", d.Worker)
	case "wait.long":
		var d struct {
			Device  string
			Waiting int
			Oldest  time.Time `json:"oldest_since"`
		}
		err = json.Unmarshal(m.Data, &d)
		text = fmt.Sprintf("%s for %s, since %s.", format.Plural(d.Waiting, "job waits", "jobs wait"), d.Device, format.DateMinute(d.Oldest))
	case "place.lost", "comment.added", "deadline.near":
		var n client.Notice
		err = json.Unmarshal(m.Data, &n)
		text = n.Text + "\n" + n.URL
	default:
		text = "A test of this webhook."
	}
	return text, err
}

func runMessage(m client.WebhookMessage, reader int64) (string, error) {
	var run client.EndedRun
	if err := json.Unmarshal(m.Data, &run); err != nil {
		return "", err
	}
	parts := []string{fmt.Sprintf("#%d by %s, %s on %s: %s", run.Submission, run.User.Name, run.Task, run.Device, endedRunText(run))}
	if p := run.PreviousRecord; m.Type == "record.taken" && p != nil {
		parts = append(parts, fmt.Sprintf("Before: %s by %s", format.Nanoseconds(p.ScoreNS), p.User.Name))
	}
	if run.Outcome != nil && run.ScoreNS != nil {
		for _, fact := range DescribeOutcome(boards.Outcome(*run.Outcome), run.Device, *run.ScoreNS,
			run.User.ID == reader) {
			parts = append(parts, fact.Text)
		}
	}
	return strings.Join(parts, ". ") + "\n" + run.URL, nil
}

// endedRunText describes the end of a run.
func endedRunText(run client.EndedRun) string {
	switch {
	case run.ScoreNS != nil:
		return format.Nanoseconds(*run.ScoreNS).String()
	case run.IsInfrastructureError:
		return "failed with an infrastructure error"
	case run.State == "done":
		return run.Mode + " passed"
	}
	return run.Mode + " " + run.State
}
