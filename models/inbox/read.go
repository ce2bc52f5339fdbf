package inbox

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

const (
	noticeRetention     = 90 * 24 * time.Hour
	maxNoticesPerPerson = 200 // notices of one person
)

// Inbox reads and stores notices in one database.
type Inbox struct {
	db        *db.DB
	siteURL   string // URL of the site, for links in mails
	sendsMail bool   // the site sends e-mail
}

// New returns the notices in a database.
func New(database *db.DB, site string, mails bool) *Inbox { return &Inbox{database, site, mails} }

// SendsMail reports whether the site sends e-mail.
func (x *Inbox) SendsMail() bool { return x.sendsMail }

// NoticeChoices has a person's settings for notices.
type NoticeChoices struct {
	UserID        int64        `gorm:"primaryKey;autoIncrement:false"`
	OffKinds      []NoticeKind `gorm:"serializer:json"`
	MailKinds     []NoticeKind `gorm:"serializer:json"` // kinds that also come by e-mail
	Address       string       // confirmed address; empty for that of the sign-in
	NewAddress    string       // address to be confirmed
	CodeHash      string       // hash of the code that was sent there
	CodeExpiresAt *time.Time   `gorm:"column:code_until"` // expiry of the code
}

// TableName returns the table of choices.
func (NoticeChoices) TableName() string { return "inbox_choices" }

// IsKindOff reports whether the person has turned off notices of a kind.
func (c NoticeChoices) IsKindOff(k NoticeKind) bool { return slices.Contains(c.OffKinds, k) }

// IsMailed reports whether notices of a kind are also sent by e-mail.
func (c NoticeChoices) IsMailed(k NoticeKind) bool { return slices.Contains(c.MailKinds, k) }

// noticesQuery returns a query for a person's notices with the names in their texts. It omits notices about tasks that
// the person may not see now, and about hidden comments.
func noticesQuery(q *gorm.DB, user accounts.User) *gorm.DB {
	q = q.Table("notices n").Select("n.*, coalesce(a.name, '') as actor_name, t.slug as task_slug, t.title as task_title, t.deadline").
		Joins("join tasks t on t.id = n.task_id").Joins("left join users a on a.id = n.actor_id").
		Where("n.user_id = ?", user.ID).
		Where("n.comment_id is null or n.comment_id in (select c.id from comments c where c.hidden_at is null and c.removed_at is null)")
	return catalog.RestrictToVisible(q, user)
}

// List lists a person's notices with IDs below before (0 means all), newest first.
func (x *Inbox) List(ctx context.Context, user accounts.User, before int64, limit int) (list []NamedNotice, err error) {
	if !user.SignedIn() {
		return nil, db.Errorf(db.Forbidden, "Sign in to read your inbox.")
	}
	q := noticesQuery(x.db.Read(ctx), user)
	if before > 0 {
		q = q.Where("n.id < ?", before)
	}
	err = q.Order("n.id desc").Limit(limit).Scan(&list).Error
	return list, db.ReadError(err, "notices of person %d", user.ID)
}

// MarkRead marks all notices up to an ID as read.
func (x *Inbox) MarkRead(ctx context.Context, user accounts.User, upTo int64) error {
	err := x.db.WriteStatement(ctx).Model(&accounts.User{}).Where("id = ? and inbox_read < ?", user.ID, upTo).
		Where("? <= (select coalesce(max(n.id), 0) from notices n where n.user_id = ?)", upTo, user.ID).UpdateColumn("inbox_read", upTo).Error
	return db.WriteError(err, "person %d", user.ID)
}

// MarkAllRead marks all notices up to a time as read, including those that lists omit.
func (x *Inbox) MarkAllRead(ctx context.Context, user accounts.User, at time.Time) error {
	err := x.db.WriteStatement(ctx).Model(&accounts.User{}).Where("id = ?", user.ID).
		UpdateColumn("inbox_read", gorm.Expr("(select coalesce(max(n.id), users.inbox_read) from notices n where n.user_id = users.id and n.created_at <= ?)", db.NormalizeTime(at))).Error
	return db.WriteError(err, "person %d", user.ID)
}

// Choices reads a person's settings.
func (x *Inbox) Choices(ctx context.Context, userID int64) (c NoticeChoices, err error) {
	err = x.db.Read(ctx).Where("user_id = ?", userID).Limit(1).Find(&c).Error
	c.UserID = userID
	return c, db.ReadError(err, "choices of person %d", userID)
}

// SetChoices stores the kinds of notices that a person receives, and those that are also sent by e-mail.
func (x *Inbox) SetChoices(ctx context.Context, user accounts.User, on, byMail []NoticeKind) error {
	return x.db.Write(ctx, func(tx *gorm.DB) error {
		c, err := readChoices(tx, user.ID)
		if err != nil {
			return err
		}
		c.OffKinds, c.MailKinds = []NoticeKind{}, []NoticeKind{}
		for _, k := range AllNoticeKinds() {
			switch {
			case !slices.Contains(on, k):
				c.OffKinds = append(c.OffKinds, k)
			case slices.Contains(byMail, k):
				c.MailKinds = append(c.MailKinds, k)
			}
		}
		return db.WriteError(tx.Save(&c).Error, "choices of person %d", user.ID)
	})
}

// Sweep deletes old notices, and the oldest ones of people with too many.
func (x *Inbox) Sweep(ctx context.Context, at time.Time) error {
	if err := x.db.WriteStatement(ctx).Where("created_at < ?", db.NormalizeTime(at.Add(-noticeRetention))).Delete(&Notice{}).Error; err != nil {
		return db.WriteError(err, "old notices")
	}
	if err := x.db.WriteStatement(ctx).Where("created_at < ?", db.NormalizeTime(at.Add(-mailRetention))).Delete(&Mail{}).Error; err != nil {
		return db.WriteError(err, "old mails")
	}
	err := x.db.WriteStatement(ctx).Exec(`delete from notices where id in (select id from (
			select id, row_number() over (partition by user_id order by id desc) as place from notices) kept where place > ?)`, maxNoticesPerPerson).Error
	return db.WriteError(err, "notices beyond the newest")
}
