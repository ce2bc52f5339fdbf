package membership

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// Member is a person who joined a task.
type Member struct {
	TaskID    int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID    int64 `gorm:"primaryKey;autoIncrement:false"`
	InviteID  int64
	JoinedAt  time.Time
	RemovedAt *time.Time // when the person was removed or left; nil: the person is in
	BarredAt  *time.Time // when they were removed last: codes from before do not let them in
}

// Joined is a member as the author of the task sees one.
type Joined struct {
	Member
	UserName string
	Prefix   string // of the code that was used
	Note     string // … and what it was for
}

// List lists who is in a task, the last first, from the one at offset on. More reports whether others follow. Callers
// check that the viewer may edit the task.
func (b *Boards) List(ctx context.Context, taskID int64, offset, limit int) (list []Joined, more bool, err error) {
	err = b.db.Read(ctx).Table("members m").Select("m.*, u.name as user_name, i.prefix, i.note").
		Joins("join users u on u.id = m.user_id").Joins("join invites i on i.id = m.invite_id").
		Where("m.task_id = ? and m.removed_at is null", taskID).Order("m.joined_at desc, m.user_id").Offset(offset).Limit(limit + 1).Scan(&list).Error
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	return list, more, db.ReadError(err, "members of task %d", taskID)
}

// Leave takes a members' board from the sight of a member who does not want it. Their entries stay. The code that let
// them in lets them in again, and does not count them twice.
func (b *Boards) Leave(ctx context.Context, actor accounts.User, task catalog.Task) error {
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		gone := tx.Model(&Member{}).Where("task_id = ? and user_id = ? and removed_at is null", task.ID, actor.ID).Update("removed_at", db.Now())
		if gone.Error == nil && gone.RowsAffected == 0 {
			return db.Errorf(db.NotFound, "You are not a member of %s.", task.Title)
		}
		if gone.Error != nil {
			return db.WriteError(gone.Error, "member %d", actor.ID)
		}
		return accounts.WriteAudit(tx, actor, "leave board", "task "+task.Slug, "")
	})
}

// Remove takes the task from a member's sight, also of one who left and could come back. Their entries stay on the
// boards. For the task's author and admins.
func (b *Boards) Remove(ctx context.Context, actor accounts.User, taskID, userID int64) error {
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := catalog.Editable(tx, actor, taskID)
		if err != nil {
			return err
		}
		now := db.Now()
		gone := tx.Model(&Member{}).Where("task_id = ? and user_id = ? and (removed_at is null or barred_at is null or barred_at < removed_at)", taskID, userID).
			Updates(map[string]any{"removed_at": now, "barred_at": now})
		if gone.Error == nil && gone.RowsAffected == 0 {
			return db.Errorf(db.NotFound, "Person %d is not a member of %s.", userID, task.Title)
		}
		if gone.Error != nil {
			return db.WriteError(gone.Error, "member %d", userID)
		}
		user, err := accounts.Load(tx, userID)
		if err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "remove member", "task "+task.Slug, user.Name)
	})
}
