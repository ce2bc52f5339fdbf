package runs

import (
	"warpboard/models/work"
	"warpboard/views"
)

// sourceRunsOf returns the runs with the same source that share a score with a run; nil if there is no other.
func sourceRunsOf(run work.Run, list []work.Run) *views.SourceRuns {
	if len(list) == 0 {
		return nil
	}
	source := &views.SourceRuns{RunID: run.ID, StandsID: *run.RepresentativeRunID}
	for _, r := range list {
		if r.ID == source.StandsID {
			source.ScoreNS, source.Pooled, source.Processes, source.Gone = *r.ScoreNS, r.PooledRunCount, r.Processes, max(r.PooledRunCount-len(list), 0)
		}
		source.Runs = append(source.Runs, views.SourceRun{RunID: r.ID, SubmissionID: r.SubmissionID})
	}
	return source
}
