package rejudge

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
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

// Rerun is one run of it, with its numbers before and after.
type Rerun struct {
	ID         int64
	RejudgeID  int64
	RunID      int64
	WasNS      float64 `gorm:"column:was_ns"`
	WasLow     *float64
	WasHigh    *float64
	WasEpochID int64
	NowNS      *float64 `gorm:"column:now_ns"` // nil: not measured, or it did not pass
	NowLow     *float64
	NowHigh    *float64
	NowEpochID int64
	Failed     string // why the run did not pass again
	Undone     string // why it was not measured
	EndedAt    *time.Time
}

// Row is a rerun with what people know it by.
type Row struct {
	Rerun
	SubmissionID int64
	VersionID    int64
	Device       string
	UserID       int64
	UserName     string
	TaskSlug     string
	TaskTitle    string
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

// Reruns lists the runs of rejudges, board by board, of tasks that are listed to the viewer.
func (s *Rejudges) Reruns(ctx context.Context, rejudgeIDs []int64, viewer accounts.User) (list []Row, err error) {
	q := s.db.Read(ctx).Table("reruns x").
		Select("x.*, r.submission_id, r.version_id, r.device, r.user_id, u.name as user_name, t.slug as task_slug, t.title as task_title").
		Joins("join runs r on r.id = x.run_id").Joins("join users u on u.id = r.user_id").
		Joins("join task_versions v on v.id = r.version_id").Joins("join tasks t on t.id = v.task_id").Where("x.rejudge_id in ?", rejudgeIDs)
	err = catalog.ListedTo(q, viewer).Order("x.rejudge_id desc, t.id, r.device, x.was_ns, x.id").Scan(&list).Error
	return list, db.ReadError(err, "runs that are measured again")
}

// Open counts the reruns of a rejudge that nothing came of yet.
func Open(tx *gorm.DB, rejudgeID int64) (open int64, err error) {
	err = tx.Model(&Rerun{}).Where("rejudge_id = ? and ended_at is null", rejudgeID).Count(&open).Error
	return open, db.ReadError(err, "reruns")
}
