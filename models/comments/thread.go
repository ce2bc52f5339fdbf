package comments

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
)

// Comments reads and stores comments in one database.
type Comments struct {
	db    *db.DB
	hooks Hooks
}

// Hooks has functions that are called in the transactions that change comments.
type Hooks struct {
	OnAdded func(tx *gorm.DB, commentID int64) error
	// OnRemovedOrHidden is called for a comment that others can no longer read, because it was deleted or hidden.
	OnRemovedOrHidden func(tx *gorm.DB, commentID int64) error
}

// New returns the comments of a database.
func New(database *db.DB, hooks Hooks) *Comments { return &Comments{database, hooks} }

// Thread is the task or submission that comments belong to.
type Thread struct {
	Task       catalog.Task
	Submission *submissions.Submission // nil for the task itself
}

// AuthorID returns the ID of the person who may write the write-up.
func (t Thread) AuthorID() int64 {
	if t.Submission != nil {
		return t.Submission.UserID
	}
	return t.Task.OwnerID
}

// Locked reports whether only moderators may write comments.
func (t Thread) Locked() bool {
	if t.Submission != nil {
		return t.Submission.CommentsLocked
	}
	return t.Task.CommentsLocked
}

// CommentCount returns the number of visible comments.
func (t Thread) CommentCount() int {
	if t.Submission != nil {
		return t.Submission.CommentCount
	}
	return t.Task.CommentCount
}

// ModeratedBy reports whether the person may hide comments and lock the thread.
func (t Thread) ModeratedBy(u accounts.User) bool {
	return u.CanPerform(accounts.ModerateComments, accounts.OwnerIDs{AuthorID: t.Task.OwnerID})
}

// CheckReadable returns an error if the viewer may not read the comments. While the source of a submission is private,
// no one can read or write comments on it, not even its author or an admin.
func (t Thread) CheckReadable(viewer accounts.User, at time.Time) error {
	switch {
	case !t.Task.VisibleTo(viewer) || t.Submission != nil && t.Submission.HiddenFrom(viewer):
		return t.notFoundError()
	case t.Submission != nil && !t.Submission.IsSourcePublic(t.Task, at):
		return db.Errorf(db.Forbidden, "Comments on a submission open when everyone may read its source: after the task's deadline.")
	}
	return nil
}

func (t Thread) notFoundError() error {
	if t.Submission != nil {
		return db.Errorf(db.NotFound, "There is no submission %d.", t.Submission.ID)
	}
	return db.Errorf(db.NotFound, "There is no task %q.", t.Task.Slug)
}

// commentsOfThread selects the comments of the thread.
func (t Thread) commentsOfThread(q *gorm.DB) *gorm.DB {
	if t.Submission != nil {
		return q.Where("submission_id = ?", t.Submission.ID)
	}
	return q.Where("task_id = ? and submission_id is null", t.Task.ID)
}

// rowWithCount returns the database row that has the thread's count and lock.
func (t Thread) rowWithCount(tx *gorm.DB) *gorm.DB {
	if t.Submission != nil {
		return tx.Table("submissions").Where("id = ?", t.Submission.ID)
	}
	return tx.Table("tasks").Where("id = ?", t.Task.ID)
}

// updateCommentCount updates the stored number of visible comments.
func (t Thread) updateCommentCount(tx *gorm.DB) error {
	var n int64
	err := t.commentsOfThread(tx.Model(&Comment{})).Where("removed_at is null and hidden_at is null").Count(&n).Error
	if err == nil {
		err = t.rowWithCount(tx).UpdateColumn("comments", n).Error
	}
	return db.WriteError(err, "number of comments")
}

// readThread reads a thread inside a transaction, because locks and deadlines may have changed since it was first read.
func readThread(tx *gorm.DB, taskID, submissionID int64) (t Thread, err error) {
	if submissionID != 0 {
		t.Submission = new(submissions.Submission)
		if err := tx.Take(t.Submission, submissionID).Error; err != nil {
			return t, db.ReadError(err, "submission %d", submissionID)
		}
		taskID = t.Submission.TaskID
	}
	err = tx.Take(&t.Task, taskID).Error
	return t, db.ReadError(err, "task %d", taskID)
}

// reload reads the thread again inside a transaction.
func (t Thread) reload(tx *gorm.DB) (Thread, error) {
	if t.Submission != nil {
		return readThread(tx, 0, t.Submission.ID)
	}
	return readThread(tx, t.Task.ID, 0)
}

// WriteRefusal returns an error with the reason why the actor may not write comments now, or nil. Moderators may write
// in locked threads.
func (c *Comments) WriteRefusal(ctx context.Context, actor accounts.User, t Thread) error {
	return writeRefusal(c.db.Read(ctx), actor, t)
}

func writeRefusal(tx *gorm.DB, actor accounts.User, t Thread) error {
	switch {
	case !actor.SignedIn():
		return db.Errorf(db.Forbidden, "Sign in to write a comment.")
	case t.ModeratedBy(actor):
		return nil
	case t.Locked():
		return db.Errorf(db.Forbidden, "These comments are locked.")
	}
	at := db.NormalizeTime(tx.NowFunc())
	var titles []string
	err := tx.Table("events").Where("comments_closed and starts_at <= ? and ends_at > ?", at, at).
		Where("id in (select event_id from event_tasks where task_id = ?)", t.Task.ID).Limit(1).Pluck("title", &titles).Error
	if err != nil || len(titles) == 0 {
		return db.ReadError(err, "events of task %s", t.Task.Slug)
	}
	return db.Errorf(db.Forbidden, "Comments are closed until the event %s ends.", titles[0])
}
