package submissions

import (
	"context"
	"fmt"
	"time"

	"warpboard/models/db"
	"warpboard/models/work"
)

// DatasetRow is a ranked run on a board for a dataset. Of a person's runs with equal source only the newest is
// exported.
type DatasetRow struct {
	SubmissionID int64
	UserID       int64
	UserName     string
	FileName     string
	CreatedAt    time.Time
	State        work.RunState
	ScoreNS      *float64 `gorm:"column:score_ns"` // nil if it failed
	SourceBytes  int64    // size of all files
}

// ExportedRuns lists the ended ranked runs of a board, valid and failed ones, by submission ID above after, up to
// limit. It omits disqualified, held, and frozen runs, infrastructure errors, and the runs of people who exclude their
// sources from datasets.
func (t *Submissions) ExportedRuns(
	ctx context.Context, versionID int64, device string, after int64, limit int,
) (list []DatasetRow, err error) {
	err = t.db.Read(ctx).Raw(`select s.id as submission_id, s.user_id, u.name as user_name, s.file_name, s.created_at, r.state, r.score_ns, b.size as source_bytes
		from runs r join submissions s on s.id = r.submission_id join users u on u.id = s.user_id join blobs b on b.hash = s.source_hash
		where r.version_id = ? and r.device = ? and r.submission_id > ? and not u.no_dataset and `+exportedRunSQL("r", "s")+`
			and not exists (select 1 from submissions n join runs m on m.submission_id = n.id where n.source_hash = s.source_hash
				and n.user_id = s.user_id and n.version_id = s.version_id and n.id > s.id and m.device = r.device and `+exportedRunSQL("m", "n")+`)
		order by s.id limit ?`, versionID, device, after, limit).Scan(&list).Error
	return list, db.ReadError(err, "the runs of a board")
}

// exportedRunSQL returns the condition that a run is exported. The parameters are the aliases of run and submission in
// the query.
func exportedRunSQL(run, submission string) string {
	return fmt.Sprintf(`%[1]s.mode = 'ranked' and %[1]s.profile_of is null and %[1]s.state in ('done', 'failed')
		and %[1]s.disqualified_at is null and %[1]s.held_why = '' and not %[1]s.ours and %[2]s.frozen_event = 0`, run, submission)
}
