package pages

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const clockRows = 50 // runs on one page of those whose clocks differ

// Trust shows what a number on the site means.
func (p *Pages) Trust(c *fiber.Ctx) error {
	workers, err := p.runs.WorkersFor(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	page := views.TrustPage{Page: p.site.Page(c, "What a score means", "trust"), Attacks: p.attacks, Contact: p.contact}
	for _, w := range workers {
		page.Workers = append(page.Workers, p.workerCard(w, nil))
	}
	return p.site.Render(c, fiber.StatusOK, views.Trust(page))
}

// Clocks lists the runs whose clocks differ by more than the tolerance, for admins.
func (p *Pages) Clocks(c *fiber.Ctx) error {
	list, err := p.site.Store.ClockDifferences(c.UserContext(), site.Actor(c), int64(c.QueryInt("before")), clockRows+1)
	if err != nil {
		return err
	}
	page := views.ClocksPage{Page: p.site.Page(c, "Runs whose clocks differ", "moderation")}
	if len(list) > clockRows {
		list = list[:clockRows]
		page.Older = list[clockRows-1].RunID
	}
	for _, d := range list {
		page.Rows = append(page.Rows, clockRow(d))
	}
	return p.site.Render(c, fiber.StatusOK, views.Clocks(page))
}

func clockRow(d models.DifferingRun) views.ClockRow {
	return views.ClockRow{
		RunID: d.RunID, SubmissionID: d.SubmissionID, Task: views.TaskRef{Slug: d.TaskSlug, Title: d.TaskTitle}, Device: d.Device,
		Person: site.PersonOf(d.UserID, d.UserName), Ended: runs.TimeOf(d.EndedAt), ScoreNS: d.ScoreNS, Stage: d.Stage, Spec: d.Spec, Cases: d.Cases,
		Clocks: job.Clocks{Counts: d.Clock, Event: d.EventNS, Wall: d.WallNS, Snapshot: d.SnapshotNS, Tolerance: d.ToleranceNS},
	}
}
