package pages

import (
	"context"
	"fmt"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/runs"
	"warpboard/web/stream"
)

// RenderEvent is a run event as the HTML that an open submission page swaps in; nothing when a later event of the run will
// show the same. Everyone gets the same HTML, so it contains only what all may read: a card that has ended loads itself once
// more.
func (p *Pages) RenderEvent(e work.RunEvent) []byte {
	ctx, cancel := context.WithTimeout(p.site.Streams, site.RequestTimeout)
	defer cancel()
	html, err := p.eventHTML(ctx, e)
	if err != nil && ctx.Err() == nil {
		p.site.Log.Error("event cannot be shown", "event", e.ID, "run", e.RunID, "err", err)
	}
	return html
}

func (p *Pages) eventHTML(ctx context.Context, e work.RunEvent) ([]byte, error) {
	part, err := p.eventPart(ctx, e)
	if part == nil || err != nil {
		return nil, err
	}
	return p.site.RenderToMemory(ctx, part)
}

// eventPart is nil for an event that changes nothing on the page.
func (p *Pages) eventPart(ctx context.Context, e work.RunEvent) (templ.Component, error) {
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

func (p *Pages) changedCard(ctx context.Context, run work.Run) (templ.Component, error) {
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
func (p *Pages) shownLater(ctx context.Context, e work.RunEvent) (bool, error) {
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

func (p *Pages) allEnded(ctx context.Context, submissionID int64) (bool, error) {
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
func (p *Pages) SubmissionEvents(c *fiber.Ctx) error {
	return p.runs.Follow(c, site.AsHTML, func(e work.RunEvent) []byte {
		if html := p.RenderEvent(e); len(html) > 0 {
			return stream.Frame(e.ID, "", html)
		}
		return nil
	})
}

// BoardEvents sends open boards their new change number; the page then loads the table again.
func (p *Pages) BoardEvents(c *fiber.Ctx) error {
	versionID, err := site.IDParam(c, "version")
	if err != nil {
		return err
	}
	device, last := c.Params("device"), stream.LastSeen(c)
	if err := p.mayWatchBoard(c, versionID, device); err != nil {
		return err
	}
	send := func(out *conns.Writer, change int64) error {
		if change <= last {
			return nil
		}
		last = change
		_, err := out.Write(stream.Frame(change, "board", fmt.Append(nil, change)))
		return err
	}
	stored := func(ctx context.Context, out *conns.Writer) error {
		change, err := p.site.Store.Boards.ChangeNumber(ctx, versionID, device)
		if err != nil {
			return err
		}
		return send(out, change)
	}
	return p.site.Stream(c, stream.Source{
		Topic: site.BoardTopic(versionID, device), Backlog: stored,
		Live: func(ctx context.Context, m stream.Message, out *conns.Writer) error {
			if m.Change == 0 { // something was missed
				return stored(ctx, out)
			}
			return send(out, m.Change)
		},
	})
}

func (p *Pages) mayWatchBoard(c *fiber.Ctx, versionID int64, device string) error {
	version, err := p.site.Store.Catalog.Version(c.UserContext(), versionID)
	if err != nil {
		return err
	}
	task, err := p.site.Store.Catalog.TaskByID(c.UserContext(), version.TaskID)
	if err == nil && !task.VisibleTo(site.Actor(c)) {
		err = db.Errorf(db.NotFound, "There is no version %d.", versionID)
	}
	if err != nil {
		return err
	}
	_, err = p.runs.BoardChange(c.UserContext(), task, versionID, device)
	return err
}

// DeviceEvents notifies pages with the queue of its changes. A page may have missed a change while it was loading, so each
// connection begins with one.
func (p *Pages) DeviceEvents(c *fiber.Ctx) error {
	changed := func(out *conns.Writer) error {
		_, err := out.Write(stream.Frame(0, "queue", nil))
		return err
	}
	return p.site.Stream(c, stream.Source{
		Topic:   site.QueueTopic(),
		Backlog: func(_ context.Context, out *conns.Writer) error { return changed(out) },
		Live:    func(_ context.Context, _ stream.Message, out *conns.Writer) error { return changed(out) },
	})
}
