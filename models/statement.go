package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/internal/statement"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

const (
	judgeSeedNote = "The judge draws a seed for every call from the system, keeps it secret, and stores none: " +
		"a repetition has other inputs of the same kind."
	ownProgramSeedNote = "The task's own program measured with the public seed, and did everything again with the secret one, for a verdict alone."
)

// Statement returns the signed statement about a ranked run with a score, or about a turn of a confirmation. It
// contains the score of the run's own samples, without other runs of equal source. It returns NotFound if the run has
// no score.
func (s *Store) Statement(ctx context.Context, r work.Run) (statement.Statement, error) {
	none := db.Errorf(db.NotFound, "There is no statement of run %d: it has no score.", r.ID)
	if r.Mode != job.ModeRanked || r.State != work.StateDone || r.ScoreNS == nil || r.Machine == nil {
		return statement.Statement{}, none
	}
	stages, err := s.Work.Stages(ctx, r.ID)
	if err != nil {
		return statement.Statement{}, err
	}
	var ranked *work.Stage // ranked stage of the last attempt
	for i := range stages {
		if stages[i].Stage == job.StageRanked {
			ranked = &stages[i]
		}
	}
	if ranked == nil {
		return statement.Statement{}, none
	}
	var about struct {
		SourceHash, Slug string
		Seed             int64
	}
	err = s.db.Read(ctx).Raw(`select s.source_hash, t.slug, a.seed from submissions s join task_versions v on v.id = s.version_id
		join tasks t on t.id = v.task_id join attempts a on a.id = ? where s.id = ?`, ranked.AttemptID, r.SubmissionID).Take(&about).Error
	if err != nil {
		return statement.Statement{}, db.ReadError(err, "the subject of run %d", r.ID)
	}
	version, err := s.Catalog.Version(ctx, r.VersionID)
	if err != nil {
		return statement.Statement{}, err
	}
	result := statement.Result{
		Site: s.siteURL, Run: r.ID, Submission: r.SubmissionID, RepeatedRun: r.ProfileOf, Machine: *r.Machine,
		Task:    statement.Task{Slug: about.Slug, Version: version.Number, Ranking: version.Definition.RankingBy},
		Harness: statement.Harness{Name: r.Harness}, Seeds: statementSeeds(version, uint64(about.Seed)),
	}
	if r.EndedAt != nil {
		result.MeasuredAt = *r.EndedAt
	}
	for _, c := range ranked.Result.Cases {
		result.CaseMeasurements = append(result.CaseMeasurements, statement.CaseMeasurement{Case: c.SpecLine, Clock: c.ClockTimes.CountedClock, ProcessMedians: c.ProcessMedians,
			Time: c.Time(), CallCount: c.Runs, StandardDeviation: c.StandardDeviation})
	}
	if result.Score, err = scoreOfOwnProgram(version, ranked.Result.Cases, r.Machine.Disturbances); err != nil {
		return statement.Statement{}, fmt.Errorf("stating the result of run %d: %w", r.ID, err)
	}
	return statement.New(about.SourceHash, version.MeasurementHash, result), nil
}

// statementSeeds returns the seeds that a statement contains. secret is the seed of the run's attempt, which is not
// used again.
func statementSeeds(version catalog.TaskVersion, secret uint64) statement.InputSeeds {
	seeds := statement.InputSeeds{Note: judgeSeedNote}
	if public := version.Definition.Seed; public != nil {
		seed := uint64(*public)
		seeds.PublicSeed = &seed
	}
	if version.Definition.HasOwnHarness {
		seeds.SecretSeed, seeds.Note = &secret, ownProgramSeedNote
	}
	return seeds
}

func scoreOfOwnProgram(
	version catalog.TaskVersion, cases []job.CaseResult, d *job.Disturbances,
) (score statement.Score, err error) {
	if score.NS, err = harness.Score(version.Definition.RankingBy, cases); err != nil {
		return score, err
	}
	interval, _ := harness.ScoreInterval(version.Definition.RankingBy, score.NS, cases)
	score.Low, score.High = interval.Ends()
	score.ProcessCount, score.IsNoisy = interval.ProcessCount, interval.Noisy
	if d != nil {
		score.DisturbanceReasons = d.Reasons()
	}
	return score, nil
}

// storedPublicKey is a stored public key that signed statements.
type storedPublicKey struct {
	ID        string `gorm:"primaryKey"`
	PublicKey string
	CreatedAt time.Time
}

// TableName returns the table of signing keys.
func (storedPublicKey) TableName() string { return "signing_keys" }

// RecordSigningKey stores the public key, so that its signatures can be verified after it has been replaced. It returns
// all keys, this one first, then newest first.
func (s *Store) RecordSigningKey(ctx context.Context, key statement.SigningKey) (keys statement.PublicKeyList,
	err error) {
	own, err := key.Public(db.Now())
	if err != nil {
		return keys, err
	}
	var rows []storedPublicKey
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		row := storedPublicKey{own.ID, own.PEM, own.ValidSince}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
			return db.WriteError(err, "signing key")
		}
		return tx.Clauses(db.OrderBy("case when id = ? then 0 else 1 end, created_at desc", own.ID)).Find(&rows).Error
	})
	if err != nil {
		return keys, fmt.Errorf("noting the signing key: %w", err)
	}
	for _, row := range rows {
		keys.PublicKeys = append(keys.PublicKeys, statement.PublicKey{ID: row.ID, PEM: row.PublicKey,
			ValidSince: row.CreatedAt})
	}
	return keys, nil
}
