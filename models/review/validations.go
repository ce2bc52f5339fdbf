package review

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// Validations reads and stores results of validation scripts in one database.
type Validations struct{ db *db.DB }

// NewValidations returns the validations in a database.
func NewValidations(database *db.DB) *Validations { return &Validations{db: database} }

// ValidationAnswer is the answer of a validation script about an entry.
type ValidationAnswer string

// Answers.
const (
	AnswerPending      ValidationAnswer = ""
	AnswerApplies      ValidationAnswer = "applies"
	AnswerDoesNotApply ValidationAnswer = "does not apply"
	AnswerNone         ValidationAnswer = "no answer" // the script gave no answer
)

// MaxValidationMessageLength limits the stored message of a validation script, in bytes.
const MaxValidationMessageLength = 500

// EntryValidation is the result of a validation script for one run.
type EntryValidation struct {
	RunID         int64  `gorm:"primaryKey;autoIncrement:false"` // run of the entry
	ScriptRunID   int64  `gorm:"column:by_run"`                  // run in which the script runs
	ScriptVersion string // version of the script, as its author calls it
	AskedBy       int64
	AskedAt       time.Time
	Answer        ValidationAnswer
	Message       string // the script's words, or why it gave no answer
	EndedAt       *time.Time
}

// TableName returns the table of validations.
func (EntryValidation) TableName() string { return "validations" }

// ValidationRow is a validation with the names that pages show.
type ValidationRow struct {
	EntryValidation
	RequesterName string `gorm:"column:asked_name"`
	SubmissionID  int64
	Device        string
	UserID        int64
	UserName      string
	ScoreNS       *float64 `gorm:"column:score_ns"`
}

// OfVersion lists the validations of a version's entries by board, in the order of scores.
func (s *Validations) OfVersion(ctx context.Context, versionID int64) (list []ValidationRow, err error) {
	err = s.rowsQuery(ctx).Where("r.version_id = ?", versionID).Order("r.device, r.score_ns, r.id").Scan(&list).Error
	return list, db.ReadError(err, "validations of a version")
}

func (s *Validations) rowsQuery(ctx context.Context) *gorm.DB {
	return s.db.Read(ctx).Table("validations w").
		Select("w.*, a.name as asked_name, r.submission_id, r.device, r.user_id, r.score_ns, u.name as user_name").
		Joins("join runs r on r.id = w.run_id").Joins("join users u on u.id = r.user_id").Joins("join users a on a.id = w.asked_by")
}

// RecordValidationRequest stores that the validation script of an entry is queued. It replaces an earlier answer.
func RecordValidationRequest(tx *gorm.DB, v EntryValidation) error {
	err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&v).Error
	return db.WriteError(err, "validation")
}

// NewestValidationTime returns the time of the last request to validate an entry of a task, or the zero time.
func NewestValidationTime(tx *gorm.DB, taskID int64) (time.Time, error) {
	var newest EntryValidation
	err := tx.Where("run_id in (select r.id from runs r join submissions s on s.id = r.submission_id where s.task_id = ?)", taskID).
		Order("asked_at desc").Limit(1).Find(&newest).Error
	return newest.AskedAt, db.ReadError(err, "the last validation")
}

// WaitingValidations returns the runs among runIDs whose validation has no answer yet.
func WaitingValidations(tx *gorm.DB, runIDs []int64) (waiting []int64, err error) {
	err = tx.Model(&EntryValidation{}).Where("run_id in ? and ended_at is null", runIDs).Pluck("run_id", &waiting).Error
	return waiting, db.ReadError(err, "validations that wait")
}

// EndValidation stores the answer of the script that ran as run byRun. It ignores a second answer of the same run, and
// answers of runs older than the last request.
func EndValidation(tx *gorm.DB, byRun int64, answer ValidationAnswer, message string) (changed bool, err error) {
	res := tx.Model(&EntryValidation{}).Where("by_run = ? and ended_at is null", byRun).Updates(map[string]any{
		"answer": answer, "message": db.CutText(db.SanitizeText(message), MaxValidationMessageLength),
		"ended_at": db.Now()})
	return res.RowsAffected > 0, db.WriteError(res.Error, "validation")
}
