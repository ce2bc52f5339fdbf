package models

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Pause says that no waiting run begins on a device for now. What a worker has already goes on.
type Pause struct {
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// pauseKey begins the settings that hold pauses; the device's name follows.
const pauseKey = "paused."

// PauseDevice holds back the queue of a device until ResumeDevice. Admins only.
func (s *Store) PauseDevice(ctx context.Context, actor User, device string) error {
	switch {
	case !actor.IsAdmin():
		return Errorf(Forbidden, "Only an admin may pause a device.")
	case !validDevice(device):
		return Errorf(Invalid, "%q is no name of a device.", device)
	}
	pause, err := json.Marshal(Pause{By: actor.Name, Since: now()})
	if err != nil {
		return fmt.Errorf("writing the pause of %s: %w", device, err)
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		row := Setting{Key: pauseKey + device, Value: string(pause)}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return saving(err, "pause of %s", device)
		}
		return audit(tx, actor, "pause device", "device "+device, "")
	})
}

// ResumeDevice ends the pause of a device, if there is one. Admins only.
func (s *Store) ResumeDevice(ctx context.Context, actor User, device string) error {
	if !actor.IsAdmin() {
		return Errorf(Forbidden, "Only an admin may resume a device.")
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		res := tx.Where("key = ?", pauseKey+device).Delete(&Setting{})
		if res.Error != nil || res.RowsAffected == 0 {
			return saving(res.Error, "end of the pause of %s", device)
		}
		return audit(tx, actor, "resume device", "device "+device, "")
	})
}

// Pauses returns the paused devices.
func (s *Store) Pauses(ctx context.Context) (map[string]Pause, error) {
	var rows []Setting
	if err := s.read(ctx).Where("key like ?", pauseKey+"%").Find(&rows).Error; err != nil {
		return nil, lookup(err, "paused devices")
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
