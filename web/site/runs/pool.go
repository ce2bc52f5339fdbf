package runs

import (
	"context"

	"warpboard/models/work"
	"warpboard/views"
)

// poolOf returns the runs of equal source that count together with a run, or nil.
func (s *Runs) poolOf(ctx context.Context, run work.Run) (*views.Pool, error) {
	list, err := s.site.Store.Work.Pool(ctx, run)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	pool := &views.Pool{RunID: run.ID, StandsID: *run.PoolID}
	for _, r := range list {
		if r.ID == pool.StandsID {
			pool.ScoreNS, pool.Pooled, pool.Processes, pool.Gone = *r.ScoreNS, r.Pooled, r.Processes, max(r.Pooled-len(list), 0)
		}
		pool.Runs = append(pool.Runs, views.PooledRun{RunID: r.ID, SubmissionID: r.SubmissionID})
	}
	return pool, nil
}
