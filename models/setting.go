package models

import (
	"context"
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Setting is one value that the site itself remembers between starts.
type Setting struct {
	Key   string `gorm:"primaryKey"`
	Value string
}

// Setting returns the value under key, or "" if there is none.
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	var row Setting
	err := s.read(ctx).Where("key = ?", key).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", nil
	}
	return row.Value, lookup(err, "setting %s", key)
}

// SetSetting stores a value under key.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	err := s.save(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&Setting{Key: key, Value: value}).Error
	return saving(err, "setting")
}
