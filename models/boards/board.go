package boards

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/epochs"
)

// Board is what is kept about one ranking apart from its entries.
type Board struct {
	VersionID int64    `gorm:"primaryKey;autoIncrement:false"`
	Device    string   `gorm:"primaryKey"`
	Change    int64    // grows with every visible change
	Size      int64    // people on it
	Leaders   []Ranked `gorm:"serializer:json"` // the first three of the newest epoch, so that a list of tasks reads one row per board
	Steps     Steps    `gorm:"serializer:json"`
	ChangedAt time.Time

	EpochID    int64 // of the first; entries of older ones come behind all of this
	Confirming int64 // run that is measured again, in turns with the next person's; 0: none
}

const leaders = 3

// Standing is an entry with its place and its person.
type Standing struct {
	Ranked
	Numerics
	UserName string
	GapNS    float64 `gorm:"column:gap_ns"` // behind the first
	FirstRun int64   // that leads the board; filled in by Place alone, like Record
	Record   bool    // the run was the fastest when it came
	Stale    bool    // of an older epoch than the board's: its rank counts for nothing until it is measured again; Place alone fills it in
}

// Head is what is kept about a board, with the software of its first.
type Head struct {
	Board
	Epoch epochs.Software
}

// Page is a part of a board, in its order.
type Page struct {
	Head
	Standings []Standing
	FirstNS   float64 // the best score; 0 on an empty board
}

// Board returns limit entries of the board from the one at offset on. A board that no one is on
// is empty, not missing.
func (s *Boards) Board(ctx context.Context, versionID int64, device string, offset, limit int) (Page, error) {
	offset = max(offset, 0)
	head, err := s.Head(ctx, versionID, device)
	page := Page{Head: head}
	if err != nil || head.Size == 0 {
		return page, err
	}
	part, err := s.from(ctx, page.Board, offset)
	if err != nil {
		return page, err
	}
	part = part.Order(entriesFirst).Limit(limit) // before the join: what is skipped needs no names
	err = s.standings(ctx, part).Order("e.age, e.score_ns, e.run_id").Scan(&page.Standings).Error
	if err != nil {
		return page, fmt.Errorf("reading the board's entries: %w", err)
	}
	page.addGaps()
	return page, nil
}

// Leading returns the first entries of a board, without what is kept about it: their gaps are 0.
func (s *Boards) Leading(ctx context.Context, versionID int64, device string, limit int) (list []Standing, err error) {
	part := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", versionID, device).Order(entriesFirst).Limit(limit)
	err = s.standings(ctx, part).Order("e.age, e.score_ns, e.run_id").Scan(&list).Error
	return list, db.ReadError(err, "first entries of the board")
}

// Above returns the entry that stands before another on its board; nil: there is none.
func (s *Boards) Above(ctx context.Context, e Entry) (*Standing, error) {
	part := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", e.VersionID, e.Device).
		Where("(age, score_ns, run_id) < (?, ?, ?)", e.Age, e.ScoreNS, e.RunID).Order("age desc, score_ns desc, run_id desc").Limit(1)
	var list []Standing
	err := s.standings(ctx, part).Scan(&list).Error
	if err != nil || len(list) == 0 {
		return nil, db.ReadError(err, "entry before another")
	}
	return &list[0], nil
}

// from chooses the entries of a board from an offset on. It skips to the band there, so that the last page costs as
// little as the first.
func (s *Boards) from(ctx context.Context, b Board, offset int) (*gorm.DB, error) {
	q := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", b.VersionID, b.Device)
	if offset == 0 {
		return q, nil
	}
	var at Band
	err := s.db.Read(ctx).Where("version_id = ? and device = ? and ahead <= ?", b.VersionID, b.Device, offset).
		Order("ahead desc").Limit(1).Find(&at).Error
	if err != nil {
		return nil, fmt.Errorf("reading the band at %d: %w", offset, err)
	}
	return q.Where(fromSpot, at.Age, at.ScoreNS, at.RunID).Offset(offset - int(at.Ahead)), nil
}

