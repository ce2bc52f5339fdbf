package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// EvaluateMany sends up to 1,000 requests as one batch, and calls each with every result, in the order in which the
// evaluations end. When all have ended, it returns one entry per request. It reconnects after a lost connection. If
// each returns an error or ctx ends, the batch continues on the site.
func (c *Client) EvaluateMany(ctx context.Context, requests []any, each func(BatchResult) error) (*Batch, error) {
	batch, err := postIdempotent[Batch](ctx, c, "/evaluations/batch", NewBatch{Requests: requests})
	if err != nil || batch.ID == "" {
		return batch, err
	}
	var after int64
	return batch, repeatAfterErrors(ctx, &after, func() error { return c.batchResults(ctx, batch.ID, &after, each) })
}

// batchResults reads results from one connection, and sets *after to the number of the last one.
func (c *Client) batchResults(ctx context.Context, id string, after *int64, each func(BatchResult) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := c.sendBody(ctx, http.MethodGet, fmt.Sprintf("/evaluations/batch/%s/results?after=%d", url.PathEscape(id), *after), nil, "Accept", JSONLines)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	silence := time.AfterFunc(maxStreamSilence, cancel) // a dead connection returns no error by itself
	defer silence.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 4096), maxAnswerBytes)
	for lines.Scan() {
		silence.Reset(maxStreamSilence)
		if len(lines.Bytes()) == 0 { // an empty line is only a heartbeat
			continue
		}
		var line BatchResult
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			// The line may be incomplete; the next connection gets it again.
			return fmt.Errorf("a result of batch %s is not JSON: %w", id, err)
		}
		if line.End {
			return errAllRunsEnded
		}
		if err := each(line); err != nil {
			return callbackError{err}
		}
		*after = line.Number
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
