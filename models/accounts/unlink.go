package accounts

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Unlink takes one of a person's ways to sign in away, and ends all sessions but the one to keep: who
// holds the account at that provider may have begun any of them. The last way stays: without it nobody
// could get in.
func (s *Accounts) Unlink(ctx context.Context, userID, id, keep int64) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		var ways int64
		if err := tx.Model(&Identity{}).Where("user_id = ?", userID).Count(&ways).Error; err != nil {
			return fmt.Errorf("counting the ways to sign in: %w", err)
		}
		res := tx.Where("user_id = ? and id = ?", userID, id).Delete(&Identity{})
		switch {
		case res.Error != nil:
			return db.WriteError(res.Error, "identity")
		case res.RowsAffected == 0:
			return db.Errorf(db.NotFound, "There is no such way to sign in.")
		case ways == 1:
			return db.Errorf(db.Conflict, "This is the only way into the account. Add another before you remove it.")
		}
		return endOtherSessions(tx, userID, keep)
	})
}
