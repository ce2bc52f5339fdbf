package submissions

import (
	"context"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
)

// Submissions reads and stores submissions in one database.
type Submissions struct {
	db     *db.DB
	limits SubmissionLimits
}

// New returns the submissions in a database, with limits per person.
func New(database *db.DB, limits SubmissionLimits) *Submissions {
	return &Submissions{db: database, limits: limits}
}

// Submission is a person's source, of one file or several, for a task in one mode. It has one Run per device.
type Submission struct {
	ID         int64
	UserID     int64
	TaskID     int64
	VersionID  int64
	Mode       job.Mode
	FileName   string // name of its main file
	SourceHash string // hash of all its files, packed (tasks.Submission.Pack)
	SourceKey  string // like SourceHash; runs with an equal key count together (package samples)
	Via        string // "web", "api", "cli", "mcp"
	// RequestKey is the idempotency key; nil if there is none. It is a pointer, because the unique index (user_id,
	// request_key) ignores null but allows "" only once.
	RequestKey *string
	// AdminAddedReason is an admin's reason for adding it; empty if the person submitted it.
	AdminAddedReason string `gorm:"column:added_why"`
	// FrozenEventID is the event that was frozen when the submission was made, or 0. Until its results are revealed,
	// others cannot see the submission, and its runs do not count.
	FrozenEventID  int64 `gorm:"column:frozen_event"`
	CommentCount   int   `gorm:"column:comments"` // number of visible comments; updated by package comments
	CommentsLocked bool  // only moderators may comment
	CreatedAt      time.Time
	ProfileFilter  *job.ProfileFilter `gorm:"serializer:json"` // kernels to profile; only for mode profile
}

// HiddenFrom reports whether the viewer may not see the submission because its event is frozen.
func (s Submission) HiddenFrom(viewer accounts.User) bool {
	return s.FrozenEventID != 0 && !viewer.IsAdmin() && !(viewer.SignedIn() && viewer.ID == s.UserID)
}

// MaySeeSource reports whether the viewer may read a submission's source: its author and admins always may, everyone
// after the task's deadline, and no one else without a deadline. Pages that link to sources use it, too. For the zero
// Submission it reports whether the viewer may read other people's sources.
func MaySeeSource(viewer accounts.User, sub Submission, task catalog.Task, at time.Time) bool {
	if viewer.IsAdmin() || viewer.SignedIn() && viewer.ID == sub.UserID {
		return true
	}
	return task.VisibleTo(viewer) && sub.IsSourcePublic(task, at)
}

// IsSourcePublic reports whether everyone who can see the task may read the submission's source.
func (s Submission) IsSourcePublic(task catalog.Task, at time.Time) bool {
	return s.FrozenEventID == 0 && task.Deadline != nil && !task.AcceptsSubmissions(at)
}

// Submission returns the submission with an ID. The caller must check VisibleTo of its task before showing it.
func (t *Submissions) Submission(ctx context.Context, id int64) (Submission, error) {
	var sub Submission
	err := t.db.Read(ctx).Take(&sub, id).Error
	return sub, db.ReadError(err, "submission %d", id)
}

// SubmissionDetails is a submission with its author, task, and version.
type SubmissionDetails struct {
	Submission
	User    accounts.User
	Task    catalog.Task
	Version catalog.TaskVersion
}

// TableName returns the table of submissions.
func (SubmissionDetails) TableName() string { return "submissions" }

// Details reads submissions by ID, in one query. The caller must check VisibleTo of the tasks before showing them.
func (t *Submissions) Details(ctx context.Context, ids ...int64) (map[int64]SubmissionDetails, error) {
	var rows []SubmissionDetails
	err := t.db.Read(ctx).Joins("User").Joins("Task").Joins("Version").Where("submissions.id in ?", ids).Find(&rows).Error
	found := make(map[int64]SubmissionDetails, len(rows))
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, db.ReadError(err, "submissions")
}

// Sources returns the files of submissions, by submission ID. The caller must check MaySeeSource.
func (t *Submissions) Sources(ctx context.Context, ids []int64) (map[int64]tasks.Submission, error) {
	var rows []struct {
		ID   int64
		Data []byte
	}
	// All unpacked sources are in memory at the same time, so pass few IDs (a comparison has two).
	err := t.db.Read(ctx).Table("submissions s").Select("s.id, b.data").Joins("join blobs b on b.hash = s.source_hash").Where("s.id in ?", ids).Scan(&rows).Error
	texts := make(map[int64]tasks.Submission, len(rows))
	for _, row := range rows {
		if err == nil {
			texts[row.ID], err = tasks.UnpackSubmission(row.Data)
		}
	}
	return texts, db.ReadError(err, "sources of submissions")
}

// SourceSizes returns the total size of each submission's files in bytes, by submission ID.
func (t *Submissions) SourceSizes(ctx context.Context, ids []int64) (map[int64]int64, error) {
	var rows []struct{ ID, Size int64 }
	err := t.db.Read(ctx).Table("submissions s").Select("s.id, b.size").Joins("join blobs b on b.hash = s.source_hash").Where("s.id in ?", ids).Scan(&rows).Error
	sizes := make(map[int64]int64, len(rows))
	for _, row := range rows {
		sizes[row.ID] = row.Size
	}
	return sizes, db.ReadError(err, "sizes of sources")
}

// Source returns the files of a submission. The caller must check MaySeeSource before showing them.
func (t *Submissions) Source(ctx context.Context, sub Submission) (submitted tasks.Submission, err error) {
	var blob catalog.Blob
	if err = t.db.Read(ctx).Where("hash = ?", sub.SourceHash).Take(&blob).Error; err == nil {
		submitted, err = tasks.UnpackSubmission(blob.Data)
	}
	return submitted, db.ReadError(err, "source of submission %d", sub.ID)
}
