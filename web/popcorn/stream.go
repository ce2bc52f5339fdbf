package popcorn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/conns"
	"warpboard/web/site"
)

const (
	storeReadTimeout = 3 * time.Second  // longest wait for the store to read a submission's state
	resultTimeout    = 14 * time.Second // longest time to make a result
	chunkSize        = 32 << 10         // bytes that are sent with one write deadline, because a profile has megabytes
)

// follower streams the progress of a submission to one client.
type follower struct {
	id           int64
	pageURL      string // address of the page of the submission
	readRuns     func(context.Context) ([]work.Run, error)
	makeResult   func(context.Context) (resultEvent, error)
	startedAt    time.Time
	currentState work.RunState // state of the first run that has not ended
	sentState    work.RunState
}

// streamSubmission submits a file and streams its progress. It counts the stream before submitting, so that a client
// above the limit creates no submission.
func (p *Popcorn) streamSubmission(c *fiber.Ctx) error {
	if err := p.site.CountStream(c); err != nil {
		return err
	}
	sub, _, err := p.submit(c)
	if err != nil {
		c.Context().SetConnectionClose() // a refused request otherwise counts as a stream until its connection closes
		return err
	}
	site.FreeBody(c)
	user := site.Actor(c)
	f := &follower{id: sub.ID, pageURL: p.submissionURL(sub), startedAt: time.Now(), currentState: work.StateQueued,
		readRuns:   func(ctx context.Context) ([]work.Run, error) { return p.site.Store.Work.Runs(ctx, sub.ID) },
		makeResult: func(ctx context.Context) (resultEvent, error) { return p.resultOf(ctx, user, sub) }}
	p.site.SendStream(c, f.streamSource(min(statusInterval, p.site.Settings.Heartbeat)))
	return nil
}

func (f *follower) streamSource(every time.Duration) conns.StreamSource {
	return conns.StreamSource{
		Topic: site.RunTopic(f.id), MaxBufferedMessages: site.RunEventBuffer, WriteBacklog: f.writeHeartbeat, WriteMessage: f.writeStatusChange, WriteHeartbeat: f.writeHeartbeat,
		WriteEndReason: f.endWithReason, Heartbeat: every,
	}
}

// writeHeartbeat writes a status event, or the result if all runs have ended.
func (f *follower) writeHeartbeat(ctx context.Context, out *conns.Writer) error {
	over, err := f.allEnded(ctx)
	if err != nil {
		return err
	}
	if err := f.writeState(out); err != nil || !over {
		return err
	}
	return f.writeResult(ctx, out)
}

// writeStatusChange writes a status event if the state has changed.
func (f *follower) writeStatusChange(ctx context.Context, m conns.Message, out *conns.Writer) error {
	if e, ok := m.Event.(*site.SharedEvent); ok && e.State == f.currentState {
		return nil
	}
	over, err := f.allEnded(ctx)
	if err != nil || f.currentState == f.sentState && !over {
		return err
	}
	if err := f.writeState(out); err != nil || !over {
		return err
	}
	return f.writeResult(ctx, out)
}

// allEnded reports whether all runs have ended. If the database cannot be reached, it returns false, and the next
// heartbeat tries again.
func (f *follower) allEnded(ctx context.Context) (bool, error) {
	asked, cancel := context.WithTimeout(ctx, storeReadTimeout)
	defer cancel()
	list, err := f.readRuns(asked)
	switch {
	case err != nil:
		return false, ctx.Err()
	case len(list) == 0:
		return false, db.Errorf(db.NotFound, "Submission %d was deleted.", f.id)
	}
	f.currentState = list[0].State
	if i := slices.IndexFunc(list, func(r work.Run) bool { return !r.State.IsFinal() }); i >= 0 {
		f.currentState = list[i].State
		return false, nil
	}
	return true, nil
}

func (f *follower) writeState(out *conns.Writer) error {
	f.sentState = f.currentState
	word, elapsed := "running", time.Since(f.startedAt).Seconds()
	if f.currentState == work.StateQueued {
		word = "pending"
	}
	if f.currentState.IsFinal() {
		word = "finished"
	}
	elapsed = math.Round(10*elapsed) / 10
	return writeEventInChunks(out, "status", statusEvent{word, elapsed,
		fmt.Sprintf("Submission %d: %s (%.0f s)", f.id, f.currentState, elapsed)})
}

// writeResult writes the result.
func (f *follower) writeResult(ctx context.Context, out *conns.Writer) error {
	if err := out.Flush(); err != nil { // send the buffered data first: making the result takes seconds
		return err
	}
	making, cancel := context.WithTimeout(ctx, resultTimeout)
	defer cancel()
	r, err := f.makeResult(making)
	if err != nil {
		return fmt.Errorf("result of submission %d: %w", f.id, err)
	}
	if err := writeEventInChunks(out, "result", r); err != nil {
		return err
	}
	return conns.ErrStreamComplete
}

// endWithReason writes the reason why the stream ends before the submission.
func (f *follower) endWithReason(why error, out *conns.Writer) {
	known := site.FailureFromError(why)
	e := failureEvent{Status: "error", Detail: known.Message, StatusCode: known.Status}
	switch {
	case errors.Is(why, context.Canceled):
		e.Detail, e.StatusCode = "The site is stopping or restarting.", fiber.StatusServiceUnavailable
	case errors.Is(why, context.DeadlineExceeded):
		e.Detail, e.StatusCode = "The stream reached its time limit.", fiber.StatusGatewayTimeout
	}
	e.Detail += fmt.Sprintf(" Submission %d is at %s.", f.id, f.pageURL)
	_ = writeEventInChunks(out, "error", e) // the client may have disconnected
}

// writeEventInChunks writes one event in several chunks, because each write has a new deadline.
func writeEventInChunks(out *conns.Writer, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	for part := range slices.Chunk(conns.FormatEvent(0, name, text), chunkSize) {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// resultOf returns the result of an ended submission.
func (p *Popcorn) resultOf(ctx context.Context, user accounts.User, sub submissions.Submission) (resultEvent, error) {
	seen, err := p.runs.SubmissionByID(ctx, user, sub.ID)
	if err != nil {
		return resultEvent{}, err
	}
	all, err := p.runsWithResults(ctx, seen)
	if err != nil {
		return resultEvent{}, err
	}
	r := resultEvent{Status: "success", Results: []fullResult{}, Reports: []string{}}
	for _, e := range all {
		one := e.streamResult()
		if err := p.addProfile(e, &one); err != nil {
			return resultEvent{}, err
		}
		r.Results, r.Reports = append(r.Results, one), append(r.Reports, p.resultText(sub, e))
	}
	return r, nil
}
