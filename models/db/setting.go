package db

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
func (d *DB) Setting(ctx context.Context, key string) (string, error) {
	var row Setting
	err := d.Read(ctx).Where("key = ?", key).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", nil
	}
	return row.Value, ReadError(err, "setting %s", key)
}

// SetSetting stores a value under key.
func (d *DB) SetSetting(ctx context.Context, key, value string) error {
	err := d.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&Setting{Key: key, Value: value}).Error
	return WriteError(err, "setting")
}
