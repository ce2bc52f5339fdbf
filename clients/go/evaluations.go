package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Evaluation compiles, checks, and times one kernel, or compares two kernels, without a task.
type Evaluation struct {
	ID             string           `json:"id"`
	URL            string           `json:"url" jsonschema:"address of this answer"`
	Events         string           `json:"events" jsonschema:"address of its live stream"`
	Kind           string           `json:"kind" jsonschema:"evaluate or compare"`
	State          string           `json:"state" jsonschema:"submitted, compiling, validating, profiling; then completed, failed, timeout or cancelled"`
	Ended          bool             `json:"ended"`
	Device         string           `json:"device"`
	Worker         string           `json:"worker,omitempty"`
	CreatedAt      time.Time        `json:"created"`
	TakenAt        *time.Time       `json:"taken,omitempty" jsonschema:"when a worker had taken it"`
	EndedAt        *time.Time       `json:"finished,omitempty"`
	WaitsFor       string           `json:"waits_for,omitempty" jsonschema:"required packages that no worker of its device has: 'a worker that has triton>=3.2; …'"`
	Failure        string           `json:"failure,omitempty" jsonschema:"why there is no result"`
	Source         string           `json:"source_hash" jsonschema:"SHA-256 of the sources"`
	Shared         bool             `json:"shared" jsonschema:"anyone who has its id can read it; otherwise only its caller and the admins"`
	Batch          string           `json:"batch,omitempty" jsonschema:"id of the batch that it was sent with"`
	ReusedResultOf string           `json:"reused,omitempty" jsonschema:"the evaluation whose result this one shares, because of reuse_result; absent: it was measured itself"`
	EvaluationKey  string           `json:"key,omitempty" jsonschema:"only when it was made without a token: send it as X-Evaluation-Key to read, list, cancel or share this evaluation, and with the next ones"`
	Request        json.RawMessage  `json:"request,omitempty" jsonschema:"the request with its defaults; absent if larger than 1 MiB"`
	Result         *json.RawMessage `json:"result,omitempty" jsonschema:"what POST /evaluate and /compare answer with"`
}

// EvaluationChange is the request body for changing an evaluation.
type EvaluationChange struct {
	Shared *bool `json:"shared" jsonschema:"anyone who has its id can read it"`
}

// Job is the response of GET /job/ID.
type Job struct {
	ID      string  `json:"job_id"`
	Status  string  `json:"status"`
	Created float64 `json:"created_at" jsonschema:"seconds since 1970"`
	Error   *string `json:"error" jsonschema:"why it has no result; null: no error"`
}

// EvaluationError is the response of the unversioned API if it refused a request, or if an evaluation has no result.
type EvaluationError struct {
	Error      string          `json:"error"`
	Status     string          `json:"status" jsonschema:"client_error, error or unhealthy"`
	Validation []FieldError    `json:"validation_errors,omitempty" jsonschema:"every field that is wrong"`
	Details    json.RawMessage `json:"details,omitempty"`
	JobID      string          `json:"job_id,omitempty"`
	State      string          `json:"state,omitempty" jsonschema:"how the evaluation ended"`
	Partial    json.RawMessage `json:"partial_result,omitempty" jsonschema:"the state before the end"`
}

// BodyErrors is the response of the unversioned API to a body that is not a JSON object.
type BodyErrors struct {
	Detail []struct {
		Type  string          `json:"type"`
		Loc   []any           `json:"loc"`
		Msg   string          `json:"msg"`
		Input json.RawMessage `json:"input"`
		Ctx   map[string]any  `json:"ctx,omitempty"`
	} `json:"detail"`
}

// NewWith returns a client as New does. It sends its requests with doer.
func NewWith(base, token string, doer *http.Client) *Client {
	c := New(base, token)
	c.httpClient = doer
	return c
}

// Evaluate queues an evaluation. The request is a body of POST /evaluate or /compare.
func (c *Client) Evaluate(ctx context.Context, request any) (*Evaluation, error) {
	return sendJSON[Evaluation](ctx, c, http.MethodPost, "/evaluations", request)
}

// Compile compiles a source without running it. The request is a body of POST /api/v1/compile. If the evaluation has
// not ended, the source was not compiled in time.
func (c *Client) Compile(ctx context.Context, request any) (*Evaluation, error) {
	return sendJSON[Evaluation](ctx, c, http.MethodPost, "/compile", request)
}

// Evaluation returns an evaluation. With a wait, which must be below a minute, it returns when the evaluation has ended
// or the wait is over. With a wait it pauses for at least one second before it returns an unfinished evaluation, so
// that a busy site is not called too often.
func (c *Client) Evaluation(ctx context.Context, id string, wait time.Duration) (*Evaluation, error) {
	began, path := time.Now(), fmt.Sprintf("/evaluations/%s?wait=%d", url.PathEscape(id), int(wait.Seconds()))
	e, err := sendJSON[Evaluation](ctx, c, http.MethodGet, path, nil)
	if err == nil && !e.Ended {
		err = pauseIfEarly(ctx, began, wait)
	}
	return e, err
}

// CancelEvaluation cancels an evaluation that has not ended.
func (c *Client) CancelEvaluation(ctx context.Context, id string) (*Evaluation, error) {
	return sendJSON[Evaluation](ctx, c, http.MethodPost, "/evaluations/"+url.PathEscape(id)+"/cancel", nil)
}

// Stats returns the counters of evaluations.
func (c *Client) Stats(ctx context.Context) (*map[string]any, error) {
	return sendJSON[map[string]any](ctx, c, http.MethodGet, "/evaluations/stats", nil)
}
