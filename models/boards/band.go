package boards

import (
	"cmp"
	"fmt"
	"slices"

	"gorm.io/gorm"
)

// maxComparedHalfWidth limits the half-width of an entry's interval, relative to its score, when entries are compared,
// unless the interval of the first entry is wider. It equals the limit from which package harness calls an interval
// noisy. So an unstable kernel with a wide interval does not share a better rank.
const maxComparedHalfWidth = 0.005

// maxFirstEntryHalfWidth limits the half-width of the first entry's interval, relative to its score. A disturbed run
// may have an interval of ± 80 %, which would otherwise put much slower kernels in 1st place.
const maxFirstEntryHalfWidth = 0.1

// minScoreDifference is the smallest relative difference of two scores that matters, even if the intervals are
// narrower, because machines of the same model differ by about as much from day to day.
const minScoreDifference = 0.005

// maxBandRatio limits the ratio of a score in a band to the band's first score. It follows from isClearlySlower: an
// entry shares the rank if its score minus a tenth is at most the first score plus a tenth. The additional factor
// allows for rounding.
const maxBandRatio = (1+maxFirstEntryHalfWidth)/(1-maxFirstEntryHalfWidth) + 0.01

// isClearlySlower reports whether the data show that entry e is slower than first, the first entry of a band. This is
// so if the intervals do not overlap and the scores differ by more than minScoreDifference. A score without an interval
// (from an old version, or from a task's own program) counts as exact.
//
// Noise gives no advantage. If first has a narrow interval, a noisy entry ties no farther behind than one with an
// interval of ± 0.5 %. If first is noisy, e ties as far as the interval of first reaches, at most 10 %.
//
// Simulations with 95 % intervals from 3 to 25 processes whose times deviate by 0.05 to 5 %: of 20 equal kernels, the
// fastest run stands alone in 1st place on at most 10 of 10,000 boards with 5 or more processes, on 23 with 3
// processes, and on none if the deviation is at most 0.5 %. A kernel that is 2 % faster is distinguished in 97 % of the
// boards at 5 processes and a deviation of 0.5 %, and practically always at 0.2 %. A kernel that is 2 % slower than a
// first entry with a narrow interval, and whose interval of 10 processes is ± 2 %, ties with it on 5 % of the boards;
// if its whole interval counted, on 33 %. The best of a person's many submissions is lucky too, which is not corrected
// here.
//
// Weakness: an entry behind a noisy first entry of a band shares its rank if it is inside that interval. 1st places are
// confirmed by additional runs.
func isClearlySlower(first, e Entry) bool {
	most := min(first.highBound(), first.ScoreNS*(1+maxFirstEntryHalfWidth))
	return e.ScoreNS > first.ScoreNS*(1+minScoreDifference) &&
		e.lowBound(max(maxComparedHalfWidth, most/first.ScoreNS-1)) > most
}

// MayBeTied reports whether the data do not show which of two scores is lower. Unlike isClearlySlower, which determines
// ranks, it uses both whole intervals.
func MayBeTied(a, b Entry) bool {
	if b.ScoreNS < a.ScoreNS {
		a, b = b, a
	}
	return b.ScoreNS <= a.ScoreNS*(1+minScoreDifference) || b.lowBound(1) <= a.highBound()
}

// Reasons why an entry ranks behind the first entry of a rank although its data do not show that it is slower.
const (
	ReasonWideInterval    = "wide"  // the intervals touch, but isClearlySlower counts only a part of a wide one
	ReasonSlowerThanFirst = "first" // the entry is clearly slower than the first, but not than its neighbor
	// ReasonBetweenBands: the entry shares the rank of a faster entry, which is clearly slower than the first
	ReasonBetweenBands = "between"
)

func reasonForLowerRank(first, e Entry) string {
	switch {
	case !isClearlySlower(first, e):
		return ReasonBetweenBands
	case MayBeTied(first, e):
		return ReasonWideInterval
	}
	return ReasonSlowerThanFirst
}

// RanksBehindByWidth reports whether an entry ranks behind the first entry of a rank only because its wide interval
// counts in part (see maxComparedHalfWidth).
func RanksBehindByWidth(first, e Entry) bool {
	return reasonForLowerRank(first, e) == ReasonWideInterval
}

// lowBound returns the low end of the entry's interval, but at most share (a fraction of the score) below the score.
func (e Entry) lowBound(share float64) float64 {
	if e.LowNS == nil {
		return e.ScoreNS
	}
	return min(max(*e.LowNS, e.ScoreNS*(1-share)), e.ScoreNS)
}

