package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/files"
)

// Artifact is a file that a run produced. Its content is stored in a file named by its hash, because profiles are too
// large for the database.
type Artifact struct {
	ID        int64
	RunID     int64
	Name      string
	Type      string // media type
	Size      int64  // bytes
	Hash      string // SHA-256, hex
	CreatedAt time.Time
}

// ArtifactsOf lists the artifacts of runs, by run ID and name, in one query.
func (l *LifeCycle) ArtifactsOf(ctx context.Context, runIDs ...int64) (map[int64][]Artifact, error) {
	var list []Artifact
	err := l.db.Read(ctx).Where("run_id in ?", runIDs).Order("run_id, name").Find(&list).Error
	of := make(map[int64][]Artifact, len(runIDs))
	for _, a := range list {
		of[a.RunID] = append(of[a.RunID], a)
	}
	return of, db.ReadError(err, "artifacts of runs %v", runIDs)
}

// ProfileArtifacts lists the artifacts of the profiles that followed ranked runs, by the IDs of the ranked runs, in one
// query.
func (l *LifeCycle) ProfileArtifacts(ctx context.Context, rankedIDs []int64) (map[int64][]Artifact, error) {
	var list []struct {
		Artifact  `gorm:"embedded"`
		ProfileOf int64
	}
	err := l.db.Read(ctx).Table("artifacts a").Select("a.*, r.profile_of").Joins("join runs r on r.id = a.run_id").
		Where("r.profile_of in ? and "+profileRunSQL, rankedIDs).Scan(&list).Error
	of := make(map[int64][]Artifact, len(rankedIDs))
	for _, a := range list {
		of[a.ProfileOf] = append(of[a.ProfileOf], a.Artifact)
	}
	return of, db.ReadError(err, "artifacts of profiles")
}

// OpenArtifact opens the content of an artifact. The caller must close it.
func (l *LifeCycle) OpenArtifact(ctx context.Context, a Artifact) (files.File, error) {
	f, err := l.files.Open(ctx, a.Hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, db.Errorf(db.NotFound, "The file %s no longer exists.", a.Name)
	}
	return f, err
}

// storeArtifacts writes the contents of a result's artifacts before their rows. After a crash there may be a file
// without a row, but no row without a file. It first checks the attempt's secret, which the transaction that writes the
// rows checks again. Only a result that ends a run has artifacts, because work may return to the queue any number of
// times. If the disk is nearly full, the result is stored without artifacts.
func (l *LifeCycle) storeArtifacts(ctx context.Context, r *job.Result) ([]Artifact, error) {
	if len(r.Artifacts) == 0 || r.EvaluationID != "" ||
		r.Outcome != job.OutcomePassed && r.Outcome != job.OutcomeFailed {
		return nil, nil
	}
	a, err := l.loadAttemptWithWork(l.db.Read(ctx), r.AttemptID)
	if awaits, err := a.expectsResult(*r, err); err != nil || !awaits {
		return nil, err
	}
	var rows []Artifact
	for i, a := range r.Artifacts {
		if a.Data == nil {
			continue // too large to send; its stage has a note
		}
		row := Artifact{
			Name: db.SanitizeText(filepath.Base(a.Name)), Type: db.SanitizeText(a.Type), Size: int64(len(a.Data)),
			Hash: db.Hash(a.Data), CreatedAt: db.Now(),
		}
		err := l.files.Put(ctx, row.Hash, a.Data)
		if errors.Is(err, files.ErrDiskFull) {
			r.DropArtifact(i, err.Error())
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("keeping %s of run %d: %w", row.Name, r.RunID, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func storeArtifactRows(tx *gorm.DB, runID int64, rows []Artifact) error {
	for _, row := range rows {
		row.RunID = runID
		err := tx.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "run_id"}, {Name: "name"}}, UpdateAll: true,
		}).Create(&row).Error
		if err != nil {
			return db.WriteError(err, "artifact")
		}
	}
	return nil
}
