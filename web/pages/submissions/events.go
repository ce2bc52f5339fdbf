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

// RenderEvent returns the HTML that an open submission page shows for a run event, or nil if a later event of the run
// replaces it. All viewers receive the same HTML, so it contains only public data. The card of an ended run makes each
// browser request its own version.
func (p *Submissions) RenderEvent(e work.RunEvent) []byte {
	ctx, cancel := context.WithTimeout(p.site.StreamContext, site.RequestTimeout)
	defer cancel()
	html, err := p.eventHTML(ctx, e)
	if err != nil && ctx.Err() == nil {
		p.site.Log.Error("event cannot be shown", "event", e.ID, "run", e.RunID, "err", err)
	}
	return html
}

func (p *Submissions) eventHTML(ctx context.Context, e work.RunEvent) ([]byte, error) {
	part, err := p.eventComponent(ctx, e)
	if part == nil || err != nil {
		return nil, err
	}
	return p.site.RenderToMemory(ctx, part)
}

// eventComponent returns the component that shows a run event. It returns nil if the event changes nothing on the page
// or a later event of the run shows the same, because a viewer who reconnects needs only the latest. It makes at most
// three statements. While a worker has the run, the component is the run's card. Afterwards it makes each browser
// request the card, whose content depends on the viewer.
func (p *Submissions) eventComponent(ctx context.Context, e work.RunEvent) (templ.Component, error) {
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
	// a final state is the last event of a run
	if e.Type == work.EventState && e.State.IsFinal() && run.ProfileOf == nil {
		return p.reloadedCard(ctx, run)
	}
	events, err := p.site.Store.Work.LiveCardEvents(ctx, run, false)
	if n := len(events); err != nil || n > 0 && events[n-1].ID > e.ID {
		return nil, err
	}
	if run.ProfileOf != nil { // a profile run has no card: the page reloads that of the profiled run
		return views.RunReloaded(views.RunCard{Run: work.Run{ID: *run.ProfileOf, SubmissionID: run.SubmissionID}}, false), nil
	}
	if run.State.IsFinal() || run.State == work.StateQueued {
		return p.reloadedCard(ctx, run)
	}
	card, err := p.runs.LiveCard(ctx, run, events)
	return views.RunChanged(card), err
}

func (p *Submissions) reloadedCard(ctx context.Context, run work.Run) (templ.Component, error) {
	live, err := p.site.Store.Work.HasUnfinishedRuns(ctx, run.SubmissionID, false)
	return views.RunReloaded(views.RunCard{Run: run}, !live), err
}

// SubmissionEvents streams the events of a submission's runs to its page, as HTML.
func (p *Submissions) SubmissionEvents(c *fiber.Ctx) error {
	return p.runs.StreamEvents(c, site.FormatHTML, func(e work.RunEvent) []byte {
		if html := p.RenderEvent(e); len(html) > 0 {
			return conns.FormatEvent(e.ID, "", html)
		}
		return nil
	})
}
