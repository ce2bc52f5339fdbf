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

const eventsPerRead = 500 // events read from the store at once

// StreamEvents streams the events of the submission in the path. encode converts an event to bytes.
func (s *Runs) StreamEvents(c *fiber.Ctx, as site.EventFormat, encode func(work.RunEvent) []byte) error {
	seen, err := s.LoadSubmission(c)
	if err != nil {
		return err
	}
	f := &follower{
		store: s.site.Store, id: seen.Submission.ID, lastEventID: conns.LastEventID(c), maySeeOutput: seen.MaySeeSource,
		redactor: NewRedactor(seen.Version.Definition), format: as, encode: encode,
	}
	if as == site.FormatJSON {
		if f.requestedRuns, err = s.requestedRunIDs(c.UserContext(), f.id); err != nil {
			return err
		}
	}
	return s.site.Stream(c, conns.StreamSource{
		Topic:               site.RunTopic(f.id),
		MaxBufferedMessages: site.RunEventBuffer,
		WriteBacklog:        f.writeBacklog,
		WriteMessage:        f.writeLiveEvent,
	})
}

// follower sends the events of a submission to one reader, each once and in order, until all runs have ended.
type follower struct {
	store         *models.Store
	id            int64          // submission
	lastEventID   int64          // id of the newest event that the reader has
	maySeeOutput  bool           // the reader may see what compilers and programs print
	redactor      Redactor       // removes the parts that only the owner may see
	requestedRuns map[int64]bool // the requested runs; programs get only these
	hasEnded      bool           // all of them have ended
	format        site.EventFormat
	encode        func(work.RunEvent) []byte
}

// writeBacklog writes the stored events after the last event that the reader has.
func (f *follower) writeBacklog(ctx context.Context, out *conns.Writer) error {
	for {
		events, err := f.store.Work.EventsSince(ctx, f.id, f.lastEventID, eventsPerRead)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.lastEventID = e.ID
			if f.hidesEvent(e) {
				continue
			}
			if _, err := out.Write(f.encodeForReader(&site.SharedEvent{RunEvent: e})); err != nil {
				return err
			}
		}
		if len(events) < eventsPerRead {
			rest, err := f.pendingEvents(ctx)
			return f.endWhenComplete(out, rest, err)
		}
	}
}

// writeLiveEvent writes a new event. It skips an event that the backlog contained. A message without an event means
// that the reader was too slow; then it reads the store.
func (f *follower) writeLiveEvent(ctx context.Context, m conns.Message, out *conns.Writer) error {
	e, ok := m.Event.(*site.SharedEvent)
	if !ok {
		return f.writeBacklog(ctx, out)
	}
	if e.ID <= f.lastEventID {
		return nil
	}
	f.lastEventID = e.ID
	if !f.hidesEvent(e.RunEvent) {
		if _, err := out.Write(f.encodeForReader(e)); err != nil {
			return err
		}
	}
	if !e.State.IsFinal() && !f.hasEnded {
		return nil
	}
	if err := out.Flush(); err != nil { // sends the event before the queries of pendingEvents
		return err
	}
	rest, err := e.RemainingWork(f.format, func() (work.PendingEvents, error) { return f.pendingEvents(ctx) })
	return f.endWhenComplete(out, rest, err)
}

// encodeForReader returns an event without parts that the reader may not see.
func (f *follower) encodeForReader(e *site.SharedEvent) []byte {
	if f.maySeeOutput || f.format == site.FormatHTML { // pages get the same events whether or not they may show output
		return e.Encoded(f.format, f.encode)
	}
	return e.Encoded(site.FormatHiddenJSON, func(e work.RunEvent) []byte { return f.encode(f.redactor.RedactEvent(e)) })
}

// hidesEvent reports whether an event is omitted: output of compilers and programs if the viewer may not see the
// source, which the output may quote; and for programs the events of profiles that the site added to a ranked run.
func (f *follower) hidesEvent(e work.RunEvent) bool {
	return e.Type == job.EventLog && !f.maySeeOutput || f.format == site.FormatJSON && !f.requestedRuns[e.RunID]
}

func (f *follower) pendingEvents(ctx context.Context) (work.PendingEvents, error) {
	return f.store.Work.PendingEvents(ctx, f.id, f.format == site.FormatHTML)
}

// endWhenComplete ends the stream once all runs have ended (and, for a page, all profiles that follow them), so that
// the reader does not reconnect. If newer events are stored, the stream ends after the hub has delivered them.
func (f *follower) endWhenComplete(out *conns.Writer, rest work.PendingEvents, err error) error {
	if err != nil || rest.HasLiveWork {
		return err
	}
	if f.hasEnded = true; rest.LastEventID > f.lastEventID {
		return nil
	}
	if _, err := out.Write(conns.FormatEvent(0, "end", nil)); err != nil {
		return err
	}
	return conns.ErrStreamComplete
}

func (s *Runs) requestedRunIDs(ctx context.Context, submissionID int64) (map[int64]bool, error) {
	runs, err := s.site.Store.Work.Runs(ctx, submissionID)
	ids := make(map[int64]bool, len(runs))
	for _, run := range runs {
		ids[run.ID] = true
	}
	return ids, err
}
