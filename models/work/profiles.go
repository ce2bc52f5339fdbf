package work

import (
	"context"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// profileRunSQL is the condition that run r is a profile. The mode is a literal instead of a parameter, so that
// PostgreSQL can use the partial index for this mode without planning each query.
const profileRunSQL = "r.mode = 'profile'"

// ProfileRuns returns the runs that made the profiles of runs, by the IDs of these, in one query: the runs that
// followed ranked runs, or the runs themselves if a person requested a profile.
func (l *LifeCycle) ProfileRuns(ctx context.Context, list ...Run) (map[int64]Run, error) {
	of, followed := map[int64]Run{}, []int64{}
	for _, run := range list {
		if run.Mode == job.ModeProfile {
			of[run.ID] = run
		} else {
			followed = append(followed, run.ID)
		}
	}
	if len(followed) == 0 {
		return of, nil
	}
	var found []Run
	err := l.db.Read(ctx).Table("runs r").Where("r.profile_of in ? and "+profileRunSQL, followed).Find(&found).Error
	for _, run := range found {
		of[*run.ProfileOf] = run
	}
	return of, db.ReadError(err, "profiles of runs %v", followed)
}

// SubmissionRuns has the runs of a submission, read in one query.
type SubmissionRuns struct {
	Runs          []Run         // the requested runs, in the order of the submission's devices
	Profiles      map[int64]Run // profiles of the requested runs, by the IDs of those runs
	HasUnfinished bool          // a run or a following profile has not ended
	LastEventID   int64         // ID of the last announced event; 0 if none
}

// submissionRunsSQL queries each kind of run with its own index, because there is no index on the submission alone. A
// scan of a million runs would take 0.3 s.
const submissionRunsSQL = `select r.*, (select coalesce(max(e.id), 0) from run_events e where e.submission_id = r.submission_id) as last_event
	from runs r where r.id in (
		select a.id from runs a where a.submission_id = ? and a.profile_of is null
		union all select p.id from runs a cross join runs p where a.submission_id = ? and a.profile_of is null and p.profile_of = a.id and p.mode = 'profile'
		union all select l.id from runs l where l.submission_id = ? and l.ended_at is null)
	order by r.id`

// SubmissionRuns reads the runs of a submission and the ID of its last event in one query. A reader that follows the
// events after that ID misses none.
func (l *LifeCycle) SubmissionRuns(ctx context.Context, submissionID int64) (SubmissionRuns, error) {
	var rows []struct {
		Run       `gorm:"embedded"`
		LastEvent int64
	}
	err := l.db.Read(ctx).Raw(submissionRunsSQL, submissionID, submissionID, submissionID).Scan(&rows).Error
	family := SubmissionRuns{Profiles: map[int64]Run{}}
	for _, row := range rows {
		family.LastEventID = row.LastEvent
		family.HasUnfinished = family.HasUnfinished || row.EndedAt == nil
		switch {
		case row.ProfileOf == nil:
			family.Runs = append(family.Runs, row.Run)
			if row.Mode == job.ModeProfile {
				family.Profiles[row.ID] = row.Run
			}
		case row.Mode == job.ModeProfile:
			family.Profiles[*row.ProfileOf] = row.Run
		}
	}
	return family, db.ReadError(err, "runs of submission %d", submissionID)
}

// HasUnfinishedRuns reports whether a submission has unfinished runs. With profiles, the profiles that follow its runs
// count, too.
func (l *LifeCycle) HasUnfinishedRuns(ctx context.Context, submissionID int64, profiles bool) (bool, error) {
	q := l.db.Read(ctx).Model(&Run{}).Where("submission_id = ? and "+NotEndedSQL, submissionID)
	if !profiles {
		q = q.Where("profile_of is null")
	}
	var live int64
	err := q.Count(&live).Error
	return live > 0, db.ReadError(err, "live runs of submission %d", submissionID)
}
