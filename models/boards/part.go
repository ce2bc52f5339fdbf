package boards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/epochs"
)

// BoardPartQuery selects a part of a board.
type BoardPartQuery struct {
	Offset, Limit int
	ViewerID      int64 // person whose entry is also read, at any rank; 0 for none
	// CompareWithTime adds each person's best score at an earlier time; the zero time adds none.
	CompareWithTime time.Time
}

// ReadHead returns a board without its entries. A board without entries is empty, not an error.
func (s *Boards) ReadHead(ctx context.Context, versionID int64, device string) (BoardHead, error) {
	var row struct {
		Board           `gorm:"embedded"`
		epochs.Software `gorm:"embedded"`
	}
	err := s.db.Read(ctx).Table("boards b").Select("b.*, e.driver, e.cuda, e.compiler, e.torch, e.triton, e.harness").
		Joins("left join epochs e on e.id = b.epoch_id").Where("b.version_id = ? and b.device = ?", versionID, device).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return BoardHead{Board: Board{VersionID: versionID, Device: device}}, nil
	}
	if err != nil {
		return BoardHead{}, fmt.Errorf("reading the board: %w", err)
	}
	return BoardHead{row.Board, row.Software}, nil
}

// compareTimeColumns has the columns that BoardPartQuery.CompareWithTime adds.
const compareTimeColumns = `coalesce((select t.tries from bests t where t.version_id = e.version_id and t.device = e.device and t.user_id = e.user_id and t.run_id = e.run_id), 0) as tries,
	(select min(w.score_ns) from bests w where w.version_id = e.version_id and w.device = e.device and w.user_id = e.user_id and w.age = e.age and w.achieved_at <= ?) as before_ns,
	exists (select 1 from runs f where f.profile_of = e.run_id and f.mode = 'profile' and f.state = 'done') as profiled`

// readPart reads a part of a board in order, followed by the viewer's entry, which may occur twice. It uses the bands
// of the board to find the part, so that the last page costs as little as the first. If bands is empty, it reads the
// band that it needs.
func (s *Boards) readPart(
	ctx context.Context, b BoardHead, bands []Band, part BoardPartQuery,
) (list []Standing, err error) {
	all := func() *gorm.DB {
		return s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", b.VersionID, b.Device)
	}
	q, skip := all(), max(part.Offset, 0)
	if skip > 0 {
		at, err := s.bandAtOffset(ctx, b, bands, skip)
		if err != nil {
			return nil, err
		}
		q, skip = q.Where(fromPositionSQL, at.EpochSortKey, at.ScoreNS, at.RunID), skip-int(at.EntriesBefore)
	}
	entries := s.db.Read(ctx).Table("(?) p", q.Order(entriesOrder).Offset(skip).Limit(part.Limit)).Select("p.*, false as own")
	if part.ViewerID != 0 {
		entries = s.db.Read(ctx).Raw("? union all ?", entries, all().Select("entries.*, true as own").Where("user_id = ?", part.ViewerID))
	}
	found := s.standingsQuery(ctx, entries, "")
	if !part.CompareWithTime.IsZero() {
		found = s.standingsQuery(ctx, entries, compareTimeColumns, db.NormalizeTime(part.CompareWithTime))
	}
	err = found.Order("e.own, " + prefixEntryColumns(entriesOrder)).Scan(&list).Error
	return list, db.ReadError(err, "the board's entries")
}

// bandAtOffset returns the last band that begins at or before an offset.
func (s *Boards) bandAtOffset(ctx context.Context, b BoardHead, bands []Band, offset int) (at Band, err error) {
	if len(bands) == 0 {
		err = s.db.Read(ctx).Where("version_id = ? and device = ? and ahead <= ?", b.VersionID, b.Device, offset).Order("ahead desc").Limit(1).Find(&at).Error
		return at, db.ReadError(err, "the band at %d", offset)
	}
	i, _ := slices.BinarySearchFunc(bands, offset+1, func(b Band, at int) int { return cmp.Compare(int(b.EntriesBefore), at) })
	return bands[i-1], nil
}

// Bands lists the bands of a board in order. However many people a board has, there are at most some hundred bands per
// power of ten between the first score and the last.
func (s *Boards) Bands(ctx context.Context, versionID int64, device string) ([]Band, error) {
	rows, err := s.db.Read(ctx).Model(&Band{}).Select("run_id, age, score_ns, ahead, size").Where("version_id = ? and device = ?", versionID, device).Order(entriesOrder).Rows()
	if err != nil {
		return nil, db.ReadError(err, "the bands of a board")
	}
	defer rows.Close()
	var list []Band
	for rows.Next() {
		b := Band{VersionID: versionID, Device: device}
		if err := rows.Scan(&b.RunID, &b.EpochSortKey, &b.ScoreNS, &b.EntriesBefore, &b.EntryCount); err != nil {
			return nil, db.ReadError(err, "a band")
		}
		list = append(list, b)
	}
	return list, db.ReadError(rows.Err(), "the bands of a board")
}

// FindEntryByName returns the offset of the first entry whose person's name contains a text, and that person, or
// NotFound.
func (s *Boards) FindEntryByName(
	ctx context.Context, versionID int64, device, text string,
) (offset int, userID int64, err error) {
	pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(text)) + "%"
	return s.findOffset(ctx, versionID, device, `lower(u.name) like ? escape '\'`, pattern)
}

// FindPerson returns the offset of a person's entry.
func (s *Boards) FindPerson(ctx context.Context, versionID int64, device string, userID int64) (offset int, err error) {
	offset, _, err = s.findOffset(ctx, versionID, device, "u.id = ?", userID)
	return offset, err
}

func (s *Boards) findOffset(ctx context.Context, versionID int64, device, where string, arg any) (int, int64, error) {
	var e Entry
	err := s.db.Read(ctx).Table("entries").Select("entries.*").Joins("join users u on u.id = entries.user_id").
		Where("version_id = ? and device = ?", versionID, device).Where(where, arg).Order(entriesOrder).Limit(1).Take(&e).Error
	if err != nil {
		return 0, 0, db.ReadError(err, "such person on this board")
	}
	var before int64
	err = s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ? and (age, score_ns, run_id) < (?, ?, ?)", versionID, device, e.EpochSortKey, e.ScoreNS, e.RunID).
		Count(&before).Error
	return int(before), e.UserID, db.ReadError(err, "entries before a person's")
}

// prefixEntryColumns prefixes each column of an order with "e.", the alias of the entries.
func prefixEntryColumns(order string) string { return "e." + strings.ReplaceAll(order, ", ", ", e.") }
