package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Evaluation is one kernel that is compiled, checked and timed, or two that are compared, outside any task.
type Evaluation struct {
	ID      string           `json:"id"`
	URL     string           `json:"url"`    // of this answer
	Events  string           `json:"events"` // of its live stream
	Kind    string           `json:"kind"`   // "evaluate" or "compare"
	State   string           `json:"state"`  // "submitted", "compiling", "validating", "profiling"; "completed", "failed", "timeout", "cancelled"
	Ended   bool             `json:"ended"`
	Device  string           `json:"device"`
	Worker  string           `json:"worker,omitempty"`
	Created time.Time        `json:"created"`
	Taken   *time.Time       `json:"taken,omitempty"` // by a worker
	Finish  *time.Time       `json:"finished,omitempty"`
	Failure string           `json:"failure,omitempty"` // why there is no result
	Source  string           `json:"source_hash"`
	Request json.RawMessage  `json:"request,omitempty"`
	Result  *json.RawMessage `json:"result,omitempty"` // what POST /evaluate and /compare answer with
}

// NewWith is New with an HTTP client of one's own.
func NewWith(base, token string, doer *http.Client) *Client {
	c := New(base, token)
	c.http = doer
	return c
}

// Evaluate queues an evaluation; the request is a body of POST /evaluate or /compare.
func (c *Client) Evaluate(ctx context.Context, request any) (*Evaluation, error) {
	return ask[Evaluation](ctx, c, http.MethodPost, "/evaluations", request)
}

// Evaluation reads an evaluation. With a wait, below a minute, the answer comes when it has ended, or else
// after that time.
func (c *Client) Evaluation(ctx context.Context, id string, wait time.Duration) (*Evaluation, error) {
	path := fmt.Sprintf("/evaluations/%s?wait=%d", url.PathEscape(id), int(wait.Seconds()))
	return ask[Evaluation](ctx, c, http.MethodGet, path, nil)
}

// CancelEvaluation ends an evaluation that has not ended.
func (c *Client) CancelEvaluation(ctx context.Context, id string) (*Evaluation, error) {
	return ask[Evaluation](ctx, c, http.MethodPost, "/evaluations/"+url.PathEscape(id)+"/cancel", nil)
}

// Stats reads the counters of evaluations.
func (c *Client) Stats(ctx context.Context) (*map[string]any, error) {
	return ask[map[string]any](ctx, c, http.MethodGet, "/evaluations/stats", nil)
}
