package popcorntest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client imitates popcorn-cli: it sends the same requests and reads the same fields.
type Client struct {
	Base  string        // POPCORN_API_URL
	Token string        // cli_id of ~/.popcorn.yaml; empty: not registered
	Poll  time.Duration // interval of polling; popcorn-cli uses five seconds
	Asked int           // number of polls for the last submission
}

// Refusal is a response without a 2xx status.
type Refusal struct {
	Status int
	Detail string // "detail" of the body; empty: the body has none, and popcorn-cli prints the whole body
	Body   string
}

// Error returns the text that popcorn-cli prints.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return fmt.Sprintf("Server returned status %d: %s", r.Status, r.Body)
	}
	return fmt.Sprintf("Server returned status %d: %s", r.Status, r.Detail)
}

// send sends a request and returns the response body. A response without a 2xx status is a *Refusal.
func (c *Client) send(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	// without normalizing slashes, as popcorn-cli does
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "*/*")
	if c.Token != "" {
		req.Header.Set("X-Popcorn-Cli-Id", c.Token)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var detail struct{ Detail string }
	_ = json.Unmarshal(text, &detail) // if there is no detail, Error uses the body
	return nil, &Refusal{resp.StatusCode, detail.Detail, string(text)}
}

// Get requests JSON and returns the response body.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	return c.whole(ctx, http.MethodGet, path, "", nil)
}

func (c *Client) whole(ctx context.Context, method, path, contentType string, body io.Reader) ([]byte, error) {
	resp, err := c.send(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// Leaderboard is one entry of popcorn-cli's list of leaderboards.
type Leaderboard struct{ Name, Description string }

// Leaderboards lists the leaderboards. It returns an error if an entry's "task" is not an object.
func (c *Client) Leaderboards(ctx context.Context) (list []Leaderboard, err error) {
	var boards []struct {
		Name, Description *string
		Task              map[string]any
	}
	if err := c.read(ctx, "/leaderboards", &boards); err != nil {
		return nil, err
	}
	for _, b := range boards {
		if b.Name == nil || b.Description == nil || b.Task == nil {
			return nil, fmt.Errorf("invalid JSON structure: %+v", b)
		}
		list = append(list, Leaderboard{*b.Name, *b.Description})
	}
	return list, nil
}

// GPUs lists the GPUs of a leaderboard.
func (c *Client) GPUs(ctx context.Context, leaderboard string) (list []string, err error) {
	err = c.read(ctx, "/gpus/"+leaderboard, &list)
	return list, err
}

// Listed is one entry of a list of submissions.
type Listed struct {
	ID              int64
	LeaderboardName string `json:"leaderboard_name"`
	FileName        string `json:"file_name"`
	SubmissionTime  string `json:"submission_time"`
	Done            bool
	Runs            []struct {
		GPUType string `json:"gpu_type"`
		Score   *float64
	}
}

// List lists the sender's submissions to a leaderboard. A limit of 0 is not sent.
func (c *Client) List(ctx context.Context, leaderboard string, limit int) (list []Listed, err error) {
	path := "/user/submissions?leaderboard=" + leaderboard
	if limit > 0 {
		path += fmt.Sprintf("&limit=%d", limit)
	}
	err = c.read(ctx, path, &list)
	return list, err
}

// Show reads one of the sender's submissions.
func (c *Client) Show(ctx context.Context, id int64) (d Details, err error) {
	err = c.read(ctx, fmt.Sprintf("/user/submissions/%d", id), &d)
	return d, err
}

// Delete deletes one of the sender's submissions.
func (c *Client) Delete(ctx context.Context, id int64) ([]byte, error) {
	return c.whole(ctx, http.MethodDelete, fmt.Sprintf("/user/submissions/%d", id), "", nil)
}

// Join sends an invite code.
func (c *Client) Join(ctx context.Context, code string) ([]byte, error) {
	text, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return nil, err
	}
	return c.whole(ctx, http.MethodPost, "/user/join", "application/json", strings.NewReader(string(text)))
}

// Register starts a sign-in without a token.
func (c *Client) Register(ctx context.Context, provider string) error {
	_, err := (&Client{Base: c.Base}).Get(ctx, "/auth/init?provider="+url.QueryEscape(provider))
	return err
}

func (c *Client) read(ctx context.Context, path string, into any) error {
	text, err := c.Get(ctx, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s answered %s: %w", path, text, err)
	}
	return nil
}
