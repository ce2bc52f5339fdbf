package runs

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/work"
	"warpboard/web/conns"
	"warpboard/web/site"
)

const backlogBatch = 500 // events read from the store at once

// Follow streams the events of the submission in the path. encode converts an event to bytes.
func (s *Runs) Follow(c *fiber.Ctx, as site.Format, encode func(work.RunEvent) []byte) error {
	seen, err := s.LoadSubmission(c)
	if err != nil {
		return err
	}
	f := &follower{
		store: s.site.Store, id: seen.Submission.ID, last: conns.LastSeen(c), output: seen.MaySeeSource,
		hidden: RedactorOf(seen.Version.Definition), format: as, encode: encode,
	}
	if as == site.AsJSON {
		if f.runs, err = s.runsAskedFor(c.UserContext(), f.id); err != nil {
			return err
		}
	}
	return s.site.Stream(c, conns.Source{
		Topic:        site.RunTopic(f.id),
		Buffer:       site.RunBuffer,
		WriteBacklog: f.backlog,
		WriteMessage: f.live,
	})
}

// follower sends the events of a submission to one reader, each once and in order, until all runs have ended.
type follower struct {
	store    *models.Store
	id       int64          // submission
	last     int64          // id of the newest event that the reader has
	output   bool           // the reader may see what compilers and programs print
	hidden   Redactor       // removes the parts that only the owner may see
	runs     map[int64]bool // the requested runs; programs get only these
	hasEnded bool           // all of them have ended
	format   site.Format
	encode   func(work.RunEvent) []byte
}

// backlog writes the stored events after the last event that the reader has.
func (f *follower) backlog(ctx context.Context, out *conns.Writer) error {
	for {
		events, err := f.store.Work.EventsSince(ctx, f.id, f.last, backlogBatch)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.last = e.ID
			if f.hides(e) {
				continue
			}
			if _, err := out.Write(f.encoded(&site.SharedEvent{RunEvent: e})); err != nil {
				return err
			}
		}
		if len(events) < backlogBatch {
			rest, err := f.rest(ctx)
			return f.end(out, rest, err)
		}
	}
}

// live writes a new event. It skips an event that the backlog contained. A message without an event means that the
// reader was too slow; then it reads the store.
func (f *follower) live(ctx context.Context, m conns.Message, out *conns.Writer) error {
	e, ok := m.Event.(*site.SharedEvent)
	if !ok {
		return f.backlog(ctx, out)
	}
	if e.ID <= f.last {
		return nil
	}
	f.last = e.ID
	if !f.hides(e.RunEvent) {
		if _, err := out.Write(f.encoded(e)); err != nil {
			return err
		}
	}
	if !e.State.IsFinal() && !f.hasEnded {
		return nil
	}
	if err := out.Flush(); err != nil { // the reader need not wait for what rest asks
		return err
	}
	rest, err := e.Remaining(f.format, func() (work.PendingEvents, error) { return f.rest(ctx) })
	return f.end(out, rest, err)
}

// encoded returns an event without parts that the reader may not see.
func (f *follower) encoded(e *site.SharedEvent) []byte {
	if f.output || f.format == site.AsHTML { // a page's events are the same for all readers
		return e.Encoded(f.format, f.encode)
	}
	return e.Encoded(site.AsHiddenJSON, func(e work.RunEvent) []byte { return f.encode(f.hidden.Event(e)) })
}

// hides reports whether an event is omitted: output of compilers and programs if the viewer may not see the source,
// which the output may quote; and for programs the events of profiles that the site added to a ranked run.
func (f *follower) hides(e work.RunEvent) bool {
	return e.Type == job.EventLog && !f.output || f.format == site.AsJSON && !f.runs[e.RunID]
}

func (f *follower) rest(ctx context.Context) (work.PendingEvents, error) {
	return f.store.Work.PendingEvents(ctx, f.id, f.format == site.AsHTML)
}

// end ends the stream once all runs have ended (and, for a page, all profiles that follow them), so that the reader
// does not reconnect. If newer events are stored, the stream ends after the hub has delivered them.
func (f *follower) end(out *conns.Writer, rest work.PendingEvents, err error) error {
	if err != nil || rest.HasLiveWork {
		return err
	}
	if f.hasEnded = true; rest.LastEventID > f.last {
		return nil
	}
	if _, err := out.Write(conns.Frame(0, "end", nil)); err != nil {
		return err
	}
	return conns.ErrStreamComplete
}

func (s *Runs) runsAskedFor(ctx context.Context, submissionID int64) (map[int64]bool, error) {
	runs, err := s.site.Store.Work.Runs(ctx, submissionID)
	ids := make(map[int64]bool, len(runs))
	for _, run := range runs {
		ids[run.ID] = true
	}
	return ids, err
}
