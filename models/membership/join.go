package membership

import (
	"context"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// InviteOffer lists the tasks that a person joins with an invite code.
type InviteOffer struct {
	Task            catalog.Task // the code's task
	AllTasksVisible bool         `gorm:"column:seen"` // the person can see all offered tasks already

	newlyVisibleTasks   []catalog.Task // tasks that the person does not see yet
	invite              Invite
	alreadyUsedByPerson bool // already counted as a use, because the person joined with it before
}

// OtherTaskCount returns the number of offered tasks except the one that the code belongs to.
func (o InviteOffer) OtherTaskCount() int {
	others := 0
	for _, task := range o.newlyVisibleTasks {
		if task.ID != o.Task.ID {
			others++
		}
	}
	return others
}

// PreviewJoin returns the tasks that a person would join with an invite code. The error is the reason why the code is
// not valid.
func (b *Memberships) PreviewJoin(ctx context.Context, userID int64, code string) (InviteOffer, error) {
	return readInviteOffer(b.db.Read(ctx), userID, code)
}

// Join makes a person a member of the code's task, and of other tasks with visibility "members" in the same event. It
// returns the code's task. If the person can see all of them already, it changes nothing and does not count as a use.
func (b *Memberships) Join(ctx context.Context, userID int64, code string) (task catalog.Task, err error) {
	if userID == 0 {
		return task, db.Errorf(db.Forbidden, "Sign in to join a board.")
	}
	err = b.db.Write(ctx, func(tx *gorm.DB) error {
		offer, err := readInviteOffer(tx, userID, code)
		if task = offer.Task; err != nil || offer.AllTasksVisible {
			return err
		}
		return offer.join(tx, userID)
	})
	if err != nil {
		return catalog.Task{}, err
	}
	return task, nil
}

// readInviteOffer reads the tasks that a person would join with an invite code.
func readInviteOffer(tx *gorm.DB, userID int64, code string) (o InviteOffer, err error) {
	var user accounts.User // the zero value is a visitor, who may see the offer
	if userID != 0 {
		if user, err = accounts.UserByID(tx, userID); err != nil {
			return o, err
		}
	}
	read := tx.Where("secret_hash = ?", db.HashSecret(strings.TrimSpace(code))).Limit(1).Find(&o.invite)
	if read.Error != nil {
		return o, db.ReadError(read.Error, "invite code")
	}
	if read.RowsAffected == 0 {
		return o, invalidCodeError()
	}
	if err := tx.Take(&o.Task, o.invite.TaskID).Error; err != nil {
		return o, db.ReadError(err, "task %d", o.invite.TaskID)
	}
	seen := o.Task.VisibleTo(user)
	if o.Task.Visibility != catalog.Members {
		if o.AllTasksVisible = seen; !seen {
			return InviteOffer{}, invalidCodeError()
		}
		return o, nil
	}
	var was []Member
	if err := tx.Where("user_id = ? and invite_id = ?", userID, o.invite.ID).Find(&was).Error; err != nil {
		return o, db.ReadError(err, "memberships of person %d", userID)
	}
	if o.alreadyUsedByPerson = len(was) > 0; o.alreadyUsedByPerson {
		o.invite.UseCount-- // this person's earlier use, so that they can join again
	}
	if !seen {
		if err := o.invite.personRefusal(tx, o.Task, userID); err != nil {
			return o, err
		}
		o.newlyVisibleTasks = []catalog.Task{o.Task}
	}
	if err := o.addTasksOfSameEvents(tx, user); err != nil {
		return o, err
	}
	o.AllTasksVisible = seen && len(o.newlyVisibleTasks) == 0
	return o, nil
}

// addTasksOfSameEvents adds tasks with visibility "members" of the same author that share an event, which has not
// ended, with the code's task.
func (o *InviteOffer) addTasksOfSameEvents(tx *gorm.DB, user accounts.User) error {
	var others []catalog.Task
	err := tx.Where("visibility = ? and owner_id = ? and id <> ?", catalog.Members, o.Task.OwnerID, o.Task.ID).
		Where(`id in (select t.task_id from event_tasks t join event_tasks own on own.event_id = t.event_id
			join events e on e.id = t.event_id where own.task_id = ? and e.ends_at > ?)`, o.Task.ID, db.Now()).
		Order("title, id").Find(&others).Error
	for _, task := range others {
		if !task.VisibleTo(user) && o.invite.personRefusal(tx, task, user.ID) == nil {
			o.newlyVisibleTasks = append(o.newlyVisibleTasks, task)
		}
	}
	return db.ReadError(err, "tasks of the event of task %d", o.Task.ID)
}

// personRefusal returns an error with the reason why the person cannot join the task with the code, or nil.
func (i Invite) personRefusal(tx *gorm.DB, task catalog.Task, userID int64) error {
	if over := i.RefusalAt(db.Now()); over != nil {
		return over
	}
	var was Member
	err := tx.Where("task_id = ? and user_id = ?", task.ID, userID).Limit(1).Find(&was).Error
	if err == nil && was.BarredAt != nil && !i.CreatedAt.After(*was.BarredAt) {
		return db.Errorf(db.Forbidden, "You were removed from this board, and the invite code is from before that. "+
			"Ask the author of the task for another.")
	}
	return db.ReadError(err, "member %d", userID)
}

// join makes a person a member of the offered tasks. The condition of the first update enforces the code's limit of
// uses even if transactions overlap.
func (o InviteOffer) join(tx *gorm.DB, userID int64) error {
	if !o.alreadyUsedByPerson {
		taken := tx.Model(&Invite{}).Where("id = ? and (most = 0 or used < most)", o.invite.ID).
			Update("used", gorm.Expr("used + 1"))
		if taken.Error != nil {
			return db.WriteError(taken.Error, "invite code %d", o.invite.ID)
		}
		if taken.RowsAffected == 0 {
			o.invite.UseCount = o.invite.MaxPeople
			return o.invite.RefusalAt(db.Now())
		}
	}
	again := clause.OnConflict{
		Columns:   []clause.Column{{Name: "task_id"}, {Name: "user_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"invite_id", "joined_at", "removed_at"}),
	}
	for _, task := range o.newlyVisibleTasks {
		member := Member{TaskID: task.ID, UserID: userID, InviteID: o.invite.ID, JoinedAt: db.Now()}
		if err := tx.Clauses(again).Create(&member).Error; err != nil {
			return db.WriteError(err, "member %d of task %d", userID, task.ID)
		}
	}
	return nil
}
