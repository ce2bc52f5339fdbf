package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// StartAllBaselines queues the missing and outdated baselines of every task (StartBaselines).
func (s *Store) StartAllBaselines(ctx context.Context) (queued int, err error) {
	// The actor is an admin, so that private tasks are included. Each task has its own transaction. An error ends the
	// loop; the next start of the site, or the next new software on a device, tries again. Repetitions queue nothing
	// twice (see devicesWithCurrentBaseline).
	list, err := s.Catalog.Tasks(ctx, accounts.User{Role: accounts.RoleAdmin})
	if err != nil || s.noBaselines {
		return 0, err
	}
	for _, task := range list {
		n, err := s.StartBaselines(ctx, task.ID)
		if err != nil {
			return queued, fmt.Errorf("baselines of %s: %w", task.Slug, err)
		}
		queued += n
	}
	return queued, nil
}

// StartBaselines queues the baselines of a task's current version on each device where a baseline has not run, was
// disturbed, ran with older software, or has changed. They run in the name of the operator's account. It returns the
// number of queued runs. It skips devices that no worker has had, because such runs would wait forever.
func (s *Store) StartBaselines(ctx context.Context, taskID int64) (queued int, err error) {
	if s.noBaselines {
		return 0, nil
	}
	task, err := s.Catalog.TaskByID(ctx, taskID)
	if err != nil {
		return 0, err
	}
	version, err := s.Catalog.Version(ctx, task.VersionID)
	if err != nil || len(version.Definition.Baselines) == 0 {
		return 0, err
	}
	bundle, err := s.Catalog.Bundle(ctx, version.ID)
	if err != nil {
		return 0, err
	}
	operator, err := s.Accounts.OperatorAccount(ctx)
	if err != nil {
		return 0, err
	}
	// The bundle is read before the transaction, because blobs may be large and a transaction blocks all other writers.
	// If another version becomes current in between, its own publication queues its baselines; those queued here then
	// belong to an older version, which is harmless.
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, name := range slices.Sorted(maps.Keys(version.Definition.Baselines)) {
			in := submissions.NewSubmission{User: operator, Mode: work.ModeBaseline, Via: "site", FileName: version.Definition.SubmissionName(),
				Source: bundle.Files[version.Definition.Baselines[name]]}
			n, err := startBaseline(tx, in, task, version, name)
			if err != nil {
				return fmt.Errorf("starting the baseline %s: %w", name, err)
			}
			queued += n
		}
		return nil
	})
	return queued, err
}

// disturbedBaselineWait is the time until a disturbed baseline runs again. Some devices are disturbed all the time, and
// should not be busy with baselines.
const disturbedBaselineWait = 6 * time.Hour

// repeatDisturbedBaselines queues the baselines of tasks again whose last run was disturbed some time ago.
func (s *Store) repeatDisturbedBaselines(ctx context.Context, at time.Time) error {
	var list []int64
	err := s.db.Read(ctx).Table("baselines b").Joins("join runs r on r.id = b.run_id").Joins("join tasks t on t.version_id = b.version_id").
		Where("r.disturbed <> '' and r.ended_at < ?", db.NormalizeTime(at.Add(-disturbedBaselineWait))).Distinct().Order("t.id").Pluck("t.id", &list).Error
	for _, id := range list {
		if err == nil {
			_, err = s.StartBaselines(ctx, id)
		}
	}
	return db.ReadError(err, "disturbed baselines")
}

// devicesWithCurrentBaseline lists the devices for which a baseline has a run, ended or waiting, that counts as
// measured with the device's newest software for the task's language.
func devicesWithCurrentBaseline(tx *gorm.DB, version catalog.TaskVersion, name, hash string) (have []string, err error) {
	kind := epochs.NativeSoftware
	if version.Lang == tasks.LangPython {
		kind = epochs.PythonSoftware
	}
	err = tx.Table("baselines b").Joins("join runs r on r.id = b.run_id").
		Where("b.version_id = ? and b.name = ? and b.source_hash = ?", version.ID, name, hash).
		// seen_at is the time at which the site first received the software, and queued_at the time at which the
		// baseline was queued, both by the site's clock. A run that was queued before the software appeared and ended
		// after that counts as old, even if it used the new software.
		Where("(r.ended_at is null or r.disturbed = '' and not exists (select 1 from device_epochs d where d.device = b.device and d.kind = ? and d.seen_at > r.queued_at))", kind).
		Pluck("b.device", &have).Error
	return have, db.ReadError(err, "baselines")
}

// startBaseline submits one baseline to the devices that have no current run of it.
func startBaseline(
	tx *gorm.DB, in submissions.NewSubmission, task catalog.Task, version catalog.TaskVersion, name string,
) (int, error) {
	have, err := devicesWithCurrentBaseline(tx, version, name, db.Hash(in.Source))
	if err != nil {
		return 0, err
	}
	var known []string
	if err := tx.Model(&epochs.DeviceEpoch{}).Distinct().Pluck("device", &known).Error; err != nil {
		return 0, db.ReadError(err, "devices that workers had")
	}
	// The submission and the baseline's row are written in the caller's transaction, in either order, so that each run
	// of a baseline is recorded.
	in.Devices = slices.DeleteFunc(slices.Clone(task.Devices), func(device string) bool {
		return slices.Contains(have, device) || !slices.Contains(known, device)
	})
	if len(in.Devices) == 0 {
		return 0, nil
	}
	sub, runs, err := submissions.StoreAndQueue(tx, in, task, version)
	for _, run := range runs {
		if err == nil {
			err = db.WriteError(tx.Save(&boards.Baseline{VersionID: version.ID, Device: run.Device, Name: name, RunID: run.ID, SourceHash: sub.SourceHash}).Error, "baseline")
		}
	}
	return len(runs), err
}
