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

// Submissions reads and stores the submissions of one database.
type Submissions struct {
	db     *db.DB
	limits Limits
}

// New returns the submissions of a database, with the limits for people.
func New(database *db.DB, limits Limits) *Submissions {
	return &Submissions{db: database, limits: limits}
}

// Submission is one request of a person: a source for a task, of one file or several, in one mode. It has one Run per
// device.
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
	// A pointer: the unique index (user_id, request_key) ignores null, and would allow "" only once.
	RequestKey *string // idempotency key; nil if none
	AddedWhy   string  // an admin's reason for adding it; empty if the person submitted it
	// ID of the event that was frozen at the time: others do not see the submission, and its runs do not count, until
	// it is revealed. 0 if none.
	FrozenEventID  int64 `gorm:"column:frozen_event"`
	Comments       int   // number of visible comments; updated by package comments
	CommentsLocked bool  // only moderators may comment
	CreatedAt      time.Time
	ProfileFilter  *job.ProfileFilter `gorm:"serializer:json"` // for mode profile
}

// HiddenFrom reports whether the submission is hidden from the viewer, because its event is frozen.
func (s Submission) HiddenFrom(viewer accounts.User) bool {
	return s.FrozenEventID != 0 && !viewer.IsAdmin() && !(viewer.SignedIn() && viewer.ID == s.UserID)
}

// MaySeeSource reports whether the viewer may read a submission's source: the author and admins always may, everyone
// after the task's deadline. Without a deadline it stays hidden. Pages that link to sources use it, too. For the zero
// Submission it reports whether the viewer may read other people's sources.
func MaySeeSource(viewer accounts.User, sub Submission, task catalog.Task, at time.Time) bool {
	if viewer.IsAdmin() || viewer.SignedIn() && viewer.ID == sub.UserID {
		return true
	}
	return task.VisibleTo(viewer) && sub.SourceOpen(task, at)
}

// SourceOpen reports whether everyone who sees the task may read the submission's source.
func (s Submission) SourceOpen(task catalog.Task, at time.Time) bool {
	return s.FrozenEventID == 0 && task.Deadline != nil && !task.Open(at)
}

// Submission returns one submission. Callers must check its task's VisibleTo before they show it.
func (t *Submissions) Submission(ctx context.Context, id int64) (Submission, error) {
	var sub Submission
	err := t.db.Read(ctx).Take(&sub, id).Error
	return sub, db.ReadError(err, "submission %d", id)
}

// Details is a submission with its author, task, and version.
type Details struct {
	Submission
	User    accounts.User
	Task    catalog.Task
	Version catalog.TaskVersion
}

// TableName returns the table of submissions.
func (Details) TableName() string { return "submissions" }

// Details reads submissions by their IDs, in one query. Callers must check the tasks' VisibleTo before they show any.
func (t *Submissions) Details(ctx context.Context, ids ...int64) (map[int64]Details, error) {
	var rows []Details
	err := t.db.Read(ctx).Joins("User").Joins("Task").Joins("Version").Where("submissions.id in ?", ids).Find(&rows).Error
	found := make(map[int64]Details, len(rows))
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, db.ReadError(err, "submissions")
}

// Sources returns the files of some submissions, by their IDs. Callers must check MaySeeSource.
func (t *Submissions) Sources(ctx context.Context, ids []int64) (map[int64]tasks.Submission, error) {
	var rows []struct {
		ID   int64
		Data []byte
	}
	// Unpacked sources are in memory at the same time: callers must pass few IDs (a comparison has two).
	err := t.db.Read(ctx).Table("submissions s").Select("s.id, b.data").Joins("join blobs b on b.hash = s.source_hash").Where("s.id in ?", ids).Scan(&rows).Error
	texts := make(map[int64]tasks.Submission, len(rows))
	for _, row := range rows {
		if err == nil {
			texts[row.ID], err = tasks.Unpack(row.Data)
		}
	}
	return texts, db.ReadError(err, "sources of submissions")
}

// SourceSizes returns the bytes of all files by submission.
func (t *Submissions) SourceSizes(ctx context.Context, ids []int64) (map[int64]int64, error) {
	var rows []struct{ ID, Size int64 }
	err := t.db.Read(ctx).Table("submissions s").Select("s.id, b.size").Joins("join blobs b on b.hash = s.source_hash").Where("s.id in ?", ids).Scan(&rows).Error
	sizes := make(map[int64]int64, len(rows))
	for _, row := range rows {
		sizes[row.ID] = row.Size
	}
	return sizes, db.ReadError(err, "sizes of sources")
}

// Source returns the files of a submission. Callers must check MaySeeSource before they show them.
func (t *Submissions) Source(ctx context.Context, sub Submission) (submitted tasks.Submission, err error) {
	var blob catalog.Blob
	if err = t.db.Read(ctx).Where("hash = ?", sub.SourceHash).Take(&blob).Error; err == nil {
		submitted, err = tasks.Unpack(blob.Data)
	}
	return submitted, db.ReadError(err, "source of submission %d", sub.ID)
}
