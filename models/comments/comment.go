package comments

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Comment is a text about a task or a submission.
type Comment struct {
	ID           int64
	TaskID       int64
	SubmissionID *int64 // nil for the task itself
	UserID       int64
	IsWriteup    bool   `gorm:"column:writeup"` // the submission author's text, shown above the comments
	Body         string // Markdown
	CreatedAt    time.Time
	EditedAt     *time.Time
	HiddenAt     *time.Time
	HiddenBy     int64
	HiddenReason string `gorm:"column:hidden_why"`
	RemovedAt    *time.Time
}

// CommentRow is a comment with the name of its author.
type CommentRow struct {
	Comment
	UserName string
}

// restrictToVisible restricts a query to comments that the viewer may read. Hidden comments are visible to moderators
// and their author.
func restrictToVisible(q *gorm.DB, viewer accounts.User, t Thread) *gorm.DB {
	q = q.Where("c.removed_at is null")
	switch {
	case t.ModeratedBy(viewer):
		return q
	case viewer.SignedIn():
		return q.Where("c.hidden_at is null or c.user_id = ?", viewer.ID)
	}
	return q.Where("c.hidden_at is null")
}

// queryWithAuthors returns a query for comments c with the names of their authors u.
func queryWithAuthors(q *gorm.DB) *gorm.DB {
	return q.Table("comments c").Select("c.*, u.name as user_name").Joins("join users u on u.id = c.user_id")
}

// List lists comments with IDs above after, oldest first. If after is 0, the write-up comes first.
func (c *Comments) List(
	ctx context.Context, viewer accounts.User, t Thread, after int64, limit int,
) (list []CommentRow, err error) {
	if err := t.CheckReadable(viewer, c.now()); err != nil {
		return nil, err
	}
	q := t.commentsOfThread(restrictToVisible(queryWithAuthors(c.db.Read(ctx)), viewer, t))
	if after > 0 {
		q = q.Where("c.id > ? and not c.writeup", after)
	}
	err = q.Order("c.writeup desc, c.id").Limit(limit).Scan(&list).Error
	return list, db.ReadError(err, "comments")
}

func (c *Comments) now() time.Time {
	return db.NormalizeTime(c.db.Read(context.Background()).NowFunc())
}

// Comment reads a comment and its thread, if the viewer may read them.
func (c *Comments) Comment(
	ctx context.Context, viewer accounts.User, id int64,
) (found CommentRow, t Thread, err error) {
	return findComment(c.db.Read(ctx), viewer, id)
}

func findComment(tx *gorm.DB, viewer accounts.User, id int64) (found CommentRow, t Thread, err error) {
	missing := db.Errorf(db.NotFound, "There is no comment %d.", id)
	res := queryWithAuthors(tx).Where("c.id = ? and c.removed_at is null", id).Limit(1).Scan(&found)
	if res.Error != nil {
		return found, t, db.ReadError(res.Error, "comment %d", id)
	}
	if res.RowsAffected == 0 {
		return found, t, missing
	}
	about := int64(0)
	if found.SubmissionID != nil {
		about = *found.SubmissionID
	}
	if t, err = readThread(tx, found.TaskID, about); err != nil {
		return found, t, err
	}
	hidden := found.HiddenAt != nil && !t.ModeratedBy(viewer) && found.UserID != viewer.ID
	if hidden || t.CheckReadable(viewer, db.NormalizeTime(tx.NowFunc())) != nil {
		return CommentRow{}, Thread{}, missing
	}
	return found, t, nil
}
