package popcorntest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// Details has the fields of a submission that popcorn-cli reads.
type Details struct {
	ID              int64
	LeaderboardID   int64  `json:"leaderboard_id"`
	LeaderboardName string `json:"leaderboard_name"`
	FileName        string `json:"file_name"`
	UserID          string `json:"user_id"`
	SubmissionTime  string `json:"submission_time"`
	Done            bool
	Code            string
	Runs            []Run
	Job             *struct{ Status, Error *string }
	RunnerQueue     *Queue `json:"runner_queue"`
}

// Run has the fields of a run that popcorn-cli reads.
type Run struct {
	StartTime *string `json:"start_time"`
	EndTime   *string `json:"end_time"`
	Mode      string
	Secret    bool
	Runner    string
	Score     *float64
	Passed    bool
	Result    map[string]string
}

// Queue is the number of runs that wait for a GPU.
type Queue struct {
	Runner, GPU *string
	QueuedJobs  *int64 `json:"queued_jobs"`
}

// form encodes a file and additional fields as popcorn-cli does: the file's part has no content type.
func form(file string, source []byte, fields map[string]string) (contentType string, body *bytes.Buffer, err error) {
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename="%s"`, file)}})
	if err == nil {
		_, err = part.Write(source)
	}
	for name, value := range fields {
		if err == nil {
			err = w.WriteField(name, value)
		}
	}
	if err == nil {
		err = w.Close()
	}
	return w.FormDataContentType(), body, err
}

// Accept submits a file without waiting. It returns the ID and the response body.
func (c *Client) Accept(ctx context.Context, leaderboard, gpu, mode, file string, source []byte) (int64, []byte,
	error) {
	contentType, body, err := form(file, source, nil)
	if err != nil {
		return 0, nil, err
	}
	path := fmt.Sprintf("/submission/%s/%s/%s", strings.ToLower(leaderboard), gpu, strings.ToLower(mode))
	text, err := c.whole(ctx, http.MethodPost, path, contentType, body)
	if err != nil {
		return 0, text, err
	}
	var answer struct{ Details struct{ ID *int64 } }
	if err := json.Unmarshal(text, &answer); err != nil || answer.Details.ID == nil {
		return 0, text, fmt.Errorf("the server did not return a submission id: %s", text)
	}
	return *answer.Details.ID, text, nil
}

// Submit submits a file and waits for the result, as popcorn-cli does since 1.3.16: by a stream for profiles, by
// polling for other modes. It returns an error if the job failed.
func (c *Client) Submit(ctx context.Context, leaderboard, gpu, mode, file string, source []byte) (Details, error) {
	id, _, err := c.Accept(ctx, leaderboard, gpu, mode, file, source)
	if err != nil {
		return Details{}, err
	}
	for c.Asked = 1; ; c.Asked++ {
		d, err := c.Show(ctx, id)
		if err != nil {
			return d, err
		}
		if job := d.Job; job != nil && job.Status != nil &&
			(*job.Status == "failed" || *job.Status == "timed_out" || *job.Status == "hacked") {
			why := "No error details were provided"
			if job.Error != nil {
				why = *job.Error
			}
			return d, fmt.Errorf("submission %d %s: %s", id, *job.Status, why)
		}
		if d.Done {
			return d, nil
		}
		select {
		case <-time.After(c.Poll):
		case <-ctx.Done():
			return d, ctx.Err()
		}
	}
}