func (e Entry) highBound() float64 {
	if e.HighNS == nil {
		return e.ScoreNS
	}
	return max(*e.HighNS, e.ScoreNS)
}

// Band is a group of entries that share a rank, because none is clearly slower than the first entry, and all have the
// same epoch. Entries are compared only with the first entry of their band, so that bands do not chain. The last entry
// of a band and the first entry of the next may therefore be equal.
type Band struct {
	VersionID     int64   `gorm:"primaryKey;autoIncrement:false"`
	Device        string  `gorm:"primaryKey"`
	RunID         int64   `gorm:"primaryKey;autoIncrement:false"` // run of the first entry, which identifies the band
	EpochSortKey  int64   `gorm:"column:age"`                     // sort key of the epoch of its entries, as in Entry
	ScoreNS       float64 `gorm:"column:score_ns"`
	EntriesBefore int64   `gorm:"column:ahead"` // number of entries before it
	EntryCount    int64   `gorm:"column:size"`
}

// joinBandSQL joins each entry e with its band b: the last band of its epoch that does not begin after the entry. The
// epoch (column age) is compared separately, because SQLite uses an index for only the first column of a row
// comparison.
const joinBandSQL = "join bands b on b.version_id = e.version_id and b.device = e.device and b.run_id = (select f.run_id " + bandOfEntrySQL + ")"

// bandOfEntrySQL is the end of a query for a column of an entry's band.
const bandOfEntrySQL = `from bands f where f.version_id = e.version_id and f.device = e.device and f.age = e.age and (f.score_ns, f.run_id) <= (e.score_ns, e.run_id)
	order by f.score_ns desc, f.run_id desc limit 1`

// bandColumns selects the rank of an entry, and whether others share it, for a RankedEntry. They come from b, the
// entry's Band (the group of entries that share a rank), so the query needs joinBandSQL.
const bandColumns = "b.ahead + 1 as rank, b.size > 1 as tied"

// RankedEntry is an entry with its rank.
type RankedEntry struct {
	Entry
	Rank int  // number of entries before its band, plus one
	Tied bool // others share the rank
}

// bandBuilder divides entries into bands. Entries must be added in the order of the board.
type bandBuilder struct {
	firstOfBand   Entry // first entry of the last band
	bands         []Band
	entriesBefore int64 // number of entries before the next one
}

// startsBand reports whether the next entry begins a band.
func (c *bandBuilder) startsBand(e Entry) bool {
	return len(c.bands) == 0 || e.VersionID != c.firstOfBand.VersionID || e.Device != c.firstOfBand.Device || e.EpochSortKey != c.firstOfBand.EpochSortKey || isClearlySlower(c.firstOfBand, e)
}

func (c *bandBuilder) add(e Entry) {
	if c.startsBand(e) {
		if e.VersionID != c.firstOfBand.VersionID || e.Device != c.firstOfBand.Device {
			c.entriesBefore = 0
		}
		c.firstOfBand = e
		c.bands = append(c.bands, Band{
			VersionID: e.VersionID, Device: e.Device, RunID: e.RunID, EpochSortKey: e.EpochSortKey, ScoreNS: e.ScoreNS,
			EntriesBefore: c.entriesBefore,
		})
	}
	c.bands[len(c.bands)-1].EntryCount++
	c.entriesBefore++
}

// boardPosition is a position in the order of a board.
type boardPosition struct {
	epochSortKey int64
	scoreNS      float64
	runID        int64
}

func (s boardPosition) isBefore(o boardPosition) bool {
	return cmp.Or(cmp.Compare(s.epochSortKey, o.epochSortKey), cmp.Compare(s.scoreNS, o.scoreNS), cmp.Compare(s.runID, o.runID)) < 0
}

// fromPositionSQL selects the entries or bands of a board from a position on.
const fromPositionSQL = "(age, score_ns, run_id) >= (?, ?, ?)"

