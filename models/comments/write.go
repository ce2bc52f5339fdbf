package comments

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/quota"
)

const (
	// MaxCommentLength and MaxWriteupLength limit the text of a comment and of a write-up, in characters.
	MaxCommentLength, MaxWriteupLength = 4_000, 20_000

	maxCommentsPerHour   = 20    // comments of one person, including removed ones
	maxCommentsPerThread = 2_000 // comments of one thread
)

// Add adds a comment.
func (c *Comments) Add(ctx context.Context, actor accounts.User, about Thread, body string) (made Comment, err error) {
	if body, err = cleanBody(body, MaxCommentLength); err != nil {
		return made, err
	}
	err = c.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := readWritableThread(tx, actor, about)
		if err != nil {
			return err
		}
		if err := t.checkLimits(tx, actor, body); err != nil {
			return err
		}
		made = t.newComment(actor, body)
		if err := tx.Create(&made).Error; err != nil {
			return db.WriteError(err, "comment")
		}
		if err := c.hooks.OnAdded(tx, made.ID); err != nil {
			return err
		}
		return t.updateCommentCount(tx)
	})
	return made, err
}

// SetWriteup adds or replaces the write-up of the author, which is shown above the comments.
func (c *Comments) SetWriteup(
	ctx context.Context, actor accounts.User, about Thread, body string,
) (made Comment, err error) {
	if body, err = cleanBody(body, MaxWriteupLength); err != nil {
		return made, err
	}
	err = c.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := readWritableThread(tx, actor, about)
		if err != nil {
			return err
		}
		if t.AuthorID() != actor.ID {
			return db.Errorf(db.Forbidden, "Only the author writes the write-up.")
		}
		res := t.commentsOfThread(tx).Where("writeup and removed_at is null").Limit(1).Find(&made)
		switch {
		case res.Error != nil:
			return db.ReadError(res.Error, "write-up")
		case res.RowsAffected > 0:
			at := db.Now()
			made.Body, made.EditedAt = body, &at
			return db.WriteError(tx.Save(&made).Error, "write-up")
		}
		if err := t.checkLimits(tx, actor, body); err != nil {
			return err
		}
		made = t.newComment(actor, body)
		made.IsWriteup = true
		if err := tx.Create(&made).Error; err != nil {
			return db.WriteError(err, "write-up")
		}
		if err := c.hooks.OnAdded(tx, made.ID); err != nil {
			return err
		}
		return t.updateCommentCount(tx)
	})
	return made, err
}

// readWritableThread reads the thread again, and returns an error if the actor may not write there now.
func readWritableThread(tx *gorm.DB, actor accounts.User, about Thread) (t Thread, err error) {
	if t, err = about.reload(tx); err != nil {
		return t, err
	}
	if err := t.CheckReadable(actor, db.NormalizeTime(tx.NowFunc())); err != nil {
		return t, err
	}
	return t, writeRefusal(tx, actor, t)
}

func (t Thread) newComment(actor accounts.User, body string) Comment {
	made := Comment{TaskID: t.Task.ID, UserID: actor.ID, Body: body, CreatedAt: db.Now()}
	if t.Submission != nil {
		made.SubmissionID = &t.Submission.ID
	}
	return made
}

func cleanBody(body string, most int) (string, error) {
	body = strings.TrimSpace(db.SanitizeText(strings.ReplaceAll(body, "\r\n", "\n")))
	switch n := len([]rune(body)); {
	case accounts.CleanName(body) == "":
		return "", db.Errorf(db.Invalid, "Write something.")
	case n > most:
		return "", db.Errorf(db.Invalid, "The text has %d characters; at most %d are kept.", n, most)
	}
	return body, nil
}

// checkLimits returns an error for a comment beyond the limits, or one that equals the person's previous comment.
// Admins have no hourly limit.
func (t Thread) checkLimits(tx *gorm.DB, actor accounts.User, body string) error {
	var there int64
	if err := t.commentsOfThread(tx.Model(&Comment{})).Where("removed_at is null").Count(&there).Error; err != nil {
		return db.ReadError(err, "comments")
	}
	if there >= maxCommentsPerThread && !t.ModeratedBy(actor) {
		return db.Errorf(db.Conflict, "This list has %d comments, the maximum.", there)
	}
	err := t.commentsOfThread(tx.Model(&Comment{})).Where("user_id = ? and body = ? and removed_at is null", actor.ID, body).Count(&there).Error
	if err != nil {
		return db.ReadError(err, "comments")
	}
	if there > 0 {
		return db.Errorf(db.Conflict, "You have already posted this comment here.")
	}
	return checkRate(tx, actor, &Comment{}, maxCommentsPerHour, "comments")
}

// checkRate returns an error if the actor has created more rows of a table within an hour than allowed.
func checkRate(tx *gorm.DB, actor accounts.User, of any, most int, what string) error {
	if actor.IsAdmin() {
		return nil
	}
	rate := quota.RateLimit{
		Max:         most,
		Window:      time.Hour,
		RefusalText: fmt.Sprintf("At most %d %s an hour are accepted.", most, what),
	}
	return rate.Check(tx.Model(of).Where("user_id = ?", actor.ID), "created_at")
}

// Remove deletes the text of the actor's own comment. The row stays, because it counts for the limits.
func (c *Comments) Remove(ctx context.Context, actor accounts.User, id int64) (t Thread, err error) {
	err = c.db.Write(ctx, func(tx *gorm.DB) error {
		var found CommentRow
		if found, t, err = findComment(tx, actor, id); err != nil {
			return err
		}
		if !actor.SignedIn() || found.UserID != actor.ID {
			return db.Errorf(db.Forbidden, "Only the person who wrote a comment may delete it.")
		}
		err := tx.Model(&Comment{}).Where("id = ?", id).Updates(map[string]any{"body": "", "removed_at": db.Now()}).Error
		if err == nil {
			err = closeReports(tx, actor.ID, id, "deleted by its author")
		}
		if err == nil {
			err = c.hooks.OnRemovedOrHidden(tx, id)
		}
		if err != nil {
			return db.WriteError(err, "comment %d", id)
		}
		return t.updateCommentCount(tx)
	})
	return t, err
}
