package web

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models"
)

const backlogBatch = 500 // events read from the store at once

// submissionEvents streams a submission's events to its page, as HTML that the page swaps in.
func (s *Server) submissionEvents(c *fiber.Ctx) error {
	return s.followSubmission(c, asHTML, func(e models.RunEvent) []byte {
		if html := s.renderEvent(e); len(html) > 0 {
			return frame(e.ID, "", html)
		}
		return nil
	})
}

// apiSubmissionEvents streams the same events as JSON.
func (s *Server) apiSubmissionEvents(c *fiber.Ctx) error {
	return s.followSubmission(c, asJSON, func(e models.RunEvent) []byte {
		text, err := json.Marshal(eventAnswer(e))
		if err != nil {
			s.log.Error("event is not JSON", "event", e.ID, "error", err)
			return nil
		}
		return frame(e.ID, "", text)
	})
}

func (s *Server) followSubmission(c *fiber.Ctx, as frameFormat, encode func(models.RunEvent) []byte) error {
	seen, err := s.seenSubmission(c)
	if err != nil {
		return err
	}
	f := &follower{store: s.store, id: seen.sub.ID, last: lastSeen(c), output: seen.source, format: as, encode: encode}
	if as == asJSON {
		if f.runs, err = s.runsAskedFor(c.UserContext(), f.id); err != nil {
			return err
		}
	}
	return s.stream(c, feed{topic: topic{kind: topicSubmission, id: f.id}, backlog: f.backlog, live: f.live})
}

// follower is one reader's way through a submission's events: each once, in order, until all runs have ended.
type follower struct {
	store  *models.Store
	id     int64          // submission
	last   int64          // id of the newest event that the reader has
	output bool           // the reader may see what compilers and programs print
	runs   map[int64]bool // those that were asked for; programs are told of no others
	over   bool           // all of them have ended
	format frameFormat
	encode func(models.RunEvent) []byte
}

// backlog sends everything stored after the last event seen.
func (f *follower) backlog(ctx context.Context, out *outlet) error {
	for {
		events, err := f.store.EventsSince(ctx, f.id, f.last, backlogBatch)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.last = e.ID
			if f.hides(e) {
				continue
			}
			if _, err := out.Write(f.encode(e)); err != nil {
				return err
			}
		}
		if len(events) < backlogBatch {
			return f.end(ctx, out)
		}
	}
}

// live sends one event that was just stored. One that the backlog held is not sent again; a reader for
// whom events came too fast gets them from the store.
func (f *follower) live(ctx context.Context, m message, out *outlet) error {
	e := m.event
	if e == nil {
		return f.backlog(ctx, out)
	}
	if e.ID <= f.last {
		return nil
	}
	f.last = e.ID
	if !f.hides(e.RunEvent) {
		if _, err := out.Write(e.frame(f.format, f.encode)); err != nil {
			return err
		}
	}
	if !e.State.Final() && !f.over {
		return nil
	}
	if err := out.Flush(); err != nil { // the reader need not wait for what end asks
		return err
	}
	return f.end(ctx, out)
}

// hides keeps what a compiler or program printed from those who may not see the source: it may quote it.
// Programs are not told of profiles that follow by themselves.
func (f *follower) hides(e models.RunEvent) bool {
	return e.Type == job.EventLog && !f.output || f.format == asJSON && !f.runs[e.RunID]
}

// end tells the reader not to come again once every run has ended, and for a page every profile, too. It asks
// the store before it looks for events that came meanwhile, so that none can be behind its back.
func (f *follower) end(ctx context.Context, out *outlet) error {
	live, err := f.store.Unfinished(ctx, f.id, f.format == asHTML)
	if err != nil || live {
		return err
	}
	f.over = true
	newest, err := f.store.LastEventID(ctx, f.id)
	if err != nil || newest > f.last {
		return err // what is newer is on its way through the hub
	}
	if _, err := out.Write(frame(0, "end", nil)); err != nil {
		return err
	}
	return errStreamDone
}

func (s *Server) runsAskedFor(ctx context.Context, submissionID int64) (map[int64]bool, error) {
	runs, err := s.store.Runs(ctx, submissionID)
	ids := make(map[int64]bool, len(runs))
	for _, run := range runs {
		ids[run.ID] = true
	}
	return ids, err
}
