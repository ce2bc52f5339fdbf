package webtest

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/site"
)

// Worker acts as a worker and the dispatcher for one run: it stores events and notifies the site's hub.
type Worker struct {
	t       testing.TB
	store   *models.Store
	Hub     *atomic.Pointer[site.Hub]
	Attempt work.Attempt
	seq     int
}

// NewWorker starts an attempt of a run.
func NewWorker(t testing.TB, s *Site, run work.Run) *Worker {
	t.Helper()
	attempt, err := s.Cfg.Store.Work.StartAttempt(context.Background(), run.WorkRef())
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{t: t, store: s.Cfg.Store, Hub: &atomic.Pointer[site.Hub]{}, Attempt: attempt}
	w.Hub.Store(s.Cfg.Hub)
	return w
}

// Say stores one event of the run and announces it.
func (w *Worker) Say(e job.Event) {
	w.t.Helper()
	w.seq++
	e.RunID, e.AttemptID, e.AttemptSecret = w.Attempt.RunID, w.Attempt.ID, w.Attempt.Secret
	e.Number, e.Worker, e.Time = w.seq, "w1", time.Now()
	out, _, err := w.store.Work.AppendEvents(context.Background(), []job.Event{e})
	if err != nil {
		w.t.Error(err)
	}
	for _, e := range out.Events {
		w.Hub.Load().RunEvent(e)
	}
}

// Log reports a line of the program's output in the test stage.
func (w *Worker) Log(text string) {
	w.Say(job.Event{Type: job.EventLog, Stage: job.StageTest, Stream: "stdout", Text: text})
}

// Finish ends the run with a score.
func (w *Worker) Finish() {
	w.t.Helper()
	out, err := w.store.Work.RecordResult(context.Background(), modelstest.Result(w.Attempt, 100),
		work.ResultFindings{Score: &work.Score{NS: 100}})
	if err != nil {
		w.t.Error(err)
	}
	for _, e := range out.Events {
		w.Hub.Load().RunEvent(e)
	}
}

// Reader reads a stream of server-sent events without a client library.
type Reader struct {
	t      testing.TB
	lines  *bufio.Scanner
	Cancel context.CancelFunc
}

// Event is one received server-sent event.
type Event struct {
	ID         int64
	Name, Data string
}

// Open opens a stream. lastID is the Last-Event-ID header, or "".
func (s *Site) Open(path, lastID string, headers ...string) *Reader {
	s.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.T.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		s.T.Fatalf("%s answered %s with %s", path, resp.Status, got)
	}
	return &Reader{t: s.T, lines: bufio.NewScanner(resp.Body), Cancel: cancel}
}

// Next waits for the next event with data. ok is false if the server has ended the stream.
func (r *Reader) Next() (e Event, ok bool) {
	var data []string
	for r.lines.Scan() {
		field, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch field {
		case "id":
			e.ID, _ = strconv.ParseInt(value, 10, 64)
		case "event":
			e.Name = value
		case "data", "data:":
			data = append(data, value)
		case "":
			if e.ID != 0 || e.Name != "" || data != nil {
				e.Data = strings.Join(data, "\n")
				return e, true
			}
		}
	}
	return e, false
}

func (r *Reader) Want(n int) (ids []int64) {
	r.t.Helper()
	for range n {
		e, ok := r.Next()
		if !ok {
			r.t.Fatalf("the stream ended after %d of %d events", len(ids), n)
		}
		ids = append(ids, e.ID)
	}
	return ids
}
