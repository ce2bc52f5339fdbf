package inbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// DueMails lists mails that are due: the first mail of each person, then the second of each, and so on.
func (x *Inbox) DueMails(ctx context.Context, at time.Time, limit int) (list []Mail, err error) {
	err = x.db.Read(ctx).Raw(`select * from (select m.*, row_number() over (partition by m.user_id order by m.id) as place from mails m where m.next_at <= ?) due
		order by place, id limit ?`, db.NormalizeTime(at), limit).Scan(&list).Error
	return list, db.ReadError(err, "mails that are due")
}

// ClaimMail postpones the next try of a mail until a time, so that no other process sends it. It returns false if
// another process has claimed it.
func (x *Inbox) ClaimMail(ctx context.Context, m Mail, until time.Time) (bool, error) {
	res := x.db.WriteStatement(ctx).Model(&Mail{}).Where("id = ? and tries = ? and next_at = ?", m.ID, m.Tries, db.NormalizeTime(*m.NextTryAt)).Update("next_at", db.NormalizeTime(until))
	return res.RowsAffected == 1, db.WriteError(res.Error, "mail %d", m.ID)
}

// RecordMailResult stores the result of a try. An empty problem means success. After a permanent problem the mail is
// not tried again.
func (x *Inbox) RecordMailResult(ctx context.Context, m Mail, at time.Time, problem string, forGood bool) error {
	row := map[string]any{"tries": m.Tries + 1, "error": db.CutText(db.SanitizeText(problem), 300), "next_at": nil}
	switch {
	case problem == "":
		// the body is deleted, because it may contain a secret link
		row["sent_at"], row["body"] = db.NormalizeTime(at), ""
	case !forGood && m.Tries < len(mailRetryDelays):
		row["next_at"] = db.NormalizeTime(at.Add(mailRetryDelays[m.Tries]))
	}
	return db.WriteError(x.db.WriteStatement(ctx).Model(&Mail{}).Where("id = ?", m.ID).Updates(row).Error, "mail %d",
		m.ID)
}

// MailQueueStatus is the state of the e-mail queue, for admins.
type MailQueueStatus struct {
	Waiting, Sent, Failed int64  // numbers of mails in the last 30 days
	FailingMails          []Mail `gorm:"-"`
}

// MailQueue returns the state of the e-mail queue. Only admins may call it.
func (x *Inbox) MailQueue(ctx context.Context, actor accounts.User) (p MailQueueStatus, err error) {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return p, db.Errorf(db.Forbidden, "Only an admin may read how e-mails are sent.")
	}
	err = x.db.Read(ctx).Model(&Mail{}).Select(`count(case when next_at is not null then 1 end) as waiting, count(case when sent_at is not null then 1 end) as sent,
		count(case when next_at is null and sent_at is null then 1 end) as failed`).Scan(&p).Error
	if err == nil {
		err = x.db.Read(ctx).Where("error <> '' and sent_at is null").Order("id desc").Limit(50).Find(&p.FailingMails).Error
	}
	return p, db.ReadError(err, "mails")
}

// unsubscribeKeySetting is the setting with the key that signs unsubscribe tokens.
const unsubscribeKeySetting = "inbox.key"

// unsubscribeKey reads the key that signs unsubscribe tokens. It creates the key at the first call.
func (x *Inbox) unsubscribeKey(ctx context.Context) (key string, err error) {
	if key, err = x.db.Setting(ctx, unsubscribeKeySetting); err != nil || key != "" {
		return key, err
	}
	return key, x.db.Write(ctx, func(tx *gorm.DB) error {
		var row []db.Setting
		if err := tx.Where("key = ?", unsubscribeKeySetting).Limit(1).Find(&row).Error; err != nil || len(row) > 0 {
			if len(row) > 0 {
				key = row[0].Value
			}
			return db.ReadError(err, "setting %s", unsubscribeKeySetting)
		}
		key = db.NewSecret()
		return db.WriteError(tx.Create(&db.Setting{Key: unsubscribeKeySetting, Value: key}).Error, "setting %s", unsubscribeKeySetting)
	})
}

// UnsubscribeToken returns a token that turns off e-mails to a person at an address, without a sign-in.
func (x *Inbox) UnsubscribeToken(ctx context.Context, userID int64, address string) (string, error) {
	key, err := x.unsubscribeKey(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "mail off\x00%d\x00%s", userID, address)
	return fmt.Sprintf("%d.%s", userID, base64.RawURLEncoding.EncodeToString(mac.Sum(nil))), nil
}

// Unsubscribe turns off all e-mails of the person in a token. It returns NotFound for every other text, including a
// token for a former address.
func (x *Inbox) Unsubscribe(ctx context.Context, token string) error {
	number, _, _ := strings.Cut(token, ".")
	id, err := strconv.ParseInt(number, 10, 64)
	unknown := db.Errorf(db.NotFound, "This link is incomplete, or for an address that is no longer used. To turn off e-mails, sign in and open your inbox.")
	if err != nil {
		return unknown
	}
	user, err := accounts.UserByID(x.db.Read(ctx), id)
	if err != nil {
		return replaceNotFound(err, unknown)
	}
	choices, err := x.Choices(ctx, id)
	if err != nil {
		return err
	}
	want, err := x.UnsubscribeToken(ctx, id, choices.MailAddress(user.Email))
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(want), []byte(token)) {
		return unknown
	}
	return x.db.Write(ctx, func(tx *gorm.DB) error {
		choices, err := readChoices(tx, id)
		if err != nil {
			return err
		}
		choices.MailKinds = []NoticeKind{}
		if err := tx.Save(&choices).Error; err != nil {
			return db.WriteError(err, "choices of person %d", id)
		}
		return db.WriteError(tx.Where("user_id = ? and next_at is not null and kind <> ?", id, ConfirmAddressMail).Delete(&Mail{}).Error, "mails of person %d", id)
	})
}

func replaceNotFound(err, missing error) error {
	if db.KindOf(err) == db.NotFound {
		return missing
	}
	return err
}

// RecordOutage stores that mails cannot be sent because the mail server is not usable.
func (x *Inbox) RecordOutage(ctx context.Context, m Mail, why string) error {
	err := x.db.WriteStatement(ctx).Model(&Mail{}).Where("id = ? and sent_at is null", m.ID).Update("error", db.CutText(db.SanitizeText(why), 300)).Error
	return db.WriteError(err, "mail %d", m.ID)
}

// RemoveCommentNotices deletes the notices of a comment that was hidden or deleted. They would otherwise count as
// unread although no list shows them.
func RemoveCommentNotices(tx *gorm.DB, commentID int64) error {
	return db.WriteError(tx.Where("comment_id = ?", commentID).Delete(&Notice{}).Error, "notices of comment %d", commentID)
}
