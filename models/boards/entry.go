package boards

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// The ranking rule: a run counts if ValidRunSQL is true. Of a person's runs with equal source, one represents all
// (package samples). Of a person's runs on a board, the first by bestFirstOrder is the Entry. Pages, feeds, and badges
// read entries in the order entriesOrder; entries of one band share a rank (band.go). ValidRunSQL must be equal to
// work.Run.Valid and to the index runs_valid. After a change of any of them, run RebuildEntries.
const (
	// ValidRunSQL is work.Run.Valid in SQL. Its text must be that of the partial index runs_valid.
	ValidRunSQL    = "mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and purpose = 'submitted' and held_why = ''"
	MayBeEntrySQL  = ValidRunSQL + " and (pool_id is null or pool_id = id)"
	bestFirstOrder = "epoch_id desc, score_ns, id" // only scores of the newest epoch are compared; of equal scores the earlier run is first
	entriesOrder   = "age, score_ns, run_id"       // columns of the tables entries and bands
)

// Entry is a person's best valid run on a board.
type Entry struct {
	VersionID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Device       string `gorm:"primaryKey"`
	UserID       int64  `gorm:"primaryKey;autoIncrement:false"`
	RunID        int64
	SubmissionID int64
	// EpochSortKey is minus the ID of the epoch, so that entries of the newest epoch come first.
	EpochSortKey    int64   `json:"Age" gorm:"column:age"`
	ScoreNS         float64 `gorm:"column:score_ns"`
	DeviationNS     float64 `json:"StdNS" gorm:"column:std_ns"`
	StandardErrorNS float64 `json:"ErrNS" gorm:"column:err_ns"`
	ClockName       string  `json:"Clock" gorm:"column:clock"` // copied from the run
	Interval
	RooflineShare *float64 `json:"Roof" gorm:"column:roof"` // copied from the run
	// PooledRunCount is the number of runs with equal source from whose samples the score was computed; 0 means one.
	PooledRunCount int `json:"Pooled" gorm:"column:pooled"`
	// reason for bad conditions; empty if there were none
	DisturbedReason string `json:"Disturbed" gorm:"column:disturbed"`
	// time since which it has this score: the end of the run, or of the newest run with equal source
	AchievedAt time.Time
}

// Interval contains a run's score with a probability of 95 %. It is computed from several processes of the submission.
// An entry has the interval of its run.
type Interval struct {
	LowNS     *float64 `gorm:"column:interval_low"` // nil if the score has no interval
	HighNS    *float64 `gorm:"column:interval_high"`
	Processes int
	Noisy     bool // the processes differ too much: the interval is wider than it should be
}

// NumericalErrors is the error of a run's answers against the task's reference in double precision, for the worst test.
// It belongs to a run; boards read it only on request.
type NumericalErrors struct {
	// ErrorULP is in units in the last place (ULP) of the answer's type; nil if nothing was compared.
	ErrorULP *float64 `gorm:"column:error_ulp"`
	// ErrorRelative is the error divided by the magnitude of the reference.
	ErrorRelative *float64 `gorm:"column:error_relative"`
}

// ChangedBoard is a board whose visible content has changed: its new change number and, after a run, the record that
// the run set and the previous entry of its person.
type ChangedBoard struct {
	VersionID    int64
	Device       string
	ChangeNumber int64 `gorm:"column:change"` // 1, 2, …: a page with this number is up to date

	NewRecord     *NewRecord `gorm:"-"` // nil unless the run is now the first of the board
	PreviousEntry *Entry     `gorm:"-"` // earlier entry of the same person
}

// NewRecord is a record that a run has just set, and the previous record.
type NewRecord struct {
	RunID, UserID  int64
	PreviousRecord *Record // nil if the board was empty
}

// runColumns has the columns of a run that form its person's entry.
const runColumns = "version_id, device, user_id, id as run_id, submission_id, -epoch_id as age, score_ns, std_ns, err_ns, clock, interval_low, interval_high, processes, noisy, roof, pooled, disturbed, scored_at as achieved_at"

