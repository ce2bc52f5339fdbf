package catalog

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/tasks"
)

// TaskVersion is a numbered state of a task's files. Boards belong to a version: a change that affects measurements
// starts new boards, and the old ones remain readable. The unpublished version has number 0 (see
// StoreUnpublishedVersion).
type TaskVersion struct {
	ID     int64
	TaskID int64
	Number int // 1, 2, …; 0 if unpublished
	// MeasurementHash is the hash of everything that a score depends on, and also the key of built objects.
	MeasurementHash string           `gorm:"column:key"`
	Lang            tasks.Lang       // copied from the definition
	Tags            []string         `gorm:"serializer:json"` // copied from the definition, which lists do not read
	ProblemName     string           `gorm:"column:problem"`  // copied from the definition
	Definition      tasks.Definition `gorm:"serializer:json"`
	Warnings        []string         `gorm:"serializer:json"`
	CreatedBy       int64
	CreatedAt       time.Time
}

// VersionFile names one file of a version's bundle.
type VersionFile struct {
	VersionID int64  `gorm:"primaryKey"`
	Path      string `gorm:"primaryKey"`
	Hash      string
}

// ChangeKind is the effect of publishing a bundle on the boards of a task.
type ChangeKind string

// Kinds of changes.
const (
	ChangeNone    ChangeKind = "none"    // the task has this bundle already
	ChangeTexts   ChangeKind = "texts"   // title, description, tags, problem, or templates: scores keep their meaning
	ChangeVersion ChangeKind = "version" // the measured files: a new version with empty boards
)

// PublishEffect returns the ChangeKind that publishing the bundle would have.
func (s *Catalog) PublishEffect(ctx context.Context, taskID int64, b *tasks.Bundle) (ChangeKind, error) {
	task, err := s.TaskByID(ctx, taskID)
	if err != nil {
		return "", err
	}
	change, _, err := compareWithCurrent(s.db.Read(ctx), task, b)
	return change, err
}

// Publish makes a bundle the task's current version and returns the ChangeKind. It also changes the task's settings
// unless they are nil. If they contain no title, the task gets the bundle's title if that has changed.
func (s *Catalog) Publish(
	ctx context.Context, actor accounts.User, taskID int64, b *tasks.Bundle, settings *TaskSettings,
) (version TaskVersion, change ChangeKind, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := EditableTask(tx, actor, taskID)
		if err != nil {
			return err
		}
		if change, version, err = compareWithCurrent(tx, task, b); err != nil {
			return err
		}
		if in := task.newSettings(settings, version.Definition.Title, b.Definition.Title); in != nil {
			apply := task.changeSettings
			if change == ChangeVersion {
				apply = task.saveSettings
			}
			if err := apply(tx, actor, *in); err != nil {
				return err
			}
		}
		if err := checkBenchmarkDevices(b.Definition, task.Devices); err != nil {
			return err
		}
		switch change {
		case ChangeTexts:
			err = updateVersionTexts(tx, &version, b)
		case ChangeVersion:
			version, err = createNextVersion(tx, actor, task, version.Number+1, b)
		}
		if err != nil {
			return err
		}
		left, err := readUnpublishedVersion(tx, task.ID)
		if err == nil {
			err = removeVersion(tx, left)
		}
		if err != nil || change == ChangeNone {
			return err
		}
		return accounts.WriteAudit(tx, actor, "publish "+string(change), "task "+task.Slug, fmt.Sprintf("version %d", version.Number))
	})
	return version, change, err
}

// newSettings returns the task's settings after publishing a bundle, or nil if they do not change.
func (t Task) newSettings(given *TaskSettings, oldTitle, newTitle string) *TaskSettings {
	if given == nil && oldTitle == newTitle {
		return nil
	}
	in := *t.SettingsWithDeadline(t.Deadline)
	if given != nil {
		in = *given
	}
	if in.Title == "" && oldTitle != newTitle {
		in.Title = newTitle
	} else if in.Title == "" {
		in.Title = t.Title
	}
	return &in
}

func compareWithCurrent(tx *gorm.DB, task Task, b *tasks.Bundle) (ChangeKind, TaskVersion, error) {
	var current TaskVersion
	if err := tx.Take(&current, task.VersionID).Error; err != nil {
		return "", current, db.ReadError(err, "version of task %s", task.Slug)
	}
	if current.MeasurementHash != MeasurementHash(b) {
		return ChangeVersion, current, nil
	}
	files, err := VersionFiles(tx, current.ID)
	if err != nil {
		return "", current, err
	}
	stored := tasks.Bundle{Definition: current.Definition, Files: files}
	if stored.ContentHash() == b.ContentHash() {
		return ChangeNone, current, nil
	}
	return ChangeTexts, current, nil
}

// MeasurementHash returns a hash of everything that affects scores: the bundle without texts, tags, problem name,
// templates, baselines, validation script, and rules for additional files.
func MeasurementHash(b *tasks.Bundle) string {
	measured := tasks.Bundle{Definition: b.Definition, Files: map[string][]byte{}}
	measured.Definition.Title, measured.Definition.Description, measured.Definition.ProblemGroup, measured.Definition.Templates = "", "", "", nil
	measured.Definition.Baselines, measured.Definition.Tags, measured.Definition.SubmissionFiles = nil, nil, nil
	measured.Definition.Validation = nil
	for _, f := range b.Definition.Files {
		if !f.IsSubmission() {
			measured.Files[f.Source] = b.Files[f.Source]
		}
	}
	return measured.ContentHash()
}
