package rejudge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/work"
)

// Rejudges is what is measured again in one database.
type Rejudges struct{ db *db.DB }

// New returns the rejudges of a database.
func New(database *db.DB) *Rejudges { return &Rejudges{db: database} }

// Kind is why runs are measured again.
type Kind string

// The kinds.
const (
	Epoch Kind = "epoch"   // the software of a device changed: numbers count as soon as they are there
	Asked Kind = "rejudge" // someone asked for it: numbers count when that is decided
)

// Rejudge is runs that are measured again for one reason.
type Rejudge struct {
	ID        int64
	Kind      Kind
	VersionID *int64 // of Asked
	Device    string // of Epoch
	EpochID   int64  // of Epoch: the new one
	CreatedBy int64  // 0: the site
	Reason    string
	CreatedAt time.Time
	EndedAt   *time.Time // nothing waits to be measured any more
	AppliedAt *time.Time // of Asked: its numbers count
	Cancelled bool
}

// Row is a run that is measured again, with its numbers before and after, and what people know it by.
type Row struct {
	RejudgeID int64
	RunID     int64
	WasNS     float64
	WasLow    *float64
	WasHigh   *float64
	NowNS     *float64 // nil: not measured, or it did not pass
	NowLow    *float64
	NowHigh   *float64
	Failed    string // why the run did not pass again
	Undone    string // why it was not measured
	EndedAt   *time.Time

	SubmissionID int64
	VersionID    int64
	Device       string
	UserID       int64
	UserName     string
	TaskID       int64
	TaskSlug     string
	TaskTitle    string
}

// Undone returns the reason why a run was not measured again, and may be tried once more; empty: it was, it failed, or it goes on.
func Undone(again work.Run) string {
	switch {
	case again.EndedAt == nil || again.State == work.StateDone && again.ScoreNS != nil:
		return ""
	case again.State == work.StateCancelled:
		return "It was cancelled."
	case again.Infrastructure || again.Failure == nil:
		return "It could not be measured because of infrastructure errors."
	}
	return ""
}

// Last returns the newest rejudge that was asked for of a version. NotFound: there is none.
func (s *Rejudges) Last(ctx context.Context, versionID int64) (r Rejudge, err error) {
	err = s.db.Read(ctx).Where("kind = ? and version_id = ?", Asked, versionID).Order("id desc").Take(&r).Error
	return r, db.ReadError(err, "rejudge of a version")
}

// Drifts lists the rejudges that changes of a device's software brought, the newest first.
func (s *Rejudges) Drifts(ctx context.Context, device string, limit int) (list []Rejudge, err error) {
	err = s.db.Read(ctx).Where("kind = ? and device = ?", Epoch, device).Order("id desc").Limit(limit).Find(&list).Error
	return list, db.ReadError(err, "changes of the software of %s", device)
}

// Reruns lists the runs of rejudges, board by board, of tasks that are listed to the viewer, the fastest before first.
func (s *Rejudges) Reruns(ctx context.Context, rejudgeIDs []int64, viewer accounts.User) (list []Row, err error) {
	var found []struct {
		work.Run                      `gorm:"embedded"`
		UserName, TaskSlug, TaskTitle string
		TaskID                        int64
		Began                         time.Time
	}
	q := s.db.Read(ctx).Table("runs r").Select("r.*, j.created_at as began, u.name as user_name, t.id as task_id, t.slug as task_slug, t.title as task_title").
		Joins("join rejudges j on j.id = r.rejudge_id").Joins("join users u on u.id = r.user_id").
		Joins("join task_versions v on v.id = r.version_id").Joins("join tasks t on t.id = v.task_id").
		Where("r.rejudge_id in ? and r.id = (select max(n.id) from runs n where n.rejudge_id = r.rejudge_id and n.profile_of = r.profile_of)", rejudgeIDs)
	if err := catalog.ListedTo(q, viewer).Order("r.id").Scan(&found).Error; err != nil || len(found) == 0 {
		return nil, db.ReadError(err, "runs that are measured again")
	}
	runs, versions := make([]int64, len(found)), make([]int64, len(found))
	for i, x := range found {
		runs[i], versions[i] = *x.ProfileOf, x.VersionID
	}
	history, err := pools.History(s.db.Read(ctx), runs)
	if err != nil {
		return nil, err
	}
	var tasks []catalog.TaskVersion
	if err := s.db.Read(ctx).Select("id, definition").Where("id in ?", versions).Find(&tasks).Error; err != nil {
		return nil, db.ReadError(err, "tasks of runs that are measured again")
	}
	for _, x := range found {
		row := Row{RejudgeID: *x.RejudgeID, RunID: *x.ProfileOf, Undone: Undone(x.Run), EndedAt: x.EndedAt, SubmissionID: x.SubmissionID, VersionID: x.VersionID,
			Device: x.Device, UserID: x.UserID, UserName: x.UserName, TaskID: x.TaskID, TaskSlug: x.TaskSlug, TaskTitle: x.TaskTitle}
		at := slices.IndexFunc(tasks, func(v catalog.TaskVersion) bool { return v.ID == x.VersionID })
		was := pools.At(history[row.RunID], row.RunID, x.Began, tasks[at].Definition.RankingBy)
		row.WasNS, row.WasLow, row.WasHigh = was.ScoreNS, was.LowNS, was.HighNS
		if x.State == work.StateDone {
			row.NowNS, row.NowLow, row.NowHigh = x.ScoreNS, x.LowNS, x.HighNS
		}
		if x.State == work.StateFailed && row.Undone == "" {
			row.Failed = x.PublicFailure() // it is public when the rejudge is applied
		}
		list = append(list, row)
	}
	slices.SortStableFunc(list, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.RejudgeID, a.RejudgeID), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.Device, b.Device), cmp.Compare(a.WasNS, b.WasNS))
	})
	return list, nil
}
