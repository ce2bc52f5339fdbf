package runs

import (
	"context"

	"warpboard/models/work"
	"warpboard/views"
)

// sourceRunsOf returns the runs of equal source that count together with a run, or nil.
func (s *Runs) sourceRunsOf(ctx context.Context, run work.Run) (*views.SourceRuns, error) {
	list, err := s.site.Store.Work.RunsOfSource(ctx, run)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	source := &views.SourceRuns{RunID: run.ID, StandsID: *run.OnBoard}
	for _, r := range list {
		if r.ID == source.StandsID {
			source.ScoreNS, source.Pooled, source.Processes, source.Gone = *r.ScoreNS, r.Pooled, r.Processes, max(r.Pooled-len(list), 0)
		}
		source.Runs = append(source.Runs, views.SourceRun{RunID: r.ID, SubmissionID: r.SubmissionID})
	}
	return source, nil
}
