package comments

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

const (
	maxReasonLength   = 1_000 // characters
	maxReportsPerHour = 10    // limit of one person's reports
)

// Report is a person's request to moderate a comment.
type Report struct {
	ID        int64
	CommentID int64
	UserID    int64
	Reason    string
	CreatedAt time.Time
	ClosedAt  *time.Time
	ClosedBy  int64
	Outcome   string
}

// TableName returns the table of reports.
func (Report) TableName() string { return "comment_reports" }

// ReportWithReporter is a report with the name of the person who made it.
type ReportWithReporter struct {
	Report
	UserName string
}

// Report asks the task's author and the admins to review a comment. Each person can report a comment once until it is
// reviewed.
func (c *Comments) Report(ctx context.Context, actor accounts.User, id int64, why string) error {
	why, err := cleanBody(why, maxReasonLength)
	if err != nil {
		return err
	}
	return c.db.Write(ctx, func(tx *gorm.DB) error {
		found, _, err := findComment(tx, actor, id)
		if err != nil {
			return err
		}
		if err := actor.CheckPermission(accounts.ReportComment,
			accounts.OwnerIDs{OwnerID: found.UserID}); err != nil {
			return err
		}
		if err := checkRate(tx, actor, &Report{}, maxReportsPerHour, "reports"); err != nil {
			return err
		}
		err = db.WriteError(tx.Create(&Report{CommentID: id, UserID: actor.ID, Reason: why, CreatedAt: db.Now()}).Error, "report")
		if db.KindOf(err) == db.Conflict {
			return db.Errorf(db.Conflict, "You have reported this comment already; it has not been reviewed yet.")
		}
		return err
	})
}

// Reports lists the open reports of a comment. Only moderators may call it.
func (c *Comments) Reports(ctx context.Context, actor accounts.User, id int64) (list []ReportWithReporter, err error) {
	found, t, err := c.Comment(ctx, actor, id)
	if err != nil || !t.ModeratedBy(actor) || isOwnComment(found, actor) {
		return nil, err
	}
	err = selectOpenReports(c.db.Read(ctx)).Where("p.comment_id = ?", id).Scan(&list).Error
	return list, db.ReadError(err, "reports of comment %d", id)
}

func selectOpenReports(q *gorm.DB) *gorm.DB {
	return q.Table("comment_reports p").Select("p.*, u.name as user_name").Joins("join users u on u.id = p.user_id").Where("p.closed_at is null").Order("p.id")
}

// ReportedComment is a comment with open reports.
type ReportedComment struct {
	CommentRow
	TaskSlug, TaskTitle string
	ReportCount         int `gorm:"column:reports"`
}

// ReportedComments lists the comments with open reports that the actor may moderate, longest waiting first. It omits
// comments on submissions whose source is hidden.
func (c *Comments) ReportedComments(
	ctx context.Context, actor accounts.User, limit int,
) (list []ReportedComment, err error) {
	q := queryWithAuthors(c.db.Read(ctx)).Select("c.*, u.name as user_name, t.slug as task_slug, t.title as task_title, p.reports").Joins("join tasks t on t.id = c.task_id").
		Joins("join (select comment_id, count(*) as reports, min(id) as first from comment_reports where closed_at is null group by comment_id) p on p.comment_id = c.id").
		Where("c.removed_at is null and (c.submission_id is null or t.deadline <= ? and c.submission_id in (select id from submissions where frozen_event = 0))", c.now())
	if !actor.IsAdmin() {
		if !actor.MayCreateTasks() {
			return nil, nil
		}
		q = q.Where("t.owner_id = ? and c.user_id <> ?", actor.ID, actor.ID)
	}
	err = q.Order("p.first").Limit(limit).Scan(&list).Error
	return list, db.ReadError(err, "reported comments")
}

// isOwnComment reports whether the actor wrote the comment and is no admin. Such a moderator may neither decide about
// the comment nor see who reported it.
func isOwnComment(found CommentRow, actor accounts.User) bool {
	return found.UserID == actor.ID && !actor.IsAdmin()
}

