package work

import (
	"context"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// ProfileRun finds the run that profiled a run. NotFound: there is none.
func (l *LifeCycle) ProfileRun(ctx context.Context, run Run) (Run, error) {
	of, err := l.ProfileRuns(ctx, run)
	if _, ok := of[run.ID]; !ok && err == nil {
		err = db.Errorf(db.NotFound, "Run %d was not profiled.", run.ID)
	}
	return of[run.ID], err
}

// ProfileRuns finds the runs that profiled some runs, by the ids of these, in one query: those that followed ranked
// runs, or the runs themselves where a person asked for a profile.
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
	err := l.db.Read(ctx).Where("profile_of in ? and mode = ?", followed, job.ModeProfile).Find(&found).Error
	for _, run := range found {
		of[*run.ProfileOf] = run
	}
	return of, db.ReadError(err, "profiles of runs %v", followed)
}

// Unfinished reports whether a submission has runs that have not ended; with profiles, those that
// follow its runs count, too.
func (l *LifeCycle) Unfinished(ctx context.Context, submissionID int64, profiles bool) (bool, error) {
	q := l.db.Read(ctx).Model(&Run{}).Where("submission_id = ? and "+Live, submissionID)
	if !profiles {
		q = q.Where("profile_of is null")
	}
	var live int64
	err := q.Count(&live).Error
	return live > 0, db.ReadError(err, "live runs of submission %d", submissionID)
}

// Profiles lists the profiles that follow a submission's runs, by the id of the run that each follows.
func (l *LifeCycle) Profiles(ctx context.Context, submissionID int64) (map[int64]Run, error) {
	var runs []Run
	err := l.db.Read(ctx).Where("submission_id = ? and profile_of is not null and mode = ?", submissionID, job.ModeProfile).Find(&runs).Error
	profiles := make(map[int64]Run, len(runs))
	for _, run := range runs {
		profiles[*run.ProfileOf] = run
	}
	return profiles, db.ReadError(err, "profiles of submission %d", submissionID)
}
