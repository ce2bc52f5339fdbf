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

// IdempotencyHeader carries a key chosen by the sender: requests with the same key create one submission.
const IdempotencyHeader = "Idempotency-Key"

// maxWait is the longest time that a site waits for a submission's end before it answers.
const maxWait = 25 * time.Second

// CurrentUser returns the token's owner.
func (c *Client) CurrentUser(ctx context.Context) (*User, error) {
	return sendJSON[User](ctx, c, http.MethodGet, "/me", nil)
}

// OwnSubmissions returns the caller's submissions, newest first. task may be empty, and before 0.
func (c *Client) OwnSubmissions(ctx context.Context, task string, before int64, limit int) (*SubmissionList, error) {
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
	return sendJSON[SubmissionList](ctx, c, http.MethodGet, "/submissions?"+q.Encode(), nil)
}

// SubmissionSource returns a submission's source.
func (c *Client) SubmissionSource(ctx context.Context, id int64) (*SourceFile, error) {
	return sendJSON[SourceFile](ctx, c, http.MethodGet, fmt.Sprintf("/submissions/%d/source", id), nil)
}

// Wait returns a submission when all its runs have ended, or after the wait, which is at most 25 s.
func (c *Client) Wait(ctx context.Context, id int64, wait time.Duration) (*Submission, error) {
	began := time.Now()
	s, err := sendJSON[Submission](ctx, c, http.MethodGet, fmt.Sprintf("/submissions/%d?wait=%d", id, int(min(wait, maxWait).Seconds())), nil)
	if err == nil && !s.Ended {
		err = pauseIfEarly(ctx, began, wait)
	}
	return s, err
}

// pauseIfEarly pauses after a request that should have waited but was answered at once, because too many clients wait.
// Callers repeat the request.
func pauseIfEarly(ctx context.Context, began time.Time, wait time.Duration) error {
	return sleep(ctx, min(wait, time.Second)-time.Since(began))
}

// Download returns a file that a page of the site offers, by its path, such as "/runs/1/trace.json".
func (c *Client) Download(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := c.sendReader(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readAll(resp)
}

// ProfilePath returns the path of a run's profile in a format: "txt", "json", "csv", "ncu-rep", or "ptx".
func ProfilePath(submission, run int64, format string, index int) string {
	return fmt.Sprintf("/submissions/%d/runs/%d/profile.%s?case=%d", submission, run, format, index)
}

// BaseURL returns the address of the site.
func (c *Client) BaseURL() string { return strings.TrimSuffix(c.baseURL, "/") }
