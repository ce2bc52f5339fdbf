package membership

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

const (
	inviteCodePrefix      = "wbi_" // lets secret scanners find a leaked code
	shownCodePrefixLength = len(inviteCodePrefix) + 6

	maxPeoplePerInvite  = 10_000 // upper limit of Invite.MaxPeople
	maxInviteLifetime   = 366 * 24 * time.Hour
	maxInviteNoteLength = 120
	maxValidInvites     = 200 // limit of a task's valid codes
)

// Memberships reads and stores members of tasks and invite codes in one database.
type Memberships struct{ db *db.DB }

// New returns the members and invite codes in a database.
func New(database *db.DB) *Memberships { return &Memberships{db: database} }

// Invite is an invite code of a task. The database stores its hash and its first characters.
type Invite struct {
	ID         int64
	TaskID     int64
	Note       string // purpose of the code
	CodePrefix string `gorm:"column:prefix"`
	SecretHash string
	MaxPeople  int `gorm:"column:most"` // limit of people; 0 for no limit
	UseCount   int `gorm:"column:used"` // number of people who have joined with it
	CreatedBy  int64
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil for never
	RevokedAt  *time.Time
}

// NewInvite describes an invite code to create.
type NewInvite struct {
	Note      string
	MaxPeople int           // 0 for no limit
	Lifetime  time.Duration // 0 for no end
}

func (n NewInvite) check() error {
	switch {
	case n.MaxPeople < 0 || n.MaxPeople > maxPeoplePerInvite:
		return db.Errorf(db.Invalid, "A code lets in 1 to %d people, or any number with 0; not %d.", maxPeoplePerInvite, n.MaxPeople)
	case n.Lifetime < 0 || n.Lifetime > maxInviteLifetime:
		return db.Errorf(db.Invalid, "A code is valid for at most 366 days, or without end with 0.")
	case len([]rune(n.Note)) > maxInviteNoteLength:
		return db.Errorf(db.Invalid, "The note of a code has at most %d characters.", maxInviteNoteLength)
	}
	return nil
}

// RefusalAt returns an error with the reason why the code is not valid at a time, or nil.
func (i Invite) RefusalAt(at time.Time) error {
	switch {
	case i.RevokedAt != nil:
		return invalidCodeError()
	case i.ExpiresAt != nil && !at.Before(*i.ExpiresAt):
		return db.Errorf(db.Forbidden, "This invite code expired on %s UTC. Ask the author of the task for another.", i.ExpiresAt.Format("2006-01-02 15:04"))
	case i.MaxPeople > 0 && i.UseCount >= i.MaxPeople:
		return db.Errorf(db.Forbidden, "This invite code is used up. Ask the author of the task for another.")
	}
	return nil
}

// invalidCodeError returns the error for an invalid code, which does not reveal whether the code was revoked or never
// existed.
func invalidCodeError() error {
	return db.Errorf(db.NotFound, "This invite code is not valid: it is mistyped, or was revoked. Ask the author of the task for another.")
}

// CreateInvite creates an invite code for a task and returns it. Only a hash is stored. The actor must be the task's
// author or an admin.
func (b *Memberships) CreateInvite(
	ctx context.Context, actor accounts.User, taskID int64, n NewInvite,
) (code string, invite Invite, err error) {
	n.Note = db.SanitizeText(n.Note)
	if err := n.check(); err != nil {
		return "", invite, err
	}
	code = inviteCodePrefix + db.NewSecret()
	invite = Invite{
		TaskID: taskID, Note: n.Note, CodePrefix: code[:shownCodePrefixLength], SecretHash: db.HashSecret(code),
		MaxPeople: n.MaxPeople, CreatedBy: actor.ID, CreatedAt: db.Now(),
	}
	if n.Lifetime > 0 {
		end := db.NormalizeTime(invite.CreatedAt.Add(n.Lifetime))
		invite.ExpiresAt = &end
	}
	err = b.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := catalog.EditableTask(tx, actor, taskID)
		if err != nil {
			return err
		}
		var have int64
		if err := tx.Model(&Invite{}).Where("task_id = ? and revoked_at is null", taskID).Count(&have).Error; err != nil {
			return db.ReadError(err, "invite codes")
		}
		if have >= maxValidInvites {
			return db.Errorf(db.Conflict, "The task has %d invite codes, the maximum. Revoke one that is no longer needed.", have)
		}
		if err := tx.Create(&invite).Error; err != nil {
			return db.WriteError(err, "invite code")
		}
		return accounts.WriteAudit(tx, actor, "create invite code", "task "+task.Slug, invite.auditText())
	})
	return code, invite, err
}

// auditText describes the code in the audit log.
func (i Invite) auditText() string {
	if i.Note == "" {
		return i.CodePrefix
	}
	return i.CodePrefix + ": " + i.Note
}

// RevokeInvite revokes an invite code. People who joined with it stay members. The actor must be the task's author or
// an admin.
func (b *Memberships) RevokeInvite(ctx context.Context, actor accounts.User, taskID, id int64) error {
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := catalog.EditableTask(tx, actor, taskID)
		if err != nil {
			return err
		}
		var invite Invite
		if err := tx.Where("id = ? and task_id = ? and revoked_at is null", id, taskID).Take(&invite).Error; err != nil {
			return db.ReadError(err, "invite code %d", id)
		}
		if err := tx.Model(&invite).Update("revoked_at", db.Now()).Error; err != nil {
			return db.WriteError(err, "invite code %d", id)
		}
		return accounts.WriteAudit(tx, actor, "revoke invite code", "task "+task.Slug, invite.auditText())
	})
}

// Invites lists the invite codes of a task that are not revoked, newest first. The caller must check that the viewer
// may edit the task.
func (b *Memberships) Invites(ctx context.Context, taskID int64) (list []Invite, err error) {
	err = b.db.Read(ctx).Where("task_id = ? and revoked_at is null", taskID).Order("id desc").Find(&list).Error
	return list, db.ReadError(err, "invite codes of task %d", taskID)
}
