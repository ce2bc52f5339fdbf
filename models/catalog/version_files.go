package catalog

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/tasks"
)

// Version returns the version with an ID.
func (s *Catalog) Version(ctx context.Context, id int64) (TaskVersion, error) {
	var v TaskVersion
	err := s.db.Read(ctx).Take(&v, id).Error
	return v, db.ReadError(err, "version %d", id)
}

// VersionNumber returns the published version of a task with a number.
func (s *Catalog) VersionNumber(ctx context.Context, taskID int64, number int) (TaskVersion, error) {
	var v TaskVersion
	err := s.db.Read(ctx).Where("task_id = ? and number = ? and number <> ?", taskID, number, unpublishedVersionNumber).Take(&v).Error
	return v, db.ReadError(err, "version %d of this task", number)
}

// VersionNumbers lists the numbers of a task's published versions, newest first.
func (s *Catalog) VersionNumbers(ctx context.Context, taskID int64) ([]int, error) {
	var numbers []int
	err := s.db.Read(ctx).Model(&TaskVersion{}).Where("task_id = ? and number <> ?", taskID, unpublishedVersionNumber).Order("number desc").Pluck("number", &numbers).Error
	return numbers, db.ReadError(err, "versions of task %d", taskID)
}

// Bundle returns the definition and the files of a version.
func (s *Catalog) Bundle(ctx context.Context, versionID int64) (*tasks.Bundle, error) {
	v, err := s.Version(ctx, versionID)
	if err != nil {
		return nil, err
	}
	task, err := s.TaskByID(ctx, v.TaskID)
	if err != nil {
		return nil, err
	}
	return s.BundleOf(ctx, task, v)
}

// CurrentBundle returns the definition and the files of a task's current version.
func (s *Catalog) CurrentBundle(ctx context.Context, task Task) (*tasks.Bundle, error) {
	v, err := s.Version(ctx, task.VersionID)
	if err != nil {
		return nil, err
	}
	return s.BundleOf(ctx, task, v)
}

// BundleOf returns the bundle of a version, for callers that have already read the task and the version.
func (s *Catalog) BundleOf(ctx context.Context, task Task, v TaskVersion) (*tasks.Bundle, error) {
	files, err := VersionFiles(s.db.Read(ctx), v.ID)
	if err != nil {
		return nil, err
	}
	return &tasks.Bundle{Name: task.Slug, Definition: v.Definition, Files: files, Warnings: v.Warnings}, nil
}

// VersionFiles reads the files of a version, by their paths in the bundle.
func VersionFiles(tx *gorm.DB, versionID int64) (map[string][]byte, error) {
	var rows []namedFile
	err := tx.Raw(`select f.path as name, b.data from version_files f join blobs b on b.hash = f.hash
		where f.version_id = ?`, versionID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading the files of version %d: %w", versionID, err)
	}
	return filesByName(rows), nil
}

func addVersion(tx *gorm.DB, actor accounts.User, taskID int64, number int, b *tasks.Bundle) (TaskVersion, error) {
	v := TaskVersion{
		TaskID: taskID, Number: number, MeasurementHash: MeasurementHash(b), Lang: b.Definition.Lang, Tags: b.Definition.Tags, ProblemName: b.Definition.ProblemGroup,
		Definition: b.Definition, Warnings: b.Warnings, CreatedBy: actor.ID, CreatedAt: db.Now(),
	}
	if err := tx.Create(&v).Error; err != nil {
		return v, db.WriteError(err, "version")
	}
	return v, putFiles(tx, v.ID, b.Files)
}

// updateVersionTexts stores changed texts in an existing version. The version keeps its MeasurementHash and its boards.
func updateVersionTexts(tx *gorm.DB, v *TaskVersion, b *tasks.Bundle) error {
	v.Definition, v.Tags, v.ProblemName, v.Warnings = b.Definition, b.Definition.Tags, b.Definition.ProblemGroup, b.Warnings
	if err := tx.Save(v).Error; err != nil {
		return db.WriteError(err, "version")
	}
	if err := tx.Where("version_id = ?", v.ID).Delete(&VersionFile{}).Error; err != nil {
		return fmt.Errorf("replacing the files of version %d: %w", v.ID, err)
	}
	return putFiles(tx, v.ID, b.Files)
}

func putFiles(tx *gorm.DB, versionID int64, files map[string][]byte) error {
	for path, data := range files {
		hash, err := PutBlob(tx, data)
		if err != nil {
			return err
		}
		if err := tx.Create(&VersionFile{VersionID: versionID, Path: path, Hash: hash}).Error; err != nil {
			return fmt.Errorf("saving the file %s: %w", path, err)
		}
	}
	return nil
}
