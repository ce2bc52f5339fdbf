package boards

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// energyFirst is the second order of a board, which has no bands: nothing is known of how exact an energy is.
const energyFirst = "energy_j, run_id"

// energyOf keeps the entries of the board's newest epoch whose energy was measured.
func energyOf(entries *gorm.DB, b Board) *gorm.DB {
	return entries.Where("age = ? and energy_j is not null", -b.EpochID)
}

// ofEntries gives the columns of an order the name of a query's entries.
func ofEntries(order string) string { return "e." + strings.ReplaceAll(order, ", ", ", e.") }

// BoardByEnergy returns limit entries of the board from the one at offset on, by what a call draws, the least first. They have
// the ranks of their scores.
func (s *Boards) BoardByEnergy(ctx context.Context, versionID int64, device string, offset, limit int) (Page, error) {
	head, err := s.Head(ctx, versionID, device)
	page := Page{Head: head}
	if err != nil || head.Size == 0 {
		return page, err
	}
	entries := energyOf(s.db.Read(ctx).Table("entries").Where("version_id = ? and device = ?", versionID, device), head.Board)
	entries = entries.Order(energyFirst).Offset(max(offset, 0)).Limit(limit)
	if err := s.standings(ctx, entries).Order(ofEntries(energyFirst)).Scan(&page.Standings).Error; err != nil {
		return page, fmt.Errorf("reading the board's entries by energy: %w", err)
	}
	page.addGaps()
	return page, nil
}