// Hide hides a comment from everyone except its author and moderators, and closes its reports.
func (c *Comments) Hide(ctx context.Context, actor accounts.User, id int64, why string) (Thread, error) {
	return c.moderate(ctx, actor, id, "hide comment", why, func(found CommentRow, why string) (map[string]any, error) {
		if found.HiddenAt != nil { // otherwise a task's author could replace an admin's decision
			return nil, db.Errorf(db.Conflict, "Comment %d is hidden already.", id)
		}
		return map[string]any{"hidden_at": db.Now(), "hidden_by": actor.ID, "hidden_why": why}, nil
	})
}

// Unhide makes a hidden comment visible again. The author of a task cannot do this if an admin hid the comment.
func (c *Comments) Unhide(ctx context.Context, actor accounts.User, id int64, why string) (Thread, error) {
	return c.moderate(ctx, actor, id, "show comment", why, func(found CommentRow, _ string) (map[string]any, error) {
		if found.HiddenAt == nil {
			return nil, db.Errorf(db.Conflict, "Comment %d is not hidden.", id)
		}
		if !actor.IsAdmin() && found.HiddenBy != actor.ID {
			return nil, db.Errorf(db.Forbidden, "Only the person who hid the comment, and admins, may show it again.")
		}
		return map[string]any{"hidden_at": nil, "hidden_by": 0, "hidden_why": ""}, nil
	})
}

// DismissReports closes the reports of a comment without hiding it.
func (c *Comments) DismissReports(ctx context.Context, actor accounts.User, id int64, why string) (Thread, error) {
	return c.moderate(ctx, actor, id, "dismiss reports", why, func(CommentRow, string) (map[string]any, error) { return nil, nil })
}

// moderate changes a comment and writes the reason to the audit log.
func (c *Comments) moderate(
	ctx context.Context, actor accounts.User, id int64, act, why string,
	change func(found CommentRow, why string) (map[string]any, error),
) (t Thread, err error) {
	if why, err = cleanBody(why, maxReasonLength); err != nil {
		return t, err
	}
	err = c.db.Write(ctx, func(tx *gorm.DB) error {
		var found CommentRow
		if found, t, err = findComment(tx, actor, id); err != nil {
			return err
		}
		if err := actor.CheckPermission(accounts.ModerateComments,
			accounts.OwnerIDs{AuthorID: t.Task.OwnerID}); err != nil {
			return err
		}
		if isOwnComment(found, actor) {
			return db.Errorf(db.Forbidden, "Only admins may moderate comments by the task's author.")
		}
		values, err := change(found, why)
		if err == nil && values != nil {
			err = tx.Model(&Comment{}).Where("id = ?", id).Updates(values).Error
		}
		if err == nil && values["hidden_at"] != nil {
			err = c.hooks.OnRemovedOrHidden(tx, id)
		}
		if err == nil {
			err = closeReports(tx, actor.ID, id, why)
		}
		if err == nil {
			err = t.updateCommentCount(tx)
		}
		if err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, act, fmt.Sprintf("comment %d", id), why)
	})
	return t, err
}

func closeReports(tx *gorm.DB, by, id int64, outcome string) error {
	err := tx.Model(&Report{}).Where("comment_id = ? and closed_at is null", id).
		Updates(map[string]any{"closed_at": db.Now(), "closed_by": by, "outcome": outcome}).Error
	return db.WriteError(err, "reports of comment %d", id)
}

// LockThread closes a thread to everyone except moderators, or opens it again.
func (c *Comments) LockThread(ctx context.Context, actor accounts.User, about Thread, locked bool) error {
	return c.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := about.reload(tx)
		if err != nil {
			return err
		}
		if err := t.CheckReadable(actor, db.NormalizeTime(tx.NowFunc())); err != nil {
			return err
		}
		if err := actor.CheckPermission(accounts.ModerateComments, accounts.OwnerIDs{AuthorID: t.Task.OwnerID}); err != nil || t.Locked() == locked {
			return err
		}
		if err := t.rowWithCount(tx).UpdateColumn("comments_locked", locked).Error; err != nil {
			return db.WriteError(err, "lock of comments")
		}
		act, subject := "unlock comments", "task "+t.Task.Slug
		if locked {
			act = "lock comments"
		}
		if t.Submission != nil {
			subject = fmt.Sprintf("submission %d", t.Submission.ID)
		}
		return accounts.WriteAudit(tx, actor, act, subject, "")
	})
}