// updateBands divides a board into bands again after one person's entry has changed from had to has; nil means no
// entry. It begins at the last band before the change and stops at the first old band that begins at the same entry as
// before, because later bands do not change. It reads only the entries in between.
func updateBands(tx *gorm.DB, had, has *Entry) error {
	from, to, key := boardPosition{}, boardPosition{}, BoardKey{}
	more := int64(0)
	for i, e := range []*Entry{had, has} {
		if e == nil {
			continue
		}
		at := boardPosition{e.EpochSortKey, e.ScoreNS, e.RunID}
		if key.VersionID == 0 || at.isBefore(from) {
			from = at
		}
		if key.VersionID == 0 || to.isBefore(at) {
			to = at
		}
		key = BoardKey{e.VersionID, e.Device}
		more += int64(2*i - 1)
	}
	var old []Band
	if err := tx.Where("version_id = ? and device = ?", key.VersionID, key.Device).Order(entriesOrder).Find(&old).Error; err != nil {
		return fmt.Errorf("reading the bands: %w", err)
	}
	keep := 0 // number of bands that begin and end before the change
	for keep < len(old) && (boardPosition{old[keep].EpochSortKey, old[keep].ScoreNS, old[keep].RunID}).isBefore(from) {
		keep++
	}
	keep = max(keep-1, 0)
	cut, next, err := divideChangedBands(tx, key, old, keep, to)
	if err != nil {
		return err
	}
	return replaceBands(tx, old[keep:next], cut.bands, old[next:], more)
}

// divideChangedBands divides the entries from the band old[keep] on into bands, until one of the old bands after the
// position next begins at the same entry as before.
func divideChangedBands(
	tx *gorm.DB, key BoardKey, old []Band, keep int, to boardPosition,
) (cut bandBuilder, next int, err error) {
	cut.firstOfBand = Entry{VersionID: key.VersionID, Device: key.Device}
	q := tx.Table("entries").Select("run_id, age, score_ns, interval_low, interval_high").Where("version_id = ? and device = ?", key.VersionID, key.Device)
	if keep > 0 {
		cut.entriesBefore = old[keep].EntriesBefore
		q = q.Where(fromPositionSQL, old[keep].EpochSortKey, old[keep].ScoreNS, old[keep].RunID)
	}
	rows, err := q.Order(entriesOrder).Rows()
	if err != nil {
		return cut, 0, fmt.Errorf("reading entries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		e := Entry{VersionID: key.VersionID, Device: key.Device}
		if err := rows.Scan(&e.RunID, &e.EpochSortKey, &e.ScoreNS, &e.LowNS, &e.HighNS); err != nil {
			return cut, 0, fmt.Errorf("reading an entry: %w", err)
		}
		if to.isBefore(boardPosition{e.EpochSortKey, e.ScoreNS, e.RunID}) && cut.startsBand(e) {
			if i := slices.IndexFunc(old, func(b Band) bool { return b.RunID == e.RunID }); i >= 0 {
				return cut, i, nil
			}
		}
		cut.add(e)
	}
	return cut, len(old), rows.Err()
}

// replaceBands deletes the bands in gone, inserts those in come, and updates the positions of the bands in follow.
func replaceBands(tx *gorm.DB, gone, come, follow []Band, more int64) error {
	if slices.Equal(gone, come) && more == 0 {
		return nil
	}
	for _, b := range gone {
		if err := tx.Delete(&b).Error; err != nil {
			return fmt.Errorf("removing a band: %w", err)
		}
	}
	if len(come) > 0 {
		if err := tx.CreateInBatches(come, 200).Error; err != nil {
			return fmt.Errorf("saving bands: %w", err)
		}
	}
	if len(follow) == 0 || more == 0 {
		return nil
	}
	b := follow[0]
	err := tx.Model(&Band{}).Where("version_id = ? and device = ? and "+fromPositionSQL, b.VersionID, b.Device, b.EpochSortKey, b.ScoreNS, b.RunID).
		Update("ahead", gorm.Expr("ahead + ?", more)).Error
	if err != nil {
		return fmt.Errorf("moving bands: %w", err)
	}
	return nil
}

// rebuildBands divides all boards into bands, in one pass over the entries.
func rebuildBands(tx *gorm.DB) error {
	if err := tx.Exec("delete from bands").Error; err != nil {
		return fmt.Errorf("removing the bands: %w", err)
	}
	var cut bandBuilder
	rows, err := tx.Table("entries").Select("version_id, device, run_id, age, score_ns, interval_low, interval_high").
		Order("version_id, device, " + entriesOrder).Rows()
	if err != nil {
		return fmt.Errorf("reading entries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.VersionID, &e.Device, &e.RunID, &e.EpochSortKey, &e.ScoreNS, &e.LowNS,
			&e.HighNS); err != nil {
			return fmt.Errorf("reading an entry: %w", err)
		}
		cut.add(e)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading entries: %w", err)
	}
	rows.Close()
	return replaceBands(tx, nil, cut.bands, nil, 0)
}
