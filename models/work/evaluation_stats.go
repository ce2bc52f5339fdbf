package work

import (
	"context"
	"time"

	"warpboard/models/db"
)

// EvaluationStats counts the stored evaluations by state.
type EvaluationStats struct {
	ByState map[EvaluationState]int64
	Total   int64
	MeanAge time.Duration // mean time since submission
	// JustSubmitted and JustEnded count the evaluations submitted and ended in the last StatsWindow.
	JustSubmitted, JustEnded int64
}

// StatsWindow is the time span of JustSubmitted and JustEnded.
const StatsWindow = 5 * time.Minute

// EvaluationStats counts the stored evaluations by state.
func (l *LifeCycle) EvaluationStats(ctx context.Context) (EvaluationStats, error) {
	out, at := EvaluationStats{ByState: map[EvaluationState]int64{}}, db.Now()
	var rows []struct {
		State    EvaluationState
		QueuedAt time.Time
		EndedAt  *time.Time
	}
	if err := l.db.Read(ctx).Model(&Evaluation{}).Select("state, queued_at, ended_at").Find(&rows).Error; err != nil {
		return out, db.ReadError(err, "evaluations")
	}
	for _, row := range rows {
		out.ByState[row.State]++
		out.Total++
		out.MeanAge += at.Sub(row.QueuedAt)
		if at.Sub(row.QueuedAt) < StatsWindow {
			out.JustSubmitted++
		}
		if row.EndedAt != nil && at.Sub(*row.EndedAt) < StatsWindow {
			out.JustEnded++
		}
	}
	if out.Total > 0 {
		out.MeanAge /= time.Duration(out.Total)
	}
	return out, nil
}
