package catalog

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/tasks"
)

// unpublishedVersionNumber is the number of a task's unpublished version, which editors can try. A task has at most
// one.
const unpublishedVersionNumber = 0

// StoreUnpublishedVersion stores a bundle as the task's unpublished version. It replaces an earlier unpublished
// version, but keeps its runs if both have the same MeasurementHash.
func (s *Catalog) StoreUnpublishedVersion(
	ctx context.Context, actor accounts.User, taskID int64, b *tasks.Bundle,
) (TaskVersion, error) {
	var v TaskVersion
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := EditableTask(tx, actor, taskID)
		if err != nil {
			return err
		}
		if err := checkBenchmarkDevices(b.Definition, task.Devices); err != nil {
			return err
		}
		if v, err = readUnpublishedVersion(tx, taskID); err != nil {
			return err
		}
		if v.ID != 0 && v.MeasurementHash == MeasurementHash(b) {
			return updateVersionTexts(tx, &v, b)
		}
		if err := removeVersion(tx, v); err != nil {
			return err
		}
		v, err = addVersion(tx, actor, taskID, unpublishedVersionNumber, b)
		return err
	})
	return v, err
}

// NewestVersion returns the task's unpublished version, or the current one if there is none.
func (s *Catalog) NewestVersion(ctx context.Context, task Task) (v TaskVersion, err error) {
	err = s.db.Read(ctx).Where("id = ? or task_id = ? and number = ?", task.VersionID, task.ID, unpublishedVersionNumber).Order("number").Take(&v).Error
	return v, db.ReadError(err, "version of task %s", task.Slug)
}

// DeleteUnpublishedVersion deletes the task's unpublished version and its runs, if there is one.
func (s *Catalog) DeleteUnpublishedVersion(ctx context.Context, actor accounts.User, taskID int64) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := EditableTask(tx, actor, taskID); err != nil {
			return err
		}
		v, err := readUnpublishedVersion(tx, taskID)
		if err != nil {
			return err
		}
		return removeVersion(tx, v)
	})
}

// WasPublished reports whether the version is or was the task's current one.
func (v TaskVersion) WasPublished() bool { return v.Number != unpublishedVersionNumber }

func readUnpublishedVersion(tx *gorm.DB, taskID int64) (v TaskVersion, err error) {
	err = tx.Where("task_id = ? and number = ?", taskID, unpublishedVersionNumber).Limit(1).Find(&v).Error
	return v, db.ReadError(err, "unpublished version of task %d", taskID)
}

// removeVersion deletes a version. SweepBlobs deletes contents that no other version has.
func removeVersion(tx *gorm.DB, v TaskVersion) error {
	if v.ID == 0 {
		return nil
	}
	if err := tx.Delete(&v).Error; err != nil {
		return fmt.Errorf("removing the unpublished version of task %d: %w", v.TaskID, err)
	}
	return nil
}

// createNextVersion makes a bundle the task's next version. If the unpublished version has the same MeasurementHash, it
// becomes the next version and keeps its runs.
func createNextVersion(tx *gorm.DB, actor accounts.User, task Task, number int, b *tasks.Bundle) (TaskVersion, error) {
	v, err := readUnpublishedVersion(tx, task.ID)
	if err != nil {
		return v, err
	}
	if v.ID != 0 && v.MeasurementHash == MeasurementHash(b) {
		v.Number, v.CreatedBy, v.CreatedAt = number, actor.ID, db.Now()
		err = updateVersionTexts(tx, &v, b)
	} else {
		v, err = addVersion(tx, actor, task.ID, number, b)
	}
	if err != nil {
		return v, err
	}
	err = tx.Model(&task).Updates(map[string]any{"version_id": v.ID, "updated_at": db.Now()}).Error
	return v, db.WriteError(err, "task")
}
