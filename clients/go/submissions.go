package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// IdempotencyHeader carries a key of the sender's choice: what is sent again with it is the same one.
const IdempotencyHeader = "Idempotency-Key"

// maxWait is the longest that a site waits for a submission's end before it answers.
const maxWait = 25 * time.Second

// Me says whose token the client has.
func (c *Client) Me(ctx context.Context) (*User, error) {
	return ask[User](ctx, c, http.MethodGet, "/me", nil)
}

// Mine lists the client's own submissions, the newest first; task and before may be empty.
func (c *Client) Mine(ctx context.Context, task string, before int64, limit int) (*SubmissionList, error) {
	q := url.Values{}
	if task != "" {
		q.Set("task", task)
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return ask[SubmissionList](ctx, c, http.MethodGet, "/submissions?"+q.Encode(), nil)
}

// Source reads what was submitted.
func (c *Client) Source(ctx context.Context, id int64) (*SourceFile, error) {
	return ask[SourceFile](ctx, c, http.MethodGet, fmt.Sprintf("/submissions/%d/source", id), nil)
}

// Wait reads a submission when all its runs have ended, or else after the wait; of more than 25 s it waits 25.
func (c *Client) Wait(ctx context.Context, id int64, wait time.Duration) (*Submission, error) {
	began := time.Now()
	s, err := ask[Submission](ctx, c, http.MethodGet, fmt.Sprintf("/submissions/%d?wait=%d", id, int(min(wait, maxWait).Seconds())), nil)
	if err == nil && !s.Ended {
		err = early(ctx, began, wait)
	}
	return s, err
}

// early pauses after a request that should have waited and was answered at once, as a site does while too many wait. Its callers
// ask again and again.
func early(ctx context.Context, began time.Time, wait time.Duration) error {
	return sleep(ctx, min(wait, time.Second)-time.Since(began))
}

// Download reads what a page of the site offers as a file: a path below the site, as "/runs/1/trace.json".
func (c *Client) Download(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := c.sendTo(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readAll(resp)
}

// ProfilePath is where a run's profile is, in a format: "txt", "json", "csv", "ncu-rep" or "ptx".
func ProfilePath(submission, run int64, format string, index int) string {
	return fmt.Sprintf("/submissions/%d/runs/%d/profile.%s?case=%d", submission, run, format, index)
}

// Base is the address of the site.
func (c *Client) Base() string { return strings.TrimSuffix(c.base, "/") }