// EnterRun updates the board of a valid run that has just ended. If other runs of the person have the same source
// (pooled), e is the run that represents them all, whose score may have changed. The result is nil if nothing visible
// changed: another run of the person stays the entry, and no record or best run changed.
func EnterRun(tx *gorm.DB, e Entry, pooled bool) (*ChangedBoard, error) {
	before, err := readLastRecord(tx, e)
	corrected := false // a record or best run changed, although the person's entry did not
	switch {
	case err != nil:
	case pooled:
		corrected, err = rebuildChangedRecords(tx, e)
	case before == nil || before.ScoreNS > e.ScoreNS:
		err = storeRecord(tx, e)
	}
	if err != nil {
		return nil, err
	}
	had, changed, err := updateEntry(tx, e.VersionID, e.Device, e.UserID)
	if err == nil && pooled && !changed { // an earlier best run of the person may have another score now
		stepped, failed := rebuildChangedBests(tx, e)
		corrected, err = corrected || stepped, failed
	}
	if err != nil || !changed && !corrected {
		return nil, err
	}
	change, err := IncrementChangeNumber(tx, e.VersionID, e.Device)
	if err != nil {
		return nil, err
	}
	change.PreviousEntry = had
	change.NewRecord, err = newRecordOf(tx, e, before)
	return change, err
}

// newRecordOf returns the record of an entry that has become the first of the newest epoch, or nil.
func newRecordOf(tx *gorm.DB, e Entry, before *Record) (*NewRecord, error) {
	now, err := readLastRecord(tx, e)
	if err != nil || now == nil || now.RunID != e.RunID || before != nil && before.RunID == e.RunID {
		return nil, err
	}
	var newer int64
	err = tx.Model(&Record{}).Where("version_id = ? and device = ? and age < ?", e.VersionID, e.Device, e.EpochSortKey).Limit(1).Count(&newer).Error
	if err != nil || newer > 0 {
		return nil, db.ReadError(err, "the board's records")
	}
	return &NewRecord{RunID: e.RunID, UserID: e.UserID, PreviousRecord: before}, nil
}

// EntriesOfSubmission lists the valid runs of a submission as entries, whether or not they are on the board.
func EntriesOfSubmission(tx *gorm.DB, submissionID int64) ([]Entry, error) {
	var list []Entry
	err := tx.Table("runs").Select(runColumns).Where("submission_id = ? and "+ValidRunSQL, submissionID).Scan(&list).Error
	return list, db.ReadError(err, "the valid runs of submission %d", submissionID)
}

// ValidRuns lists a person's valid runs on a board, fastest first, and only one run per source. If before is not 0, it
// lists only runs that precede that run.
func (s *Boards) ValidRuns(
	ctx context.Context, versionID int64, device string, userID, before int64, limit int,
) ([]Entry, error) {
	q := s.db.Read(ctx).Table("runs").Select(runColumns).Where("version_id = ? and device = ? and user_id = ? and "+MayBeEntrySQL, versionID, device, userID)
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	var list []Entry
	err := q.Order(bestFirstOrder).Limit(limit).Scan(&list).Error
	return list, db.ReadError(err, "the runs of a person on the board")
}

// updateEntry selects the entry of one person on one board again, after one of their runs was added, changed, or
// removed. It returns the previous entry, and whether the entry changed.
func updateEntry(tx *gorm.DB, versionID int64, device string, userID int64) (was *Entry, changed bool, err error) {
	where := Entry{VersionID: versionID, Device: device, UserID: userID}
	var best, had []Entry
	err = tx.Table("runs").Select(runColumns).Where("version_id = ? and device = ? and user_id = ? and "+MayBeEntrySQL, versionID, device, userID).
		Order(bestFirstOrder).Limit(1).Scan(&best).Error
	if err == nil {
		err = tx.Where(&where).Find(&had).Error
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading the best run of person %d: %w", userID, err)
	}
	switch {
	case len(best) == 0 && len(had) == 0:
		return firstOrNil(had), false, nil
	case len(best) == 0:
		err = tx.Where(&where).Delete(&Entry{}).Error
	case len(had) > 0 && reflect.DeepEqual(had[0], best[0]):
		return firstOrNil(had), false, nil
	default:
		err = tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&best[0]).Error
	}
	if err != nil {
		return nil, false, fmt.Errorf("saving the entry of person %d: %w", userID, err)
	}
	if err := updateBands(tx, firstOrNil(had), firstOrNil(best)); err != nil {
		return firstOrNil(had), true, err
	}
	return firstOrNil(had), true, rebuildBests(tx, versionID, device, userID)
}

