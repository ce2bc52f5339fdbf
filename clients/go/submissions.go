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

// IdempotencyHeader has a key that the sender chooses: several requests with the same key create one submission.
const IdempotencyHeader = "Idempotency-Key"

// maxWait limits the time for which a site waits for the end of a submission before it responds.
const maxWait = 25 * time.Second

// CurrentUser returns the person who owns the token.
func (c *Client) CurrentUser(ctx context.Context) (*User, error) {
	return sendJSON[User](ctx, c, http.MethodGet, "/me", nil)
}

// OwnSubmissions returns the submissions of the caller, newest first. task "" means all tasks; before is the ID after
// which to continue, or 0.
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

// Wait returns a submission when all its runs have ended, or after wait, which may be up to 25 s.
func (c *Client) Wait(ctx context.Context, id int64, wait time.Duration) (*Submission, error) {
	began := time.Now()
	s, err := sendJSON[Submission](ctx, c, http.MethodGet, fmt.Sprintf("/submissions/%d?wait=%d", id, int(min(wait, maxWait).Seconds())), nil)
	if err == nil && !s.Ended {
		err = pauseIfEarly(ctx, began, wait)
	}
	return s, err
}

// pauseIfEarly pauses if the site responded before wait was over, because too many clients wait. The caller then
// repeats the request.
func pauseIfEarly(ctx context.Context, began time.Time, wait time.Duration) error {
	return sleepContext(ctx, min(wait, time.Second)-time.Since(began))
}

// Download returns a file by its path on the site, such as "/runs/1/trace.json".
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

// ProfilePath returns the path of the profile of a run in a format: "txt", "json", "csv", "ncu-rep", or "ptx".
func ProfilePath(submission, run int64, format string, index int) string {
	return fmt.Sprintf("/submissions/%d/runs/%d/profile.%s?case=%d", submission, run, format, index)
}

// BaseURL returns the address of the site.
func (c *Client) BaseURL() string { return strings.TrimSuffix(c.baseURL, "/") }
