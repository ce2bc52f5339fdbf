package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gorm.io/gorm"

	"warpboard/models/catalog"
	"warpboard/models/db"
)

const (
	keepEvents      = 7 * 24 * time.Hour  // events of ended runs; their stages stay forever
	keepEvaluations = 30 * 24 * time.Hour // evaluations that ended, with all that they found
	youngFile       = time.Hour           // an artifact's file may wait so long for its row
)

// Sweep removes what nobody needs any more: sessions that have expired, old events of runs that
// ended, old evaluations, and contents and artifacts that nothing names.
func (s *Store) Sweep(ctx context.Context, at time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", db.Time(at)).Delete(&Session{}).Error; err != nil {
			return fmt.Errorf("sweeping sessions: %w", err)
		}
		old := db.Time(at.Add(-keepEvents))
		err := tx.Where("created_at < ? and run_id in (select id from runs where ended_at < ? and not ("+live+"))", old, old).
			Delete(&RunEvent{}).Error
		if err != nil {
			return fmt.Errorf("sweeping events: %w", err)
		}
		return catalog.SweepBlobs(tx)
	})
	return errors.Join(err, s.PruneEvaluations(ctx, at.Add(-keepEvaluations)), s.sweepArtifacts(ctx, at.Add(-youngFile)), s.SweepGuests(ctx, at))
}

// sweepArtifacts removes files older than a time that have no row.
func (s *Store) sweepArtifacts(ctx context.Context, before time.Time) error {
	return filepath.WalkDir(s.artifacts, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		var rows int64
		if err := s.db.Read(ctx).Model(&Artifact{}).Where("hash = ?", entry.Name()).Count(&rows).Error; err != nil {
			return fmt.Errorf("sweeping artifacts: %w", err)
		}
		info, err := entry.Info() // after the count: a new row makes its file young first
		if err != nil || rows > 0 || !info.ModTime().Before(before) {
			return err
		}
		return os.Remove(path)
	})
}
