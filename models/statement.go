package models

import (
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/internal/statement"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/statements"
	"warpboard/models/work"
)

// stated are the fields of a statement that are not in the run itself.
type stated struct {
	SourceHash string
	Slug       string
	Number     int
	Key        string
	Seed       int64
}

// state appends the statement of a ranked run that has a score, of a confirmation's leg as well.
func state(tx *gorm.DB, r *work.Run, result job.Result, site string) error {
	if r.Mode != job.ModeRanked || r.State != work.StateDone || r.ScoreNS == nil {
		return nil
	}
	var about stated
	err := tx.Raw(`select s.source_hash, t.slug, v.number, v.key, a.seed from submissions s join task_versions v on v.id = s.version_id
		join tasks t on t.id = v.task_id join attempts a on a.id = ? where s.id = ?`, result.AttemptID, r.SubmissionID).Take(&about).Error
	if err != nil {
		return db.ReadError(err, "what run %d measured", r.ID)
	}
	var version catalog.TaskVersion
	if err := tx.Select("id", "definition").Take(&version, r.VersionID).Error; err != nil {
		return db.ReadError(err, "version %d", r.VersionID)
	}
	if err := statements.Append(tx, statementOf(r, about, version, result, site)); err != nil {
		return fmt.Errorf("stating the result of run %d: %w", r.ID, err)
	}
	return nil
}

func statementOf(r *work.Run, about stated, version catalog.TaskVersion, result job.Result, site string) statement.Statement {
	said := statement.Result{
		Site: site, Run: r.ID, Submission: r.SubmissionID, Follows: r.ProfileOf, Measured: db.Now(), Machine: result.Machine,
		Task:    statement.Task{Slug: about.Slug, Version: about.Number, Ranking: version.Definition.RankingBy},
		Harness: statement.Harness{Name: r.Harness, Digest: statement.Digest{SHA256: result.HarnessDigest}},
		Seeds:   statement.SeedsOf(version.Definition.OwnHarness, version.Definition.Seed, uint64(about.Seed)),
		Score:   statement.Score{NS: *r.ScoreNS, Low: r.LowNS, High: r.HighNS, Processes: r.Processes, Noisy: r.Noisy},
	}
	if d := result.Machine.Disturbances; d != nil {
		said.Score.Disturbed = d.Bad()
	}
	for _, stage := range result.Stages {
		if stage.Stage == job.StageRanked {
			said.Samples = statement.SamplesOf(stage.Cases)
		}
	}
	return statement.New(about.SourceHash, about.Key, said)
}