// addGaps fills in how far behind the first each entry is.
func (p *Page) addGaps() {
	if len(p.Leaders) > 0 {
		p.FirstNS = p.Leaders[0].ScoreNS
	}
	for i := range p.Standings {
		if p.Standings[i].Older(p.Board) {
			continue // not compared
		}
		p.Standings[i].GapNS = max(p.Standings[i].ScoreNS-p.FirstNS, 0)
	}
}

// BoardChangeNumber returns the board's change number, 0 before its first entry.
func (s *Boards) BoardChangeNumber(ctx context.Context, versionID int64, device string) (int64, error) {
	var change int64
	err := s.db.Read(ctx).Model(&Board{}).Where("version_id = ? and device = ?", versionID, device).
		Limit(1).Pluck("change", &change).Error
	return change, db.ReadError(err, "the board's change number")
}

// Place returns one person's standing on a board, NotFound if they are not on it.
func (s *Boards) Place(ctx context.Context, versionID int64, device string, userID int64) (Standing, error) {
	var st Standing
	entry := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ? and user_id = ?", versionID, device, userID)
	err := s.standings(ctx, entry, gap, first, isRecord, stale).Take(&st).Error
	return st, db.ReadError(err, "entry of this person")
}

// gap is how far an entry is behind the first of its epoch, which begins the band that none of it is ahead of.
const gap = `e.score_ns - (select f.score_ns from bands f where f.version_id = e.version_id and f.device = e.device and f.age = e.age
	order by f.score_ns limit 1) as gap_ns`

// Older reports whether the entry is of an older epoch than the board's first, and so not compared with it.
func (e Entry) Older(b Board) bool { return -e.Age < b.EpochID }

// stale says in SQL what Older says of an entry and its board.
const stale = "exists (select 1 from boards o where o.version_id = e.version_id and o.device = e.device and o.epoch_id > -e.age) as stale"

// first is the run that leads an entry's board, and isRecord whether the entry's own run led it once.
const (
	first    = "(select f.run_id from bands f where f.version_id = e.version_id and f.device = e.device and f.ahead = 0) as first_run"
	isRecord = "exists (select 1 from records r where r.version_id = e.version_id and r.device = e.device and r.run_id = e.run_id) as record"
)

// Before returns the best run of an entry's person before the entry's own, with about the place that it would have beside
// the entries of others: of the board's epoch, it counts those that the resolution of bands tells apart from it. Nil: there is none.
func (s *Boards) Before(ctx context.Context, e Entry) (*Standing, error) {
	best := s.db.Read(ctx).Table("runs").Select(ofRun).Order(bestFirst).Limit(1).
		Where("version_id = ? and device = ? and user_id = ? and id < ? and "+StandingRun, e.VersionID, e.Device, e.UserID, e.RunID)
	var list []Standing
	err := s.db.Read(ctx).Table("(?) r", best).Select("r.*, (select count(*) from entries o where "+aheadOfRun+") + 1 as rank", 1+resolution).Scan(&list).Error
	if err != nil || len(list) == 0 {
		return nil, db.ReadError(err, "run before an entry")
	}
	return &list[0], nil
}

const aheadOfRun = `o.version_id = r.version_id and o.device = r.device and o.user_id <> r.user_id and o.score_ns < r.score_ns / ?
	and o.age = (select -b.epoch_id from boards b where b.version_id = r.version_id and b.device = r.device)`

// standings gives a query for the entries with their places and what is shown of their people, and more columns.
func (s *Boards) standings(ctx context.Context, entries *gorm.DB, more ...string) *gorm.DB {
	columns := append([]string{"e.*", ofBand, "u.name as user_name", "r.error_ulp", "r.error_relative"}, more...)
	return s.db.Read(ctx).Table("(?) e", entries).Select(strings.Join(columns, ", ")).Joins(withBand).
		Joins("join users u on u.id = e.user_id").Joins("join runs r on r.id = e.run_id")
}
