package models

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/models/work"
)

const (
	// A page of an old run has its stages and no log lines. A client that follows it by Last-Event-ID begins at its
	// end.
	eventRetention      = 7 * 24 * time.Hour  // events of ended runs; their stages stay forever
	evaluationRetention = 30 * 24 * time.Hour // ended evaluations, with their results
	maxEvaluationBytes  = 2 << 30             // bytes of one caller's requests
	artifactRetention   = 90 * 24 * time.Hour // profiles of runs that never were on a board
	// Files are written before their rows (storeArtifacts), outside the transaction. An hour is far more than recording
	// a result takes; with much less, a sweep could remove a file just before its row is written.
	youngFileAge = time.Hour // longest time between an artifact's file and its row
)

// Sweep removes unneeded data: expired sessions, old events of ended runs, old evaluations, and contents and artifacts
// without references.
func (s *Store) Sweep(ctx context.Context, at time.Time) error {
	// One transaction for all: the first sweep after a long pause holds the writer while it deletes. The dispatcher
	// sweeps hourly.
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", db.Time(at)).Delete(&accounts.Session{}).Error; err != nil {
			return fmt.Errorf("sweeping sessions: %w", err)
		}
		old := db.Time(at.Add(-eventRetention))
		err := tx.Where("created_at < ? and run_id in (select id from runs where ended_at < ? and not ("+work.LiveCondition+"))", old, old).
			Delete(&work.RunEvent{}).Error
		if err != nil {
			return fmt.Errorf("sweeping events: %w", err)
		}
		if err := quota.SweepUses(tx, at); err != nil {
			return err
		}
		if err := dropArtifacts(tx, at.Add(-artifactRetention)); err != nil {
			return err
		}
		return catalog.SweepBlobs(tx)
	})
	// Each of these runs even if another failed, and all can be repeated: the next sweep removes the rest.
	return errors.Join(err,
		s.Work.ReleaseSharing(ctx),
		s.Work.PruneEvaluations(ctx, at.Add(-evaluationRetention)),
		s.Work.PruneEvaluationsAbove(ctx, maxEvaluationBytes),
		s.sweepArtifacts(ctx, at.Add(-youngFileAge)),
		s.Fleet.SweepGuests(ctx, at),
		s.Webhooks.SweepDeliveries(ctx, at),
		s.Inbox.Sweep(ctx, at),
		s.db.Shrink(ctx))
}

// StorageToGo counts the stored data, and the data that a sweep at a time removes.
func (s *Store) StorageToGo(ctx context.Context, actor accounts.User, at time.Time) (quota.StorageTotal, quota.NextSweep, error) {
	return s.Quotas.StorageTotal(ctx, actor, quota.SweepTimes{
		Artifacts: at.Add(-artifactRetention), Evaluations: at.Add(-evaluationRetention), Events: at.Add(-eventRetention),
	})
}

// sweepArtifacts removes files older than a time that have no row.
func (s *Store) sweepArtifacts(ctx context.Context, before time.Time) error {
	err := s.files.Sweep(ctx, before, func(digest string) (bool, error) {
		// Queried per file: several runs may share one content. Put renews the time of an existing file, which keeps it
		// from the sweep; only a Put between the sweep's look at the time and its removal would lose the file.
		var rows int64
		err := s.db.Read(ctx).Model(&work.Artifact{}).Where("hash = ?", digest).Count(&rows).Error
		return rows > 0, err
	})
	if err != nil {
		return fmt.Errorf("sweeping artifacts: %w", err)
	}
	return nil
}

// dropArtifacts deletes the artifacts of old runs that never were on a board; the next sweep removes their contents.
func dropArtifacts(tx *gorm.DB, before time.Time) error {
	const onBoards = "select run_id from entries union select run_id from records"
	err := tx.Where("created_at < ? and run_id not in (select id from runs where id in ("+onBoards+") or profile_of in ("+onBoards+"))", db.Time(before)).
		Delete(&work.Artifact{}).Error
	if err != nil {
		return fmt.Errorf("letting old artifacts go: %w", err)
	}
	return nil
}
