package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Picture is somebody's picture from their sign-in provider, small and encoded by the site.
type Picture struct {
	UserID int64 `gorm:"primaryKey"`
	Digest string
	Data   []byte
}

// Picture returns the picture of a person that has this digest. An older one is NotFound.
func (s *Accounts) Picture(ctx context.Context, userID int64, digest string) ([]byte, error) {
	var p Picture
	err := s.db.Read(ctx).Where("user_id = ? and digest = ?", userID, digest).Take(&p).Error
	return p.Data, db.ReadError(err, "such picture")
}

// ClaimPicture returns the address at which a person's provider has their picture, for who fetches it now. It is NotFound
// when the person has none or wants none, and within a while after the last try: each one is a request to an address that
// somebody else chose.
func (s *Accounts) ClaimPicture(ctx context.Context, userID int64, while time.Duration) (address string, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var user User
		err := tx.Where("id = ? and avatar_url <> '' and not picture_off and blocked_at is null", userID).
			Where("picture_tried_at is null or picture_tried_at <= ?", db.Time(time.Now().Add(-while))).Take(&user).Error
		if err != nil {
			return db.ReadError(err, "picture of person %d to fetch", userID)
		}
		address = user.AvatarURL
		return db.WriteError(tx.Model(&user).UpdateColumn("picture_tried_at", db.Now()).Error, "person")
	})
	return address, err
}

// KeepPicture keeps what was fetched, if the person still wants the one at this address.
func (s *Accounts) KeepPicture(ctx context.Context, userID int64, address string, data []byte) error {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:8])
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&User{}).Where("id = ? and avatar_url = ? and not picture_off", userID, address).UpdateColumn("picture", digest)
		if res.Error != nil || res.RowsAffected == 0 {
			return db.WriteError(res.Error, "person")
		}
		return db.WriteError(tx.Save(&Picture{UserID: userID, Digest: digest, Data: data}).Error, "picture")
	})
}

// SetPictureOff removes a person's picture and keeps others from being fetched, or lets them be fetched again. Admins may
// remove somebody else's; its person may let it be fetched again.
func (s *Accounts) SetPictureOff(ctx context.Context, actor User, userID int64, off bool) error {
	if err := actor.Check(ChangePicture, Of{OwnerID: userID}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := forgetPicture(tx, userID); err != nil {
			return err
		}
		res := tx.Model(&User{}).Where("id = ?", userID).UpdateColumns(map[string]any{"picture": "", "picture_off": off})
		switch {
		case res.Error != nil:
			return db.WriteError(res.Error, "person")
		case res.RowsAffected == 0:
			return db.Errorf(db.NotFound, "There is no person %d.", userID)
		case actor.ID == userID:
			return nil
		}
		return WriteAudit(tx, actor, "remove picture", fmt.Sprintf("user %d", userID), "")
	})
}

func forgetPicture(tx *gorm.DB, userID int64) error {
	return db.WriteError(tx.Where("user_id = ?", userID).Delete(&Picture{}).Error, "picture")
}
