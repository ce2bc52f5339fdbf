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
	// Pages of old runs show their stages, but no log lines. A client that resumes with Last-Event-ID gets only the
	// end.
	eventRetention      = 7 * 24 * time.Hour  // events of ended runs; their stages stay forever
	evaluationRetention = 30 * 24 * time.Hour // ended evaluations, with their results
	maxEvaluationBytes  = 2 << 30             // bytes of one caller's requests
	artifactRetention   = 90 * 24 * time.Hour // profiles of runs that never were on a board
	// Files are written before their rows (storeArtifacts), outside the transaction. Recording a result takes far less
	// than an hour; with a much shorter time a sweep could delete a file just before its row is written.
	minSweptFileAge = time.Hour // longest time between an artifact's file and its row
)

// DeleteExpired deletes data that is no longer needed: expired sessions, old events of ended runs, old evaluations, and
// contents and artifacts without references. It also repeats disturbed baselines.
func (s *Store) DeleteExpired(ctx context.Context, at time.Time) error {
	// One transaction deletes all of these rows. The dispatcher sweeps hourly; the first sweep after a long pause
	// blocks other writers while it deletes.
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", db.NormalizeTime(at)).Delete(&accounts.Session{}).Error; err != nil {
			return fmt.Errorf("sweeping sessions: %w", err)
		}
		old := db.NormalizeTime(at.Add(-eventRetention))
		err := tx.Where("created_at < ? and run_id in (select id from runs where ended_at < ? and not ("+work.NotEndedSQL+"))", old, old).
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
	// Each step runs even if an earlier one failed. The next sweep repeats failed steps.
	return errors.Join(err,
		s.Work.RequeueOrphanedSharers(ctx),
		s.Work.PruneEvaluations(ctx, at.Add(-evaluationRetention)),
		s.Work.PruneEvaluationsAbove(ctx, maxEvaluationBytes),
		s.sweepArtifacts(ctx, at.Add(-minSweptFileAge)),
		s.Fleet.SweepGuests(ctx, at),
		s.Webhooks.SweepDeliveries(ctx, at),
		s.Inbox.Sweep(ctx, at),
		s.repeatDisturbedBaselines(ctx, at),
		s.db.Shrink(ctx))
}

// StorageToDelete returns the total of stored data, and the part that a sweep at a time will delete.
func (s *Store) StorageToDelete(
	ctx context.Context, actor accounts.User, at time.Time,
) (quota.StorageTotal, quota.SweepPreview, error) {
	return s.Quotas.StorageTotal(ctx, actor, quota.SweepTimes{
		Artifacts: at.Add(-artifactRetention), Evaluations: at.Add(-evaluationRetention), Events: at.Add(-eventRetention),
	})
}

// sweepArtifacts deletes files that were last written before a time and have no row.
func (s *Store) sweepArtifacts(ctx context.Context, before time.Time) error {
	err := s.files.Sweep(ctx, before, func(digest string) (bool, error) {
		// The rows are queried for each file, because several runs may share one content. Put renews the age of an
		// existing file, which protects it from the sweep. Only a Put between the check of the age and the deletion
		// would lose its file.
		var rows int64
		err := s.db.Read(ctx).Model(&work.Artifact{}).Where("hash = ?", digest).Count(&rows).Error
		return rows > 0, err
	})
	if err != nil {
		return fmt.Errorf("sweeping artifacts: %w", err)
	}
	return nil
}

// dropArtifacts deletes the artifact rows of old runs that were never on a board. The next sweep deletes the files.
func dropArtifacts(tx *gorm.DB, before time.Time) error {
	const onBoards = "select run_id from entries union select run_id from records"
	err := tx.Where("created_at < ? and run_id not in (select id from runs where id in ("+onBoards+") or profile_of in ("+onBoards+"))", db.NormalizeTime(before)).
		Delete(&work.Artifact{}).Error
	if err != nil {
		return fmt.Errorf("letting old artifacts go: %w", err)
	}
	return nil
}
