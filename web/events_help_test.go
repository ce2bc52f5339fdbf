package web

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

// worker plays a worker and the recorder for one run: it stores events and tells the hub of the site that runs now.
type worker struct {
	t       testing.TB
	store   *models.Store
	hub     *atomic.Pointer[site.Hub]
	attempt work.Attempt
	seq     int
}

func newWorker(t testing.TB, s *testSite, run work.Run) *worker {
	t.Helper()
	attempt, err := s.site.Store.Work.StartAttempt(context.Background(), run.Ref())
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, store: s.site.Store, hub: &atomic.Pointer[site.Hub]{}, attempt: attempt}
	w.hub.Store(s.site.Hub)
	return w
}

// say stores one event and tells it.
func (w *worker) say(e job.Event) {
	w.t.Helper()
	w.seq++
	e.RunID, e.AttemptID, e.Secret = w.attempt.RunID, w.attempt.ID, w.attempt.Secret
	e.Seq, e.Worker, e.Time = w.seq, "w1", time.Now()
	out, _, err := w.store.Work.AppendEvents(context.Background(), []job.Event{e})
	if err != nil {
		w.t.Error(err)
	}
	for _, e := range out.Events {
		w.hub.Load().RunEvent(e)
	}
}

func (w *worker) log(text string) {
	w.say(job.Event{Type: job.EventLog, Stage: job.StageTest, Stream: "stdout", Text: text})
}

func (w *worker) finish() {
	w.t.Helper()
	out, err := w.store.Work.RecordResult(context.Background(), modelstest.Result(w.attempt, 100), work.Findings{Score: &work.Score{NS: 100}})
	if err != nil {
		w.t.Error(err)
	}
	for _, e := range out.Events {
		w.hub.Load().RunEvent(e)
	}
}

// storedIDs is what a watcher must have seen in the end.
func storedIDs(t testing.TB, store *models.Store, submissionID int64) []int64 {
	t.Helper()
	events, err := store.Work.EventsSince(context.Background(), submissionID, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// reader is a raw reader of a stream, as a browser would be.
type reader struct {
	t      testing.TB
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

// event is one server-sent event as it came.
type event struct {
	id         int64
	name, data string
}

func (s *testSite) open(path, lastID string, headers ...string) *reader {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		s.t.Fatalf("%s answered %s with %s", path, resp.Status, got)
	}
	return &reader{t: s.t, lines: bufio.NewScanner(resp.Body), cancel: cancel}
}

// next waits for the next event that says something; ok is false when the server ended the stream.
func (r *reader) next() (e event, ok bool) {
	var data []string
	for r.lines.Scan() {
		field, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch field {
		case "id":
			e.id, _ = strconv.ParseInt(value, 10, 64)
		case "event":
			e.name = value
		case "data", "data:":
			data = append(data, value)
		case "":
			if e.id != 0 || e.name != "" || data != nil {
				e.data = strings.Join(data, "\n")
				return e, true
			}
		}
	}
	return e, false
}

func (r *reader) want(n int) (ids []int64) {
	r.t.Helper()
	for range n {
		e, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended after %d of %d events", len(ids), n)
		}
		ids = append(ids, e.id)
	}
	return ids
}
