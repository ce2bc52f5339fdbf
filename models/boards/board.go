package boards

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/epochs"
)

// Board is the stored row of one board, without its entries.
type Board struct {
	VersionID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Device       string `gorm:"primaryKey"`
	ChangeNumber int64  `gorm:"column:change"` // grows with every visible change
	PeopleCount  int64  `gorm:"column:size"`   // number of people with an entry
	// Leaders has the first three entries of the newest epoch, so that a list of tasks reads only one row per board.
	Leaders          []RankedEntry `gorm:"serializer:json"`
	LastRecordScores RecordScores  `gorm:"column:steps;serializer:json"`
	ChangedAt        time.Time

	EpochID int64 // epoch of the 1st place; entries of older epochs follow all others
	// RunBeingConfirmed is the run that a confirmation measures again, in turns with the next person's run; 0 means
	// none.
	RunBeingConfirmed int64 `gorm:"column:confirming"`
}

const leaderCount = 3

// Standing is an entry with its rank, its person, and the additional columns of the query that read it.
type Standing struct {
	RankedEntry
	NumericalErrors
	UserName        string
	PeakMemoryBytes *int64 `gorm:"column:memory_peak"` // copied from the run
	// BeforeConfirmationNS is the score before the confirmation that changed it; nil if none did.
	BeforeConfirmationNS  *float64 `gorm:"column:was_ns"`
	ContradictedByProfile bool     `gorm:"column:contradicted"` // copied from the run
	// AdminAddedReason is the reason why an admin added the submission for the person; empty if the person submitted
	// it.
	AdminAddedReason string `gorm:"column:added_why"`
	ValidationResult
	// TryCount is the number of the person's valid runs up to the entry. It is set only if
	// BoardPartQuery.CompareWithTime is.
	TryCount int `gorm:"column:tries"`
	// BestAtCompareTimeNS is the person's best score at BoardPartQuery.CompareWithTime; nil if there was none.
	BestAtCompareTimeNS *float64 `gorm:"column:before_ns"`
	HasProfile          bool     `gorm:"column:profiled"` // a profile of the run exists
	IsViewersEntry      bool     `gorm:"column:own"`      // entry of BoardPartQuery.ViewerID, which is read at any rank
	// BestOfEpochNS is the best score of the entry's epoch on the board. Only PersonPlace sets it.
	BestOfEpochNS float64 `gorm:"column:first_ns"`
	// ExcludedFromDatasets means that datasets omit the person's sources. Only StandingsAt sets it.
	ExcludedFromDatasets bool `gorm:"column:no_dataset"`
	// IsOfOlderEpoch means that the epoch of the entry is older than that of the board: it has no rank until it is
	// measured again.
	IsOfOlderEpoch bool `gorm:"column:stale"`
}

// ValidationResult is the result of the task's validation script for an entry (package review).
type ValidationResult struct {
	Answer        string // empty if the script was not asked or has not ended
	Message       string
	ScriptVersion string
	AskedAt       *time.Time
	RequesterName string `gorm:"column:asked_name"`
}

// BoardHead is a board without its entries, but with the software of its 1st place.
type BoardHead struct {
	Board
	Software epochs.Software `gorm:"column:epoch"`
}

// BoardPart is a range of a board's entries, such as one page of it, ordered by rank.
type BoardPart struct {
	BoardHead
	Standings []Standing
}

// Board reads a part of a board. A board without entries is an empty BoardPart, not an error.
func (s *Boards) Board(ctx context.Context, versionID int64, device string, part BoardPartQuery) (BoardPart, error) {
	head, err := s.ReadHead(ctx, versionID, device)
	page := BoardPart{BoardHead: head}
	if err == nil && head.PeopleCount > 0 {
		page.Standings, err = s.readPart(ctx, head, nil, part)
	}
	return page, err
}

// LeadingEntries returns the first entries of a board without the board's row.
func (s *Boards) LeadingEntries(
	ctx context.Context, versionID int64, device string, limit int,
) (list []Standing, err error) {
	part := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", versionID, device).Order(entriesOrder).Limit(limit)
	err = s.standingsQuery(ctx, part, "").Order(prefixEntryColumns(entriesOrder)).Scan(&list).Error
	return list, db.ReadError(err, "first entries of the board")
}

