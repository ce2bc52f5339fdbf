package submissions

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
	"warpboard/web/stream"
)

// RenderEvent is a run event as the HTML that an open submission page swaps in; nothing when a later event of the run will
// show the same. Everyone gets the same HTML, so it contains only what all may read: a card that has ended loads itself once
// more.
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

// eventPart is nil for an event that changes nothing on the page.
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
	if later, err := p.shownLater(ctx, e); later || err != nil {
		return nil, err
	}
	if run.ProfileOf != nil { // it is shown on the card of the run that it follows
		if run, err = p.site.Store.Work.Run(ctx, *run.ProfileOf); err != nil {
			return nil, err
		}
	}
	return p.changedCard(ctx, run)
}

func (p *Submissions) changedCard(ctx context.Context, run work.Run) (templ.Component, error) {
	filed, err := p.site.Store.Submissions.Filed(ctx, run.SubmissionID)
	if err != nil {
		return nil, err
	}
	f := filed[run.SubmissionID]
	card, err := p.runs.RunCard(ctx, runs.RunAccess{Access: runs.Access{Sub: f.Submission, Owner: f.User, Task: f.Task, Version: f.Version, TaskOpen: f.Task.VisibleTo(accounts.User{})}, Run: run})
	if err != nil {
		return nil, err
	}
	card.Reload = card.Over()
	ended, err := p.allEnded(ctx, run.SubmissionID)
	return views.RunChanged(card, ended), err
}

// shownLater reports whether the run has had another event that renews its card: a reader who was away
// for long needs only the last.
func (p *Submissions) shownLater(ctx context.Context, e work.RunEvent) (bool, error) {
	const few = 50
	events, err := p.site.Store.Work.EventsSince(ctx, e.SubmissionID, e.ID, few)
	if err != nil {
		return false, err
	}
	for _, other := range events {
		if other.RunID == e.RunID && other.Type != job.EventLog {
			return true, nil
		}
	}
	return false, nil
}

func (p *Submissions) allEnded(ctx context.Context, submissionID int64) (bool, error) {
	runs, err := p.site.Store.Work.Runs(ctx, submissionID)
	if err != nil {
		return false, err
	}
	for _, run := range runs {
		if !run.State.Final() {
			return false, nil
		}
	}
	return true, nil
}

// SubmissionEvents streams a submission's events to its page, as HTML that the page swaps in.
func (p *Submissions) SubmissionEvents(c *fiber.Ctx) error {
	return p.runs.Follow(c, site.AsHTML, func(e work.RunEvent) []byte {
		if html := p.RenderEvent(e); len(html) > 0 {
			return stream.Frame(e.ID, "", html)
		}
		return nil
	})
}
