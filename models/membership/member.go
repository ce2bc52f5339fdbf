package membership

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// Member is a person who joined a task with an invite code.
type Member struct {
	TaskID    int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID    int64 `gorm:"primaryKey;autoIncrement:false"`
	InviteID  int64
	JoinedAt  time.Time
	RemovedAt *time.Time // when the person was removed or left; nil for a member
	BarredAt  *time.Time // time of the last removal: earlier codes do not admit them
}

// MemberRow is a member with data for the task's author.
type MemberRow struct {
	Member
	UserName         string
	InviteCodePrefix string `gorm:"column:prefix"` // first characters of the used code
	InviteNote       string `gorm:"column:note"`   // purpose of the used code
}

// List lists the members of a task, latest first, from offset on. more reports whether others follow. The caller must
// check that the viewer may edit the task.
func (b *Memberships) List(
	ctx context.Context, taskID int64, offset, limit int,
) (list []MemberRow, more bool, err error) {
	err = b.db.Read(ctx).Table("members m").Select("m.*, u.name as user_name, i.prefix, i.note").
		Joins("join users u on u.id = m.user_id").Joins("join invites i on i.id = m.invite_id").
		Where("m.task_id = ? and m.removed_at is null", taskID).Order("m.joined_at desc, m.user_id").Offset(offset).Limit(limit + 1).Scan(&list).Error
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	return list, more, db.ReadError(err, "members of task %d", taskID)
}

// Leave ends the actor's own membership. Their entries stay. They can join again with the same code, which does not
// count as another use.
func (b *Memberships) Leave(ctx context.Context, actor accounts.User, task catalog.Task) error {
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

// Remove ends another person's membership, and prevents them from joining again with the same code. Their entries stay.
// The actor must be the task's author or an admin.
func (b *Memberships) Remove(ctx context.Context, actor accounts.User, taskID, userID int64) error {
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := catalog.EditableTask(tx, actor, taskID)
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
		user, err := accounts.UserByID(tx, userID)
		if err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "remove member", "task "+task.Slug, user.Name)
	})
}
