package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// UserAgent is the User-Agent of the client, without a version.
const UserAgent = "warpboard-client"

// maxAnswerBytes limits a response in bytes, so that a wrong server cannot fill the memory.
const maxAnswerBytes = 64 << 20

// EvaluationKeyHeader has the key of a caller without a token. The site creates the key, and requests with the same key
// come from the same caller.
const EvaluationKeyHeader = "X-Evaluation-Key"

// maxSubmitTries limits the attempts of Submit to send a kernel: they take more than 30 s in total, with the pauses
// that a site requests.
const maxSubmitTries = 6

// VersionHeader has the version of Warpboard on the site, in every response of the API.
const VersionHeader = "Warpboard-Version"

// Client sends requests to one site with one personal token. Without a token it stores the evaluation key that the site
// returns.
type Client struct {
	baseURL       string
	token         string
	httpClient    *http.Client
	evaluationKey atomic.Pointer[string]
	userAgent     string
	siteVersion   atomic.Pointer[string] // version of the site in its latest response
}

// SetVersion sets the version of the calling program, which is part of the User-Agent.
func (c *Client) SetVersion(version string) {
	if version, _, _ = strings.Cut(version, " "); version != "" {
		c.userAgent = UserAgent + "/" + version
	}
}

// SiteVersion returns the version of the site in its latest response; "" before the first one.
func (c *Client) SiteVersion() string {
	if v := c.siteVersion.Load(); v != nil {
		return *v
	}
	return ""
}

// New returns a client of the site at base, for example "https://boards.example.org". With an empty token it acts as a
// visitor.
func New(base, token string) *Client {
	return &Client{
		baseURL:    strings.TrimSuffix(base, "/"),
		token:      token,
		userAgent:  UserAgent,
		httpClient: &http.Client{CheckRedirect: checkRedirect},
	}
}

// maxRedirects limits the redirects that are followed.
const maxRedirects = 5

