package submissions

import (
	"context"
	"time"

	"warpboard/models/db"
	"warpboard/models/work"
)

// Exported is a ranked run on a board for a dataset. Of runs of equal source of a person only the newest is exported.
type Exported struct {
	SubmissionID int64
	UserID       int64
	UserName     string
	FileName     string
	CreatedAt    time.Time
	State        work.RunState
	ScoreNS      *float64 `gorm:"column:score_ns"` // nil: it failed
}

// Export lists the ranked runs of a board that ended, valid ones and those that failed, in the order of their submissions after one,
// at most so many. Without disqualified, held, and frozen runs, infrastructure errors, and those of people who leave their sources out
// of datasets.
func (t *Intake) Export(ctx context.Context, versionID int64, device string, after int64, limit int) (list []Exported, err error) {
	const ended = "mode = 'ranked' and profile_of is null and state in ('done', 'failed') and disqualified_at is null and held_why = '' and not ours"
	err = t.db.Read(ctx).Raw(`select s.id as submission_id, s.user_id, u.name as user_name, s.file_name, s.created_at, r.state, r.score_ns
		from (select submission_id, state, score_ns from runs where version_id = ? and device = ? and submission_id > ? and `+ended+`) r
		join submissions s on s.id = r.submission_id join users u on u.id = s.user_id
		where not u.no_dataset and s.frozen_event = 0 and not exists (select 1 from submissions n join runs m on m.submission_id = n.id
			where n.source_hash = s.source_hash and n.user_id = s.user_id and n.version_id = s.version_id and n.id > s.id and m.device = ?
				and m.mode = 'ranked' and m.profile_of is null and m.state in ('done', 'failed') and m.disqualified_at is null and m.held_why = '' and not m.ours and n.frozen_event = 0)
		order by s.id limit ?`, versionID, device, after, device, limit).Scan(&list).Error
	return list, db.ReadError(err, "the runs of a board")
}
