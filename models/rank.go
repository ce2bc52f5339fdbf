package models

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// The ranking rule is here and nowhere else. A run counts when validRun holds; of a person's runs
// on a (version, device) the one that comes first in bestFirst is the Entry. Boards, home, feeds
// and badges read the entries.
const (
	// validRun is Run.Valid in SQL, in the very words of the partial index.
	validRun  = "mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null"
	bestFirst = "score_ns, id" // equal scores: the earlier run
)

// Entry is a person's best valid run on a board.
type Entry struct {
	VersionID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Device       string `gorm:"primaryKey"`
	UserID       int64  `gorm:"primaryKey;autoIncrement:false"`
	RunID        int64
	SubmissionID int64
	ScoreNS      float64 `gorm:"column:score_ns"`
	StdNS        float64 `gorm:"column:std_ns"`
	ErrNS        float64 `gorm:"column:err_ns"`
	Clock        string  // as the run's
	AchievedAt   time.Time
}

// BoardChange says that a board has a new change number.
type BoardChange struct {
	VersionID int64
	Device    string
	Change    int64 // 1, 2, …: a page with this number shows the board as it is
}

// entryOf gives the entry that this run makes for its person.
func entryOf(r Run) Entry {
	e := Entry{
		VersionID: r.VersionID, Device: r.Device, UserID: r.UserID, RunID: r.ID, SubmissionID: r.SubmissionID,
		ScoreNS: *r.ScoreNS, StdNS: r.StdNS, ErrNS: r.ErrNS, Clock: r.Clock, AchievedAt: r.QueuedAt,
	}
	if r.EndedAt != nil {
		e.AchievedAt = *r.EndedAt
	}
	return e
}

// refresh applies the ranking rule to one person on one board, after a run of theirs came,
// changed or went, and tells whether their entry changed by that.
func refresh(tx *gorm.DB, versionID int64, device string, userID int64) (changed bool, err error) {
	where := Entry{VersionID: versionID, Device: device, UserID: userID}
	var runs []Run
	var had []Entry
	err = tx.Where("version_id = ? and device = ? and user_id = ? and "+validRun, versionID, device, userID).
		Order(bestFirst).Limit(1).Find(&runs).Error
	if err == nil {
		err = tx.Where(&where).Find(&had).Error
	}
	if err != nil {
		return false, fmt.Errorf("reading the best run of person %d: %w", userID, err)
	}
	switch {
	case len(runs) == 0 && len(had) == 0:
		return false, nil
	case len(runs) == 0:
		err = tx.Where(&where).Delete(&Entry{}).Error
	case len(had) > 0 && had[0] == entryOf(runs[0]):
		return false, nil
	default:
		e := entryOf(runs[0])
		err = tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&e).Error
	}
	if err != nil {
		return false, fmt.Errorf("saving the entry of person %d: %w", userID, err)
	}
	return true, nil
}

// mend does the same for the people of runs that changed or went, and mends the boards' records,
// which may have named those runs.
func mend(tx *gorm.DB, runs []Run) ([]BoardChange, error) {
	var changes []BoardChange
	for _, r := range runs {
		if _, err := refresh(tx, r.VersionID, r.Device, r.UserID); err != nil {
			return nil, err
		}
		if err := rebuildRecords(tx, r.VersionID, r.Device); err != nil {
			return nil, err
		}
		change, err := bump(tx, r.VersionID, r.Device)
		if err != nil {
			return nil, err
		}
		changes = append(changes, *change)
	}
	return changes, nil
}

// bump brings a board's row up to date with its entries and gives it the next change number.
func bump(tx *gorm.DB, versionID int64, device string) (*BoardChange, error) {
	const where = "version_id = ? and device = ?"
	board := Board{VersionID: versionID, Device: device}
	err := tx.Where(where, versionID, device).Take(&board).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, fmt.Errorf("reading the board: %w", err)
	}
	board.Change, board.ChangedAt, board.Leaders = board.Change+1, db.Now(), nil
	err = tx.Model(&Entry{}).Where(where, versionID, device).Count(&board.Size).Error
	if err == nil {
		err = tx.Where(where, versionID, device).Order("score_ns, run_id").Limit(leaders).Find(&board.Leaders).Error
	}
	if err == nil {
		err = tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&board).Error
	}
	if err != nil {
		return nil, fmt.Errorf("saving the board's change: %w", err)
	}
	return &BoardChange{VersionID: versionID, Device: device, Change: board.Change}, nil
}