// firstOrNil returns the first element of a list, or nil.
func firstOrNil(list []Entry) *Entry {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// RecomputeEntries updates the entries of the people whose runs changed or were removed, and rebuilds the records of
// the boards.
func RecomputeEntries(tx *gorm.DB, runs []Entry) ([]ChangedBoard, error) {
	var changes []ChangedBoard
	for _, r := range runs {
		if _, _, err := updateEntry(tx, r.VersionID, r.Device, r.UserID); err != nil {
			return nil, err
		}
		// The best runs change even if the entry does not.
		if err := rebuildBests(tx, r.VersionID, r.Device, r.UserID); err != nil {
			return nil, err
		}
		if err := rebuildRecords(tx, r.VersionID, r.Device); err != nil {
			return nil, err
		}
		change, err := IncrementChangeNumber(tx, r.VersionID, r.Device)
		if err != nil {
			return nil, err
		}
		changes = append(changes, *change)
	}
	return changes, nil
}

// IncrementBoardsOfPerson raises the change number of every board with an entry of a person, because the person's name
// has changed.
func IncrementBoardsOfPerson(tx *gorm.DB, userID int64) ([]ChangedBoard, error) {
	var changes []ChangedBoard
	on := tx.Model(&Entry{}).Select("version_id, device").Where("user_id = ?", userID)
	err := tx.Model(&Board{}).Where("(version_id, device) in (?)", on).
		Updates(map[string]any{"change": gorm.Expr("change + 1"), "changed_at": db.Now()}).Error
	if err == nil {
		err = tx.Model(&Board{}).Where("(version_id, device) in (?)", on).Find(&changes).Error
	}
	return changes, db.WriteError(err, "boards of person %d", userID)
}

// IncrementChangeNumber updates a board's row from its entries and raises its change number.
func IncrementChangeNumber(tx *gorm.DB, versionID int64, device string) (*ChangedBoard, error) {
	const where = "version_id = ? and device = ?"
	board := Board{VersionID: versionID, Device: device}
	err := tx.Where(where, versionID, device).Take(&board).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, fmt.Errorf("reading the board: %w", err)
	}
	board.ChangeNumber, board.ChangedAt, board.Leaders = board.ChangeNumber+1, db.Now(), nil
	err = tx.Model(&Entry{}).Where(where, versionID, device).Count(&board.PeopleCount).Error
	if err == nil {
		// The subquery has the limit, because PostgreSQL would otherwise look for the band of each entry first.
		first := tx.Model(&Entry{}).Where(where, versionID, device).Order(entriesOrder).Limit(leaderCount)
		err = tx.Table("(?) e", first).Select("e.*, " + bandColumns).Joins(joinBandSQL).Order("e.age, e.score_ns, e.run_id").Scan(&board.Leaders).Error
	}
	if board.EpochID = 0; len(board.Leaders) > 0 {
		board.EpochID = -board.Leaders[0].EpochSortKey
		board.Leaders = slices.DeleteFunc(board.Leaders, func(e RankedEntry) bool { return e.HasOlderEpoch(board) })
	}
	if err == nil {
		board.LastRecordScores, err = lastRecordScores(tx, board)
	}
	if err == nil {
		err = tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&board).Error
	}
	if err != nil {
		return nil, fmt.Errorf("saving the board's change: %w", err)
	}
	return &ChangedBoard{VersionID: versionID, Device: device, ChangeNumber: board.ChangeNumber}, nil
}
