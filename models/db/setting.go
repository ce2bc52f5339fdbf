package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Setting is a value that the site stores under a key.
type Setting struct {
	Key   string `gorm:"primaryKey"`
	Value string
}

// Setting returns the value of a key, or "".
func (d *DB) Setting(ctx context.Context, key string) (string, error) {
	var row Setting
	err := d.Read(ctx).Where("key = ?", key).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", nil
	}
	return row.Value, ReadError(err, "setting %s", key)
}

// PutJSONSetting stores a value as JSON under a key.
func PutJSONSetting(tx *gorm.DB, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing setting %s: %w", key, err)
	}
	return WriteError(tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Setting{Key: key, Value: string(text)}).Error, "setting %s", key)
}

// ReadJSONSettings reads the values that PutJSONSetting stored under the keys that q selects. The keys of the result
// lack the prefix.
func ReadJSONSettings[T any](q *gorm.DB, prefix string) (map[string]T, error) {
	var rows []Setting
	if err := q.Find(&rows).Error; err != nil {
		return nil, ReadError(err, "settings %s…", prefix)
	}
	values := make(map[string]T, len(rows))
	for _, row := range rows {
		var value T
		if err := json.Unmarshal([]byte(row.Value), &value); err != nil {
			return nil, fmt.Errorf("reading setting %s: %w", row.Key, err)
		}
		values[strings.TrimPrefix(row.Key, prefix)] = value
	}
	return values, nil
}

// DeleteSetting deletes the value of a key and reports whether there was one.
func DeleteSetting(tx *gorm.DB, key string) (was bool, err error) {
	res := tx.Where("key = ?", key).Delete(&Setting{})
	return res.RowsAffected > 0, WriteError(res.Error, "setting %s", key)
}

// SetSetting stores a value under key.
func (d *DB) SetSetting(ctx context.Context, key, value string) error {
	err := d.WriteStatement(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&Setting{Key: key,
		Value: value}).Error
	return WriteError(err, "setting")
}
