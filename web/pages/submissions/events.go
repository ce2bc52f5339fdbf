package submissions

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/conns"
	"warpboard/web/site"
)

// RenderEvent is a run event as the HTML that an open submission page swaps in; nothing when a later event of the run
// will show the same. Everyone gets the same HTML, so it contains only what all may read: a card that has ended loads
// itself once more.
func (p *Submissions) RenderEvent(e work.RunEvent) []byte {
	ctx, cancel := context.WithTimeout(p.site.Streams, site.RequestTimeout)
	defer cancel()
	html, err := p.eventHTML(ctx, e)
	if err != nil && ctx.Err() == nil {
		p.site.Log.Error("event cannot be shown", "event", e.ID, "run", e.RunID, "err", err)
	}
	return html
}

func (p *Submissions) eventHTML(ctx context.Context, e work.RunEvent) ([]byte, error) {
	part, err := p.eventPart(ctx, e)
	if part == nil || err != nil {
		return nil, err
	}
	return p.site.RenderToMemory(ctx, part)
}

// eventPart returns nil for an event that changes nothing on the page, or that a later one shows, too: a reader who was
// away for long needs only the last. It makes at most three statements. While a worker has the run, the event contains
// its card; afterwards each reader requests the card, because its content depends on the reader.
func (p *Submissions) eventPart(ctx context.Context, e work.RunEvent) (templ.Component, error) {
	run, err := p.site.Store.Work.Run(ctx, e.RunID)
	if err != nil {
		return nil, err
	}
	if e.Type == job.EventLog {
		if e.Event == nil || run.ProfileOf != nil {
			return nil, nil
		}
		return views.RunLogged("log-"+e.AttemptID, e.Event.Text), nil
	}
	if e.Type == work.EventState && e.State.Final() && run.ProfileOf == nil { // a run has no later event
		return p.reloaded(ctx, run)
	}
	events, err := p.site.Store.Work.Progress(ctx, run, false)
	if n := len(events); err != nil || n > 0 && events[n-1].ID > e.ID {
		return nil, err
	}
	if run.ProfileOf != nil { // it is shown on the card of the run that it follows
		return views.RunReloaded(views.RunCard{Run: work.Run{ID: *run.ProfileOf, SubmissionID: run.SubmissionID}}, false), nil
	}
	if run.State.Final() || run.State == work.StateQueued {
		return p.reloaded(ctx, run)
	}
	card, err := p.runs.LiveCard(ctx, run, events)
	return views.RunChanged(card), err
}

func (p *Submissions) reloaded(ctx context.Context, run work.Run) (templ.Component, error) {
	live, err := p.site.Store.Work.Unfinished(ctx, run.SubmissionID, false)
	return views.RunReloaded(views.RunCard{Run: run}, !live), err
}

// SubmissionEvents streams a submission's events to its page, as HTML that the page swaps in.
func (p *Submissions) SubmissionEvents(c *fiber.Ctx) error {
	return p.runs.Follow(c, site.AsHTML, func(e work.RunEvent) []byte {
		if html := p.RenderEvent(e); len(html) > 0 {
			return conns.Frame(e.ID, "", html)
		}
		return nil
	})
}
