package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Validation is the verdict on an entry by the validation script of a task. It does not affect ranks.
type Validation struct {
	Answer        string    `json:"answer" jsonschema:"'applies', 'does not apply', or 'no answer'; empty: the script has not ended"`
	Message       string    `json:"message,omitempty" jsonschema:"the script's message, or why it gave no answer"`
	ScriptVersion string    `json:"script_version"`
	AskedAt       time.Time `json:"asked"`
	AskedBy       string    `json:"asked_by" jsonschema:"name of the person who asked for it"`
}

// ValidationQueued is the number of entries for which validation was queued.
type ValidationQueued struct {
	Task   string `json:"task" jsonschema:"slug of the task"`
	Queued int    `json:"queued" jsonschema:"entries that the script will run on; those for which it waits already are not among them"`
}

// QueueValidations queues the validation script of a task for the first entries of its boards, which show the results.
func (c *Client) QueueValidations(ctx context.Context, task string) (*ValidationQueued, error) {
	return sendJSON[ValidationQueued](ctx, c, http.MethodPost, "/tasks/"+url.PathEscape(task)+"/validation", nil)
}
