package membership

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// Offer is what a code opens to a person.
type Offer struct {
	Task   catalog.Task
	Seen   bool // the person sees the task already
	invite Invite
}

// Look says what a code would open to a person, and changes nothing. An error says why it opens nothing.
func (b *Boards) Look(ctx context.Context, userID int64, code string) (Offer, error) {
	return offered(b.db.Read(ctx), userID, code)
}

// Join makes a person a member of the task that a code is for, and returns the task. Who sees the task already joins nothing,
// and uses up nothing.
func (b *Boards) Join(ctx context.Context, userID int64, code string) (task catalog.Task, err error) {
	if userID == 0 {
		return task, db.Errorf(db.Forbidden, "Sign in to join a board.")
	}
	err = b.db.Write(ctx, func(tx *gorm.DB) error {
		offer, err := offered(tx, userID, code)
		if task = offer.Task; err != nil || offer.Seen {
			return err
		}
		return offer.invite.use(tx, userID)
	})
	if err != nil {
		return catalog.Task{}, err
	}
	return task, nil
}

// offered reads what a code opens to a person now.
func offered(tx *gorm.DB, userID int64, code string) (o Offer, err error) {
	var user accounts.User // a visitor may look
	if userID != 0 {
		if user, err = accounts.Load(tx, userID); err != nil {
			return o, err
		}
	}
	read := tx.Where("secret_hash = ?", db.HashSecret(strings.TrimSpace(code))).Limit(1).Find(&o.invite)
	if read.Error != nil {
		return o, db.ReadError(read.Error, "invite code")
	}
	if read.RowsAffected == 0 {
		return o, unknown()
	}
	if err := tx.Take(&o.Task, o.invite.TaskID).Error; err != nil {
		return o, db.ReadError(err, "task %d", o.invite.TaskID)
	}
	switch o.Seen = o.Task.VisibleTo(user); {
	case o.Seen:
		return o, nil
	case o.Task.Visibility != catalog.Members:
		return Offer{}, unknown()
	}
	err = o.invite.lets(tx, userID, db.Now())
	return o, err
}

// lets says why the code does not let a person in; nil: it does.
func (i Invite) lets(tx *gorm.DB, userID int64, at time.Time) error {
	var was Member
	err := tx.Where("task_id = ? and user_id = ?", i.TaskID, userID).Limit(1).Find(&was).Error
	if was.InviteID == i.ID {
		i.Used-- // by this person: it lets them come back
	}
	if over := i.Over(at); over != nil {
		return over
	}
	if err == nil && was.BarredAt != nil && !i.CreatedAt.After(*was.BarredAt) {
		return db.Errorf(db.Forbidden, "You were removed from this board, and the invite code is from before that. Ask the author of the task for another.")
	}
	return db.ReadError(err, "member %d", userID)
}

// use lets a person in. The condition is the limit: transactions take turns, and it holds without that, too.
func (i Invite) use(tx *gorm.DB, userID int64) error {
	member := Member{TaskID: i.TaskID, UserID: userID, InviteID: i.ID, JoinedAt: db.Now()}
	back := tx.Model(&Member{}).Where("task_id = ? and user_id = ? and invite_id = ?", i.TaskID, userID, i.ID).
		Updates(map[string]any{"joined_at": member.JoinedAt, "removed_at": nil})
	if back.Error != nil || back.RowsAffected > 0 {
		return db.WriteError(back.Error, "member %d", userID)
	}
	taken := tx.Model(&Invite{}).Where("id = ? and (most = 0 or used < most)", i.ID).Update("used", gorm.Expr("used + 1"))
	if taken.Error != nil {
		return db.WriteError(taken.Error, "invite code %d", i.ID)
	}
	if taken.RowsAffected == 0 {
		i.Used = i.Most
		return i.Over(db.Now())
	}
	again := clause.OnConflict{Columns: []clause.Column{{Name: "task_id"}, {Name: "user_id"}}, DoUpdates: clause.AssignmentColumns([]string{"invite_id", "joined_at", "removed_at"})}
	err := tx.Clauses(again).Create(&member).Error
	return db.WriteError(err, "member %d", userID)
}
