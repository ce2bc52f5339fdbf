package fleet

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Pause keeps waiting runs of a device from starting. Running work continues.
type Pause struct {
	PausedBy string    `json:"by"`
	Since    time.Time `json:"since"`
	Reason   string    `json:"why,omitempty"` // a sentence for visitors, or empty
}

// maxReasonLength limits the reason for a pause, in characters.
const maxReasonLength = 300

// PauseKeyPrefix is the prefix of the settings that store pauses. The device's name follows.
const PauseKeyPrefix = "paused."

// PauseDevice pauses the queue of a device until ResumeDevice. why is a sentence for visitors; it may be empty. Only
// admins may call it.
func (s *Fleet) PauseDevice(ctx context.Context, actor accounts.User, device, why string) error {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return err
	}
	if !db.IsValidName(device) {
		return db.Errorf(db.Invalid, "%q is not a valid device name.", device)
	}
	why = strings.TrimSpace(db.SanitizeText(why))
	if len(why) > maxReasonLength {
		return db.Errorf(db.Invalid, "Give a reason of up to %d characters.", maxReasonLength)
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := db.PutJSONSetting(tx, PauseKeyPrefix+device,
			Pause{PausedBy: actor.Name, Since: db.Now(), Reason: why}); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "pause device", "device "+device, why)
	})
}

// ResumeDevice ends the pause of a device. Only admins may call it.
func (s *Fleet) ResumeDevice(ctx context.Context, actor accounts.User, device string) error {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if was, err := db.DeleteSetting(tx, PauseKeyPrefix+device); err != nil || !was {
			return err
		}
		return accounts.WriteAudit(tx, actor, "resume device", "device "+device, "")
	})
}

// Pauses returns the pauses by device.
func (s *Fleet) Pauses(ctx context.Context) (map[string]Pause, error) {
	return db.ReadJSONSettings[Pause](s.db.Read(ctx).Where("key like ?", PauseKeyPrefix+"%"), PauseKeyPrefix)
}
