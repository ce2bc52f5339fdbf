package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Pause says that no waiting run begins on a device for now. What a worker has already goes on.
type Pause struct {
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// pauseKey begins the settings that hold pauses; the device's name follows.
const pauseKey = "paused."

// PauseDevice holds back the queue of a device until ResumeDevice. Admins only.
func (s *Fleet) PauseDevice(ctx context.Context, actor accounts.User, device string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	if !db.IsName(device) {
		return db.Errorf(db.Invalid, "%q is not a valid device name.", device)
	}
	pause, err := json.Marshal(Pause{By: actor.Name, Since: db.Now()})
	if err != nil {
		return fmt.Errorf("writing the pause of %s: %w", device, err)
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		row := db.Setting{Key: pauseKey + device, Value: string(pause)}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return db.WriteError(err, "pause of %s", device)
		}
		return accounts.WriteAudit(tx, actor, "pause device", "device "+device, "")
	})
}

// ResumeDevice ends the pause of a device, if there is one. Admins only.
func (s *Fleet) ResumeDevice(ctx context.Context, actor accounts.User, device string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Where("key = ?", pauseKey+device).Delete(&db.Setting{})
		if res.Error != nil || res.RowsAffected == 0 {
			return db.WriteError(res.Error, "end of the pause of %s", device)
		}
		return accounts.WriteAudit(tx, actor, "resume device", "device "+device, "")
	})
}

// Pauses returns the paused devices.
func (s *Fleet) Pauses(ctx context.Context) (map[string]Pause, error) {
	var rows []db.Setting
	if err := s.db.Read(ctx).Where("key like ?", pauseKey+"%").Find(&rows).Error; err != nil {
		return nil, db.ReadError(err, "paused devices")
	}
	pauses := make(map[string]Pause, len(rows))
	for _, row := range rows {
		var pause Pause
		if err := json.Unmarshal([]byte(row.Value), &pause); err != nil {
			return nil, fmt.Errorf("reading setting %s: %w", row.Key, err)
		}
		pauses[strings.TrimPrefix(row.Key, pauseKey)] = pause
	}
	return pauses, nil
}
