package pages

import (
	"context"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
)

// submissionRows lists submissions for a table.
func (p *Pages) submissionRows(ctx context.Context, viewer models.User, f models.SubmissionFilter) ([]views.SubmissionRow, error) {
	list, err := p.Store.Submissions(ctx, viewer, f)
	if err != nil {
		return nil, err
	}
	rows := make([]views.SubmissionRow, len(list))
	for i, sub := range list {
		rows[i] = views.SubmissionRow{
			ID: sub.ID, Task: views.TaskRef{Slug: sub.TaskSlug, Title: sub.TaskTitle},
			Owner: site.PersonOf(sub.UserID, sub.UserName), Mode: string(sub.Mode), Created: sub.CreatedAt,
		}
		for _, run := range sub.Runs {
			rows[i].Runs = append(rows[i].Runs, views.RunCard{ID: run.ID, Device: run.Device, State: string(run.State), ScoreNS: run.ScoreNS})
		}
	}
	return rows, nil
}