// checkRedirect allows only redirects to the same site, because a request contains a token or a key, and perhaps a
// kernel.
func checkRedirect(next *http.Request, via []*http.Request) error {
	from, to := via[0].URL, next.URL
	same := from.Scheme == to.Scheme && from.Host == to.Host
	tls := from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == "" && from.Hostname() == to.Hostname()
	switch {
	case !same && !tls:
		return fmt.Errorf("it redirects to %s://%s, another site, to which no token is sent; if that is the site's address, use it", to.Scheme, to.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

// SetEvaluationKey sets the key that the site gave a caller without a token.
func (c *Client) SetEvaluationKey(key string) { c.evaluationKey.Store(&key) }

// Devices returns the devices with their load.
func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	list, err := sendJSON[struct {
		Devices []Device `json:"devices"`
	}](ctx, c, http.MethodGet, "/devices", nil)
	if err != nil {
		return nil, err
	}
	return list.Devices, nil
}

// Submit sends a kernel. The error is a *Problem if the site refused it. Submit retries while the site cannot reach its
// database. All tries have the same idempotency key, so they create one submission, even if a proxy repeats them.
func (c *Client) Submit(ctx context.Context, sub NewSubmission) (*Submission, error) {
	return postIdempotent[Submission](ctx, c, "/submissions", sub)
}

// postIdempotent posts a body with an idempotency key, and retries while the site is unavailable.
func postIdempotent[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	key := rand.Text()
	for try := 1; ; try++ {
		created, err := sendJSON[T](ctx, c, http.MethodPost, path, body, IdempotencyHeader, key)
		if p, ok := errors.AsType[*Problem](err); !ok || p.Code != "unavailable" || try == maxSubmitTries {
			return created, err
		}
		if err := sleepContext(ctx, max(time.Second, retryAfter(err))); err != nil {
			return nil, err
		}
	}
}

// Submission returns a submission with its runs and stages.
func (c *Client) Submission(ctx context.Context, id int64) (*Submission, error) {
	return sendJSON[Submission](ctx, c, http.MethodGet, fmt.Sprintf("/submissions/%d", id), nil)
}

// Cancel cancels a submission's runs that have not ended.
func (c *Client) Cancel(ctx context.Context, id int64) (*Submission, error) {
	return sendJSON[Submission](ctx, c, http.MethodPost, fmt.Sprintf("/submissions/%d/cancel", id), nil)
}

// Tasks returns the tasks.
func (c *Client) Tasks(ctx context.Context) ([]TaskSummary, error) {
	list, err := sendJSON[struct {
		Tasks []TaskSummary `json:"tasks"`
	}](ctx, c, http.MethodGet, "/tasks", nil)
	if err != nil {
		return nil, err
	}
	return list.Tasks, nil
}

// Task returns one task.
func (c *Client) Task(ctx context.Context, slug string) (*Task, error) {
	if slug == "" { // an empty slug would make the path of the list of tasks
		return nil, &Problem{Status: http.StatusNotFound, Code: "not_found", Detail: `There is no task "".`}
	}
	return sendJSON[Task](ctx, c, http.MethodGet, "/tasks/"+url.PathEscape(slug), nil)
}

// Board returns one page of a board, counted from 1.
func (c *Client) Board(ctx context.Context, slug, device string, page int) (*Board, error) {
	path := fmt.Sprintf("/boards/%s/%s?page=%d", url.PathEscape(slug), url.PathEscape(device), page)
	return sendJSON[Board](ctx, c, http.MethodGet, path, nil)
}

// Season limits the runs that a leaderboard counts. The zero value limits nothing.
type Season struct {
	Device         string // a device, or a family of devices
	FromDay, ToDay string // days, such as 2026-10-01
}

// Leaderboard returns one page of people with points, counted from 1.
func (c *Client) Leaderboard(ctx context.Context, season Season, page int) (*Leaderboard, error) {
	q := url.Values{"page": {strconv.Itoa(page)}}
	for name, value := range map[string]string{"device": season.Device, "from": season.FromDay, "to": season.ToDay} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return sendJSON[Leaderboard](ctx, c, http.MethodGet, "/leaderboards?"+q.Encode(), nil)
}

func sendJSON[T any](ctx context.Context, c *Client, method, path string, body any, headers ...string) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := c.sendBody(ctx, method, path, body, headers...)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := readAll(resp)
	if err != nil {
		return nil, err
	}
	var answer T
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s%s: the answer is not the JSON of a Warpboard site: %w", c.baseURL, path, err)
	}
	return &answer, nil
}

// readAll reads a response. It returns an error if the response is too large. The error for a lost connection is a
// *url.Error, as for a connection lost earlier.
func readAll(resp *http.Response) ([]byte, error) {
	at := resp.Request.URL.Redacted()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, &url.Error{Op: "read", URL: at, Err: err}
	}
	if len(text) > maxAnswerBytes {
		return nil, fmt.Errorf("%s: the answer is larger than %d MiB, the maximum that this program reads", at, maxAnswerBytes>>20)
	}
	return text, nil
}

// sendBody returns the response to a successful request; the caller must close its body.
func (c *Client) sendBody(
	ctx context.Context, method, path string, body any, headers ...string,
) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	return c.sendReader(ctx, method, "/api/v1"+path, content, headers...)
}

// sendReader sends a request to any path on the site, with any body, and returns the response if it is a success. The
// caller must close its body.
func (c *Client) sendReader(
	ctx context.Context, method, path string, content io.Reader, headers ...string,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	} else if key := c.evaluationKey.Load(); key != nil {
		req.Header.Set(EvaluationKeyHeader, *key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.httpClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", c.baseURL, err)
	}
	if version := resp.Header.Get(VersionHeader); version != "" {
		c.siteVersion.Store(&version)
	}
	if key := resp.Header.Get(EvaluationKeyHeader); key != "" {
		c.SetEvaluationKey(key)
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, problemFromResponse(resp)
	}
	return resp, nil
}

func problemFromResponse(resp *http.Response) *Problem {
	p := &Problem{}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err := json.Unmarshal(text, p); err != nil {
		p.Detail = fmt.Sprintf("%s answered %s; is it a Warpboard site?", resp.Request.URL.Host, resp.Status)
	}
	p.Status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}