// EntryAbove returns the entry directly before e on the board, or nil.
func (s *Boards) EntryAbove(ctx context.Context, e Entry) (*Standing, error) {
	part := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", e.VersionID, e.Device).
		Where("(age, score_ns, run_id) < (?, ?, ?)", e.EpochSortKey, e.ScoreNS, e.RunID).Order("age desc, score_ns desc, run_id desc").Limit(1)
	var list []Standing
	err := s.standingsQuery(ctx, part, "").Scan(&list).Error
	if err != nil || len(list) == 0 {
		return nil, db.ReadError(err, "entry before another")
	}
	return &list[0], nil
}

// ChangeNumber returns the board's change number; 0 before its first entry.
func (s *Boards) ChangeNumber(ctx context.Context, versionID int64, device string) (int64, error) {
	var change int64
	err := s.db.Read(ctx).Model(&Board{}).Where("version_id = ? and device = ?", versionID, device).
		Limit(1).Pluck("change", &change).Error
	return change, db.ReadError(err, "the board's change number")
}

// PersonPlace returns a person's entry on a board with its rank, or NotFound.
func (s *Boards) PersonPlace(ctx context.Context, versionID int64, device string, userID int64) (Standing, error) {
	var st Standing
	entry := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ? and user_id = ?", versionID, device, userID)
	err := s.standingsQuery(ctx, entry, placeExtraColumns).Take(&st).Error
	return st, db.ReadError(err, "entry of this person")
}

// HasOlderEpoch reports whether the entry's epoch is older than that of the board's 1st place. Such entries are not
// compared with others.
func (e Entry) HasOlderEpoch(b Board) bool { return -e.EpochSortKey < b.EpochID }

// placeExtraColumns has the columns that only PersonPlace reads: first_ns is the best score of the entry's epoch on the
// board; stale is true if the board has entries of a newer epoch, as in HasOlderEpoch.
const placeExtraColumns = `(select f.score_ns from bands f where f.version_id = e.version_id and f.device = e.device and f.age = e.age order by f.score_ns limit 1) as first_ns,
	exists (select 1 from boards o where o.version_id = e.version_id and o.device = e.device and o.epoch_id > -e.age) as stale`

// previousBest returns the best runs that the entries' people had before these entries. Their ranks are approximate:
// one more than the number of other people's entries of the board's epoch that are faster by more than
// minScoreDifference.
func previousBest(tx *gorm.DB, entries []int64) (list []Standing, err error) {
	best := tx.Table("entries e").Where("e.run_id in ?", entries).Select(`(select id from runs where version_id = e.version_id
		and device = e.device and user_id = e.user_id and id < e.run_id and ` + MayBeEntrySQL + " order by " + bestFirstOrder + " limit 1)")
	runs := tx.Table("runs").Select(runColumns).Where("id in (?)", best)
	err = tx.Table("(?) r", runs).Select("r.*, (select count(*) from entries o where "+aheadOfRunSQL+") + 1 as rank", 1+minScoreDifference).
		Scan(&list).Error
	return list, db.ReadError(err, "runs before entries")
}

// aheadOfRunSQL is the condition that entry o has the board's epoch, belongs to another person than run r, and is
// clearly faster than r. Its parameter is the smallest ratio of their scores that counts as clearly faster.
const aheadOfRunSQL = `o.version_id = r.version_id and o.device = r.device and o.user_id <> r.user_id and o.score_ns < r.score_ns / ?
	and o.age = (select -b.epoch_id from boards b where b.version_id = r.version_id and b.device = r.device)`

// standingsQuery returns a query for entries with their ranks, the names of their people, and additional columns.
func (s *Boards) standingsQuery(ctx context.Context, entries *gorm.DB, more string, args ...any) *gorm.DB {
	columns := "e.*, " + bandColumns + ", u.name as user_name, (select added_why from submissions where id = e.submission_id) as added_why, q.error_ulp, q.error_relative, q.memory_peak, q.was_ns, q.contradicted, " + validationColumns
	if more != "" {
		columns += ", " + more
	}
	return s.db.Read(ctx).Table("(?) e", entries).Select(columns, args...).Joins(joinBandSQL).
		Joins("join users u on u.id = e.user_id").Joins("join runs q on q.id = e.run_id").
		Joins(joinValidationSQL)
}

// joinValidationSQL joins the validation of an entry e. validationColumns has its columns.
const joinValidationSQL = "left join validations w on w.run_id = e.run_id left join users wu on wu.id = w.asked_by"
const validationColumns = "coalesce(w.answer, '') as answer, coalesce(w.message, '') as message, coalesce(w.script_version, '') as script_version, w.asked_at, coalesce(wu.name, '') as asked_name"
