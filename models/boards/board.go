package boards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Board is what is kept about one ranking apart from its entries.
type Board struct {
	VersionID int64   `gorm:"primaryKey;autoIncrement:false"`
	Device    string  `gorm:"primaryKey"`
	Change    int64   // grows with every visible change
	Size      int64   // people on it
	Leaders   []Entry `gorm:"serializer:json"` // the first three, so that a list of tasks reads one row per board
	ChangedAt time.Time
}

const leaders = 3

// Standing is an entry with its place.
type Standing struct {
	Entry
	Rank      int // equal scores share a rank, and the next rank is left out
	UserName  string
	AvatarURL string
	GapNS     float64 // behind the first
}

// Page is a part of a board, in its order.
type Page struct {
	Board
	Standings []Standing
	FirstNS   float64 // the best score; 0 on an empty board
}

// Board returns limit entries of the board from the one at offset on. A board that nobody is on
// is empty, not missing.
func (s *Boards) Board(ctx context.Context, versionID int64, device string, offset, limit int) (Page, error) {
	offset = max(offset, 0)
	page := Page{Board: Board{VersionID: versionID, Device: device}}
	err := s.db.Read(ctx).Where("version_id = ? and device = ?", versionID, device).Take(&page.Board).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return page, nil
	}
	if err != nil {
		return page, fmt.Errorf("reading the board: %w", err)
	}
	part := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", versionID, device).
		Order(entriesFirst).Offset(offset).Limit(limit) // before the join: what is skipped needs no names
	err = s.standings(ctx, part).Order("e.score_ns, e.run_id").Scan(&page.Standings).Error
	if err != nil {
		return page, fmt.Errorf("reading the board's entries: %w", err)
	}
	return page, s.addRanks(ctx, &page, offset)
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
	err := s.standings(ctx, entry).Take(&st).Error
	if err != nil {
		return st, db.ReadError(err, "entry of this person")
	}
	count, best, err := s.ahead(ctx, st.Entry)
	if st.Rank = count + 1; best != nil {
		st.GapNS = st.ScoreNS - *best
	}
	return st, err
}

// PlaceWith returns the place that a score would have on a board beside the entries of others.
func (s *Boards) PlaceWith(ctx context.Context, versionID int64, device string, userID int64, score float64) (int, error) {
	var ahead int64
	err := s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ? and score_ns < ? and user_id <> ?", versionID, device, score, userID).
		Count(&ahead).Error
	return int(ahead) + 1, db.ReadError(err, "entries before a score")
}

// standings gives a query for the entries with what is shown of their people.
func (s *Boards) standings(ctx context.Context, entries *gorm.DB) *gorm.DB {
	return s.db.Read(ctx).Table("(?) e", entries).Select("e.*, u.name as user_name, u.avatar_url").
		Joins("join users u on u.id = e.user_id")
}

// ahead counts the entries before one, and finds the best of them; 0 and nil for the first.
func (s *Boards) ahead(ctx context.Context, of Entry) (count int, best *float64, err error) {
	var found struct {
		Count int
		Best  *float64
	}
	err = s.db.Read(ctx).Raw(`select count(*) as count, min(score_ns) as best from entries
		where version_id = ? and device = ? and score_ns < ?`, of.VersionID, of.Device, of.ScoreNS).Scan(&found).Error
	if err != nil {
		return 0, nil, fmt.Errorf("counting better entries: %w", err)
	}
	return found.Count, found.Best, nil
}

// addRanks fills in rank and gap, which follow from the entries before the page.
func (s *Boards) addRanks(ctx context.Context, page *Page, offset int) error {
	list := page.Standings
	if len(list) == 0 {
		return nil
	}
	page.FirstNS, list[0].Rank = list[0].ScoreNS, 1
	if offset > 0 {
		count, best, err := s.ahead(ctx, list[0].Entry)
		if err != nil {
			return err
		}
		if list[0].Rank = count + 1; best != nil { // not offset+1: entries tied with it may stand on the page before
			page.FirstNS = *best
		}
	}
	for i := range list {
		list[i].GapNS = list[i].ScoreNS - page.FirstNS
		switch {
		case i == 0:
		case list[i].ScoreNS == list[i-1].ScoreNS:
			list[i].Rank = list[i-1].Rank
		default:
			list[i].Rank = offset + i + 1
		}
	}
	return nil
}
